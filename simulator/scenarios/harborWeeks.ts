import { noQueueing } from "../queues/spec.ts";
import type { Habit, LaterFault, NodeSpec, PlacedPod, Scenario } from "../scenario.ts";
import { coming, lasting, oneCohort, wholeNodes } from "./advice/parts.ts";
import { weekScenario } from "./advice/week.ts";
import { gpuNode, karpenterLabels, physicalGpus, workloadOf } from "./parts.ts";

const hour = 3_600;
const day = 24 * hour;
const busy = { kind: "steady", level: 0.9 } as const;

/**
 * A cluster whose weeks fill dashboards: the simulated week (advice/week.ts), and what that lacks. Research takes its quota of
 * H100 back from ads, which causes evictions; ads may not borrow without a limit; preprocessing takes the CPU of two A100
 * nodes; two A100 nodes are divided into MIG instances for notebooks; groups of vision's pods are bound one by one; scratch
 * belongs to no team; towards the end of `days`, a GPU and a node are lost.
 */
export function harborWeeks(days: number): Scenario {
  const week = weekScenario();
  const [inference, burst] = [karpenterLabels("inference", "on-demand"), week.nodePools ?? []];
  const labelled = (node: NodeSpec): NodeSpec =>
    node.name.startsWith("l4-") ? { ...node, labels: { ...node.labels, ...inference } } : node;
  return {
    ...week,
    name: "harbor",
    nodes: [...week.nodes.map(labelled), ...migNodes(), ...crowdedNodes()],
    nodePools: [
      ...burst,
      {
        name: "inference",
        limits: { "nvidia.com/gpu": "32" },
        capacityTypes: ["on-demand"],
        consolidateAfter: "1h",
      },
    ],
    namespaces: [...week.namespaces, { name: "research", team: "research" }, { name: "scratch", team: null }],
    queueing: {
      ...noQueueing,
      kueue: oneCohort("h100", "H100", [
        { name: "ads", nominal: 48, reclaimWithinCohort: "Never", borrowingLimit: 64 },
        { name: "search", nominal: 48, reclaimWithinCohort: "Never" },
        { name: "research", nominal: 32, reclaimWithinCohort: "Any" },
      ]),
    },
    habits: [...week.habits, ...research(), ...others()],
    placed: crowd(),
    laterFaults: [...(week.laterFaults ?? []), ...lateFaults(week.laterFaults ?? [], days)],
  };
}

/** The settings of the exporter that watches it, as in its configuration file. */
export const harborSettings: Readonly<Record<string, unknown>> = {
  cluster: "harbor",
  teams: [{ from: "namespace-label", key: "team" }],
  cost: {
    co2GramsPerKwh: 380,
    budgets: [
      { team: "ads", perMonth: 350_000 },
      { team: "search", perMonth: 230_000 },
      { team: "research", perMonth: 90_000 },
      { team: "vision", perMonth: 40_000 },
      { team: "assistants", perMonth: 60_000 },
      { team: "notebooks", perMonth: 20_000 },
    ],
  },
};

const a100 = { instanceType: "p4de.24xlarge", zone: "eu-west-1a" };
const crowdedNames = ["a100-crowded-01", "a100-crowded-02"];

function crowdedNodes(): readonly NodeSpec[] {
  return wholeNodes("a100-crowded", crowdedNames.length, "A100", a100);
}

function migNodes(): readonly NodeSpec[] {
  const layouts = [
    ["3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"],
    ["1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"],
  ];
  return ["a100-mig-01", "a100-mig-02"].map((name) =>
    gpuNode(name, "A100", 8, { kind: "mig-mixed", layouts }, { ...a100, zone: "eu-west-1b" }),
  );
}

/** Preprocessing without GPUs that leaves the GPUs beside it without CPU. */
function crowd(): readonly PlacedPod[] {
  const still = { kind: "constant", level: 0 } as const;
  const preprocess = workloadOf("Pod", "vision", 1, { kind: "none" }, still, { models: ["A100"], cpuMilli: 180_000 });
  return crowdedNames.map((node, i) => ({
    name: `preprocess-${i + 1}`,
    workload: preprocess,
    node,
    physicalGpus: [],
    ageSeconds: hour,
  }));
}

function research(): readonly Habit[] {
  const probe = workloadOf("PyTorchJob", "research", 2, physicalGpus(8), busy, {
    queue: "research",
    gang: true,
    models: ["H100"],
    priorityClass: "training",
    checkpointSeconds: 1_800,
  });
  return [
    coming("probe", probe, { initial: 0, everySeconds: 9 * hour, maxWaiting: 1, runSeconds: [3 * hour, 8 * hour] }),
  ];
}

function others(): readonly Habit[] {
  const idle = { kind: "notebook", duty: 0.2 } as const;
  const mig = (profile: string) =>
    workloadOf("Notebook", "notebooks", 1, { kind: "mig", profile, count: 1, strategy: "mig-mixed" }, idle);
  const group = workloadOf("LeaderWorkerSet", "vision", 3, physicalGpus(2), busy, {
    models: ["A100"],
    priorityClass: "training",
    needsAll: true,
  });
  const still = { kind: "constant", level: 0 } as const;
  const leftover = workloadOf("Pod", "scratch", 1, physicalGpus(2), still, { models: ["A100"] });
  return [
    coming("mig-small", mig("1g.10gb"), {
      initial: 14,
      everySeconds: 5 * hour,
      maxWaiting: 1,
      runSeconds: [day, 3 * day],
    }),
    coming("mig-large", mig("3g.40gb"), {
      initial: 3,
      everySeconds: 10 * hour,
      maxWaiting: 1,
      runSeconds: [day, 3 * day],
    }),
    coming("rollout", group, { initial: 1, everySeconds: 9 * hour, maxWaiting: 1, runSeconds: [3 * hour, 8 * hour] }),
    lasting("leftover", leftover, 1),
  ];
}

/** The later faults: the stuck exporters of the first week again in the second, and what is lost in the last days. */
function lateFaults(ofWeek: readonly LaterFault[], days: number): readonly LaterFault[] {
  const again = ofWeek.map(({ afterSeconds, fault }) => ({ afterSeconds: afterSeconds + 7 * day, fault }));
  const end = days * day;
  const lost: readonly LaterFault[] = [
    { afterSeconds: end - 2.2 * day, fault: { kind: "gpu-lost", node: "a100-03", physicalGpu: 5 } },
    { afterSeconds: end - 7 * hour, fault: { kind: "node-lost", node: "l4-04" } },
  ];
  return [...again, ...lost].filter(({ afterSeconds }) => afterSeconds > 0 && afterSeconds < end);
}
