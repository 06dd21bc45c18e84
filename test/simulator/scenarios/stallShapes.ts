import { deviceProfiles } from "../../../simulator/deviceProfiles.ts";
import type { LaterFault, NodeSpec, PlacedPod, Scenario, WorkloadSpec } from "../../../simulator/scenario.ts";
import { adviceScenario, lasting, wholeNodes } from "../../../simulator/scenarios/advice/parts.ts";
import { exporterOf, gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";
import { soundWaits } from "./soundWaits.ts";

const busy = { kind: "constant", level: 0.98 } as const;
const gpus = 2;
const minute = 60;

/** What a page of one's own list shows, without the pipes that would decide before anything else does. */
const pipes = ["DCGM_FI_PROF_PIPE_FP64_ACTIVE", "DCGM_FI_PROF_PIPE_INT_ACTIVE"] as const;
const power = "DCGM_FI_DEV_POWER_USAGE";
const tensor = "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE";
const all = (...lacks: readonly string[]) => exporterOf("4.5", { counters: "all", lacks });

/** Work alone on a node of its own, and what happens to that node. */
interface Shape {
  readonly node?: Partial<NodeSpec>;
  readonly work?: Partial<WorkloadSpec>;
  /** Faults of the node, minutes after the start. */
  readonly faults?: (node: string) => readonly LaterFault[];
}

const onEach = (node: string, fault: (at: { readonly node: string; readonly physicalGpu: number }) => LaterFault) =>
  Array.from({ length: gpus }, (_, physicalGpu) => fault({ node, physicalGpu }));

const slowed = (reasons: number) => (node: string) =>
  onEach(node, (at) => ({ afterSeconds: 0, fault: { kind: "gpu-slowed", ...at, reasons, watts: 150 } }));
const capped = (watts: number) => (node: string) =>
  onEach(node, (at) => ({ afterSeconds: 0, fault: { kind: "gpu-capped", ...at, watts } }));

const { memoryBound, moving, exchanging, doublePrecision, integer } = deviceProfiles;
const hung = { hangsAfterSeconds: 30 * minute } as const;

/** By team. What hangs does so after half an hour; what is named after a twin differs from it in one thing. */
const shapes: Readonly<Record<string, Shape>> = {
  hung: { work: hung },
  "hung-all": { node: { exporter: all() }, work: hung },
  "hung-capped": { node: { exporter: all() }, work: { ...hung, spinPower: 0.05 }, faults: capped(500) },

  heat: { node: { exporter: all(...pipes) }, work: { profile: doublePrecision }, faults: slowed(0x40) },
  brake: { node: { exporter: all(...pipes) }, work: { profile: doublePrecision }, faults: slowed(0x80) },
  slowdown: { node: { exporter: all(...pipes) }, work: { profile: doublePrecision }, faults: slowed(0x8) },
  "hung-heat": { node: { exporter: all() }, work: hung, faults: slowed(0x40) },
  capped: { node: { exporter: all(...pipes) }, work: { profile: doublePrecision }, faults: capped(200) },
  "capped-work": { node: { exporter: all() }, faults: capped(300) },
  "no-power": { node: { exporter: all(power) }, work: hung },
  "no-tensor": { node: { exporter: all(tensor) }, work: hung },
  "no-profiling": { node: { exporter: exporterOf("3.3", { counters: "default" }) }, work: hung },
  memory: { work: { profile: memoryBound } },
  pcie: { work: { profile: moving } },
  nvlink: { node: { exporter: all() }, work: { profile: exchanging } },
  fp64: { work: { profile: doublePrecision } },
  // At so little power only its pipe shows what it does.
  "fp64-slow": { node: { exporter: all() }, work: { profile: { ...doublePrecision, power: 0.1 } } },
  integer: { node: { exporter: all() }, work: { profile: { ...integer, power: 0.1 } } },
  "warm-up": { work: { waits: soundWaits.warmUp } },
  checkpoint: { work: { waits: soundWaits.checkpoint } },
  locked: {
    faults: (node) => [{ afterSeconds: 0, fault: { kind: "profiling-stuck", target: { node } } }],
  },
  // It freezes while the work waits for a moment, which then goes on unseen.
  frozen: {
    work: { waits: { afterSeconds: 30 * minute, forSeconds: 10 * minute } },
    faults: (node) => [{ afterSeconds: 32 * minute, fault: { kind: "exporter-frozen", target: { node } } }],
  },
};

const twoSlices = { kind: "time-slicing", replicas: 2, renamed: false } as const;
const slice = { kind: "replicas", count: 1, strategy: "time-slicing", renamed: false } as const;

const instance = (profile: string) => ({ kind: "mig", profile, count: 1, strategy: "mig-mixed" }) as const;
const still = { kind: "constant", level: 0 } as const;

/** The teams of shapes on nodes of their own, and those of gangs and of shared GPUs. */
export const stallTeams = [
  ...Object.keys(shapes),
  "silent",
  "computes",
  "barrier",
  "shared",
  "half",
  "cut",
  "cut-idle",
];

/**
 * What a GPU that computes nothing may be taken for, and the other way round, each shape of a team of its own: held back by heat,
 * a brake or a power limit; on pages that lack a signal; busy with memory, traffic, FP64 or integer codes; waiting for a while;
 * gangs whose first pod differs; on a GPU with two holders that do not do the same, or with one that holds half of it; and two
 * GPUs that are cut, one at work under a locked profiler.
 */
export function stallShapesScenario(): Scenario {
  const entries = Object.entries(shapes);
  const request = { kind: "physicalGpus", count: gpus } as const;
  const placed = entries.map(
    ([team, { work }], i): PlacedPod => ({
      name: `${team}-0`,
      workload: workloadOf("Job", team, 1, request, busy, { ...work }),
      node: `own-${i}`,
      physicalGpus: [0, 1],
      ageSeconds: 0,
    }),
  );
  const gang = (team: string, changes: Partial<WorkloadSpec>) =>
    lasting(
      `${team}-rank`,
      workloadOf("PyTorchJob", team, 3, request, busy, { gang: true, models: ["H100"], ...changes }),
      1,
    );
  return adviceScenario("stall-shapes", {
    warmupSeconds: 0,
    nodes: [
      ...entries.map(([, { node }], i) => gpuNode(`own-${i}`, "H100", gpus, { kind: "whole" }, node)),
      ...wholeNodes("gang", 9, "H100", { gpus }),
      gpuNode("shared-01", "A100", 1, twoSlices),
      gpuNode("half-01", "A100", 1, twoSlices),
      gpuNode("cut-01", "A100", 1, { kind: "mig-mixed", layouts: [["3g.40gb", "3g.40gb"]] }),
      gpuNode("cut-02", "A100", 1, { kind: "mig-mixed", layouts: [["2g.20gb", "2g.20gb", "2g.20gb"]] }),
    ],
    namespaces: stallTeams.map((name) => ({ name, team: name })),
    placed,
    laterFaults: entries.flatMap(([, { faults }], i) => faults?.(`own-${i}`) ?? []),
    faults: [{ kind: "profiling-stuck", target: { node: "cut-01" } }],
    habits: [
      gang("silent", { ...hung, firstPod: "silent" }),
      gang("computes", { ...hung, firstPod: "computes" }),
      gang("barrier", { waits: soundWaits.barrier, firstPod: "computes" }),
      lasting("shared-works", workloadOf("Job", "shared", 1, slice, busy), 1),
      lasting("shared-hangs", workloadOf("Job", "shared", 1, slice, busy, hung), 1),
      lasting("cut-works", workloadOf("Job", "cut", 1, instance("3g.40gb"), busy), 2),
      lasting("cut-idle", workloadOf("Job", "cut-idle", 1, instance("2g.20gb"), still), 3),
      lasting("half-hangs", workloadOf("Job", "half", 1, slice, busy, hung), 1),
    ],
  });
}
