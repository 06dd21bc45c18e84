import type { GpuModelName } from "../../../simulator/gpuModels.ts";
import { createRandomStream, type RandomStream } from "../../../simulator/random.ts";
import type {
  ActivityPattern,
  DialectName,
  ExporterSpec,
  GpuRequest,
  Habit,
  NamespaceSpec,
  NodeMode,
  NodeSpec,
  Scenario,
  SharedRows,
  WorkloadKind,
} from "../../../simulator/scenario.ts";
import { exporterOf, gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";
import { generatedQueues } from "./generatedQueues.ts";

const namespaces = [
  { name: "red", team: "red" },
  { name: "green", team: "green" },
  { name: "blue", team: "blue" },
  { name: "blue-batch", team: "blue" },
  { name: "nobody", team: null },
] as const;

/**
 * A random cluster of `size` nodes for property tests. Every mode, dialect and kind of workload can come up, and in two of
 * three one or two queue systems that hand out the GPUs of half of the nodes; one seed always gives the same scenario.
 */
export function generatedScenario(seed: number, size: number): Scenario {
  const random = createRandomStream(seed ^ 0x51ed270b);
  const queues = generatedQueues(seed, size, namespaces);
  const others = Array.from({ length: size - queues.nodes.length }, (_, index) => randomNode(random, index));
  const habits = others.flatMap((node) =>
    requestsFor(node, random).map((request, i) => randomHabit(random, node, request, i)),
  );
  return {
    name: `generated-${seed}-${size}`,
    nodes: [...others, ...queues.nodes],
    namespaces,
    priorityClasses: { high: 1000, low: -10 },
    habits: [...habits, ...queues.habits],
    queueing: queues.queueing,
    placed: [],
    placement: random.pick(["pack", "spread"]),
    warmupSeconds: 600,
    collectionInterval: 30,
    faults: [],
  };
}

function randomNode(random: RandomStream, index: number): NodeSpec {
  const mode = randomMode(random);
  const isMig = mode.kind === "mig-mixed" || mode.kind === "mig-single";
  const model: GpuModelName = isMig
    ? random.pick(["A100", "H100"])
    : random.pick<GpuModelName>(["H100", "A100", "L4", "T4", "V100M16", "P100"]);
  const count = random.pick([1, 2, 4, 8]);
  const physicalGpus = Array.from({ length: count }, (): GpuModelName => model);
  // Two models on one node, which the labels cannot say.
  if (mode.kind === "whole" && count > 1 && random.next() < 0.2) physicalGpus[0] = "A10";
  const hasExporter = random.next() < 0.92;
  return gpuNode(`node-${index}`, model, count, mode, {
    physicalGpus,
    exporter: hasExporter ? randomExporter(random, mode) : null,
    featureDiscovery: random.next() < 0.9,
    cordoned: random.next() < 0.1,
    ready: random.next() < 0.95,
    instanceType: random.pick([null, "p4d.24xlarge", "g6.12xlarge"]),
    zone: random.pick([null, "zone-a", "zone-b"]),
    labels: random.pick<NodeSpec["labels"]>([
      {},
      { "karpenter.sh/capacity-type": "spot" },
      { "cloud.google.com/gke-spot": "true", "cloud.google.com/gke-accelerator": "nvidia-l4" },
    ]),
  });
}

function randomMode(random: RandomStream): NodeMode {
  const replicas = random.pick([2, 3, 4, 10]);
  const renamed = random.next() < 0.5;
  return random.pick<NodeMode>([
    { kind: "whole" },
    { kind: "whole" },
    { kind: "time-slicing", replicas, renamed },
    { kind: "mps", replicas, renamed },
    { kind: "mig-single", profile: random.pick(["1g.10gb", "2g.20gb", "3g.40gb"]) },
    { kind: "mig-mixed", layouts: [["3g.40gb", "2g.20gb", "1g.10gb"], [], ["1g.10gb", "1g.10gb"]] },
    { kind: "dra", monitoringClaim: renamed },
    { kind: "kai" },
    { kind: "hami", splits: 10 },
    { kind: "vgpu-guest" },
  ]);
}

/** Only pairs that exist: per-process rows need 4.8.2, copies 4.1.1, DRA labels 4.3.1. */
function randomExporter(random: RandomStream, mode: NodeMode): NodeSpec["exporter"] {
  const dialect = random.pick<DialectName>(["2.4", "3.3", "old-namespace", "4.5", "4.5", "4.8.3"]);
  const shared: Readonly<Record<DialectName, readonly [SharedRows, ...SharedRows[]]>> = {
    "2.4": ["one-arbitrary-pod"],
    "3.3": ["one-arbitrary-pod"],
    "old-namespace": ["one-arbitrary-pod"],
    "4.5": ["one-arbitrary-pod", "copies"],
    "4.8.3": ["one-arbitrary-pod", "per-process"],
  };
  const draLabels = mode.kind === "dra" && dialect === "4.8.3" && random.next() < 0.5;
  const counters = random.pick<ExporterSpec["counters"]>(["default", "operator"]);
  const portName = random.pick<ExporterSpec["portName"]>(["metrics", "gpu-metrics"]);
  return exporterOf(dialect, { sharedRows: random.pick(shared[dialect]), draLabels, counters, portName });
}

function requestsFor(node: NodeSpec, random: RandomStream): readonly GpuRequest[] {
  const { mode } = node;
  const count = random.between(1, Math.max(1, Math.min(2, node.physicalGpus.length)));
  switch (mode.kind) {
    case "whole":
    case "vgpu-guest":
      return [{ kind: "physicalGpus", count }];
    case "kai":
      return [
        { kind: "physicalGpus", count: 1 },
        { kind: "fraction", share: random.pick([0.1, 0.25, 0.46, 0.5]) },
      ];
    case "time-slicing":
    case "mps":
      return [{ kind: "replicas", count: random.between(1, 2), strategy: mode.kind, renamed: mode.renamed }];
    case "mig-single":
      return [{ kind: "mig", profile: mode.profile, count: 1, strategy: "mig-single" }];
    case "mig-mixed":
      return [
        { kind: "mig", profile: "1g.10gb", count: 1, strategy: "mig-mixed" },
        { kind: "mig", profile: "3g.40gb", count: 1, strategy: "mig-mixed" },
      ];
    case "dra":
      return [
        { kind: "claim", count, shared: random.next() < 0.4 },
        { kind: "extended-resource", count: 1 },
      ];
    case "hami":
      return [{ kind: "hami", memoryMiB: random.pick([2000, 4096, 6144]), corePercent: random.pick([0, 30, 50]) }];
  }
}

function randomHabit(random: RandomStream, node: NodeSpec, request: GpuRequest, serial: number): Habit {
  const shared = request.kind === "claim" && request.shared;
  const kinds: readonly [WorkloadKind, ...WorkloadKind[]] = shared
    ? ["Job", "PodGroup"]
    : ["Job", "JobSet", "PyTorchJob", "Deployment", "StatefulSet", "Notebook", "LeaderWorkerSet", "PodGroup", "Pod"];
  const kind = random.pick(kinds);
  const alone = kind === "Notebook" || kind === "Pod";
  const pods = shared ? 2 : alone ? 1 : random.between(1, 3);
  const isGang =
    shared ||
    kind === "JobSet" ||
    kind === "PyTorchJob" ||
    kind === "LeaderWorkerSet" ||
    (kind === "PodGroup" && random.next() < 0.8);
  const workload = workloadOf(
    kind,
    random.pick<NamespaceSpec>(namespaces).name,
    pods,
    request,
    randomActivity(random),
    {
      gang: isGang,
      priorityClass: random.pick([null, "high", "low"]),
      queue: random.pick([null, "queue-a", "queue-b"]),
    },
  );
  return {
    name: `${kind.toLowerCase()}-${node.name}-${serial}`,
    workload,
    initial: random.between(1, 4),
    everySeconds: random.pick([120, 600, null]),
    maxWaiting: 2,
    runSeconds: random.pick([[60, 600], [300, 1200], null]),
    failRatio: 0.2,
  };
}

function randomActivity(random: RandomStream): ActivityPattern {
  return random.pick<ActivityPattern>([
    { kind: "constant", level: 0 },
    { kind: "constant", level: 1 },
    { kind: "steady", level: 0.9 },
    { kind: "bursts", level: 0.7, duty: 0.5 },
    { kind: "notebook", duty: 0.2 },
    { kind: "day", low: 0.1, high: 0.8 },
  ]);
}
