import { nodeLabels } from "../../exporter/model/wellKnown.ts";
import type { QueueingSpec } from "../queues/spec.ts";
import { createRandomStream, uuidFrom } from "../random.ts";
import type { Arrival, NodeSpec, PlacedPod, Scenario, WorkloadSpec } from "../scenario.ts";
import { gpuNode, physicalGpus, workloadOf } from "./parts.ts";

/** The node label of the racks. */
export const rackLabel = "topology.example.com/rack";

/** Racks, their nodes, and the GPUs of each node. */
export const rackSizes = { racks: 5, nodes: 4, gpus: 4 } as const;

/** The gang that waits in vain for a rack, the twin that only prefers one, and what has run in a rack all the time. */
export const rackWork = {
  blocked: { team: "physics", name: "finetune" },
  twin: { team: "vision", name: "sweep" },
  running: { team: "language", name: "pretrain" },
} as const;

const notebooks = "notebooks";
const queue = "training";
const minute = 60;

/** When the gang that requires a rack arrives, and the twin that only prefers one; seconds after the start. */
export const rackTimes = { blocked: minute, twin: 3 * minute } as const;

/**
 * Five racks of four nodes of four GPUs, each rack one NVLink domain. Training fills the first one. In each of the others one
 * node is free, and single-GPU notebooks, which `seed` scatters, are on the other three: many GPUs are free, and no rack
 * takes a gang of two whole nodes. Such a gang waits; the twin, which only prefers a rack, starts in two of them.
 */
export function racksScenario(seed = 1): Scenario {
  const { blocked, twin, running } = rackWork;
  return {
    name: "racks",
    nodes: rackNodes(),
    namespaces: [...Object.values(rackWork).map(({ team }) => team), notebooks].map((name) => ({ name, team: name })),
    priorityClasses: {},
    habits: [],
    arrivals: [
      arrival(running.name, 0, gang(running.team, 4, "required")),
      arrival(blocked.name, rackTimes.blocked, gang(blocked.team, 2, "required")),
      arrival(twin.name, rackTimes.twin, gang(twin.team, 2, "preferred")),
    ],
    placed: scattered(seed),
    queueing,
    placement: "spread",
    warmupSeconds: 0,
    collectionInterval: 30,
    faults: [],
  };
}

const rackName = (rack: number): string => `rack-${rack + 1}`;
const nodeName = (rack: number, node: number): string => `node-${rack + 1}${"abcd"[node]}`;

function rackNodes(): readonly NodeSpec[] {
  return Array.from({ length: rackSizes.racks * rackSizes.nodes }, (_, index) => {
    const rack = Math.floor(index / rackSizes.nodes);
    const labels = { [rackLabel]: rackName(rack), [nodeLabels.gpuClique]: `${uuidFrom("nvlink")}.${rack + 1}` };
    return gpuNode(
      nodeName(rack, index % rackSizes.nodes),
      "H100",
      rackSizes.gpus,
      { kind: "whole" },
      {
        instanceType: "a3-highgpu-4g",
        zone: "us-central1-a",
        labels,
      },
    );
  });
}

/** One node of each rack but the first stays free; each of the others has one to three notebooks. */
function scattered(seed: number): readonly PlacedPod[] {
  const random = createRandomStream(seed);
  const pods: PlacedPod[] = [];
  for (let rack = 1; rack < rackSizes.racks; rack += 1) {
    const free = random.between(0, rackSizes.nodes - 1);
    for (let node = 0; node < rackSizes.nodes; node += 1) {
      const count = node === free ? 0 : random.between(1, rackSizes.gpus - 1);
      for (let gpu = 0; gpu < count; gpu += 1)
        pods.push({
          name: `notebook-${pods.length + 1}`,
          workload: workloadOf("StatefulSet", notebooks, 1, physicalGpus(1), { kind: "steady", level: 0.5 }),
          node: nodeName(rack, node),
          physicalGpus: [gpu],
          ageSeconds: 60 * minute,
        });
    }
  }
  return pods;
}

const gang = (team: string, pods: number, mode: "required" | "preferred"): WorkloadSpec =>
  workloadOf(
    "Job",
    team,
    pods,
    physicalGpus(rackSizes.gpus),
    { kind: "steady", level: 0.9 },
    {
      gang: true,
      queue,
      checkpointSeconds: 30 * minute,
      topology: { mode, label: rackLabel },
    },
  );

const arrival = (name: string, afterSeconds: number, workload: WorkloadSpec): Arrival => ({
  name,
  afterSeconds,
  workload,
  runSeconds: null,
});

const queueing: QueueingSpec = {
  kueue: {
    fairSharing: false,
    topologyLevels: [rackLabel, nodeLabels.hostname],
    flavors: [{ name: "h100", model: "H100" }],
    cohorts: [],
    clusterQueues: [
      {
        name: queue,
        cohort: null,
        weight: 1,
        strategy: "BestEffortFIFO",
        reclaimWithinCohort: "Never",
        withinClusterQueue: "Never",
        quotas: [{ flavor: "h100", nominal: 44, borrowingLimit: null, lendingLimit: null }],
        namespaces: Object.values(rackWork).map(({ team }) => team),
      },
    ],
  },
  kai: null,
  volcano: null,
};
