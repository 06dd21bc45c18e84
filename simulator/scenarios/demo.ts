import type { Habit, NodeSpec, Scenario, WorkloadSpec } from "../scenario.ts";
import { coming, lasting } from "./advice/parts.ts";
import { crowdedPods } from "./demoCrowd.ts";
import { demoQueues, fractionPool } from "./demoQueues.ts";
import { eksLabels, exporterOf, gpuNode, karpenterLabels, physicalGpus, workloadOf } from "./parts.ts";

/**
 * The cluster of the demo: 24 nodes, 176 GPUs, four teams and a namespace without a team. Ads holds more H100 than it is
 * guaranteed while search waits for its own. Notebooks hold MIG instances, replicas and fractions, and are mostly idle. One
 * node is cordoned, one exporter answers with an empty page until it is restarted, and one node is served by DRA. Preprocessing
 * without GPUs takes the CPU of A100 nodes, so that a pod of eight of them fits nowhere although enough are free.
 */
export function demoScenario(): Scenario {
  return {
    name: "demo",
    nodes: [...h100Nodes(), ...a100Nodes(), ...l4Nodes()],
    nodePools: [
      {
        name: "inference",
        limits: { "nvidia.com/gpu": "24", cpu: "800" },
        capacityTypes: ["on-demand"],
        consolidateAfter: "1h",
      },
    ],
    namespaces: [
      { name: "search-train", team: "search" },
      { name: "search-serving", team: "search" },
      { name: "ads-train", team: "ads" },
      { name: "vision-train", team: "vision" },
      { name: "notebooks", team: "notebooks" },
      { name: "scratch", team: null },
    ],
    priorityClasses: { serving: 10_000, training: 1_000, "best-effort": -100 },
    habits: [...training(), ...serving(), ...notebooks(), ...claims()],
    queueing: demoQueues,
    placed: crowdedPods(),
    placement: "pack",
    warmupSeconds: 7200,
    collectionInterval: 30,
    faults: [{ kind: "exporter-empty", target: { node: "h100-02" }, endsWithRestart: true }],
  };
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

function h100Nodes(): readonly NodeSpec[] {
  return Array.from({ length: 12 }, (_, i) => {
    const name = `h100-${twoDigits(i + 1)}`;
    const isDra = i === 9;
    const exporter = i >= 9 ? exporterOf("4.8.3", { portName: "gpu-metrics" }) : exporterOf("4.5");
    const mode = isDra ? ({ kind: "dra", monitoringClaim: true } as const) : ({ kind: "whole" } as const);
    return gpuNode(name, "H100", 8, mode, {
      exporter,
      cordoned: i === 7,
      instanceType: "p5.48xlarge",
      zone: i % 2 === 0 ? "eu-west-1a" : "eu-west-1b",
      labels: eksLabels("h100", "ON_DEMAND"),
    });
  });
}

function a100Nodes(): readonly NodeSpec[] {
  const common = { instanceType: "p4de.24xlarge", zone: "eu-west-1a", labels: eksLabels("a100", "ON_DEMAND") };
  const whole = { kind: "whole" } as const;
  const layouts = [
    ["3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"],
    ["1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb"],
  ];
  const mig = { kind: "mig-mixed", layouts } as const;
  const sliced = { kind: "time-slicing", replicas: 4, renamed: false } as const;
  return [
    gpuNode("a100-01", "A100", 8, whole, { ...common, exporter: exporterOf("3.3") }),
    gpuNode("a100-02", "A100", 8, whole, { ...common, exporter: exporterOf("3.3") }),
    gpuNode("a100-03", "A100", 8, whole, { ...common, exporter: exporterOf("2.4") }),
    gpuNode("a100-04", "A100", 8, mig, common),
    gpuNode("a100-05", "A100", 8, mig, common),
    gpuNode("a100-06", "A100", 8, sliced, { ...common, exporter: exporterOf("4.5", { sharedRows: "copies" }) }),
    gpuNode(
      "a100-07",
      "A100",
      8,
      { kind: "kai" },
      { ...common, labels: { ...common.labels, "kai.scheduler/node-pool": fractionPool } },
    ),
    gpuNode("a100-08", "A100", 8, whole, { ...common, labels: eksLabels("a100-spot", "SPOT") }),
  ];
}

function l4Nodes(): readonly NodeSpec[] {
  const common = { instanceType: "g6.12xlarge", zone: "eu-west-1b", labels: karpenterLabels("inference", "on-demand") };
  const shared = { kind: "time-slicing", replicas: 4, renamed: true } as const;
  return [
    gpuNode("l4-01", "L4", 4, { kind: "whole" }, common),
    gpuNode("l4-02", "L4", 4, { kind: "whole" }, common),
    gpuNode("l4-03", "L4", 4, shared, { ...common, exporter: exporterOf("4.8.3", { sharedRows: "per-process" }) }),
    gpuNode("l4-04", "L4", 4, { kind: "whole" }, { ...common, exporter: exporterOf("old-namespace") }),
  ];
}

function gang(changes: Partial<WorkloadSpec>): Partial<WorkloadSpec> {
  return { gang: true, models: ["H100"], priorityClass: "training", ...changes };
}

function training(): readonly Habit[] {
  const steady = (level: number) => ({ kind: "steady", level }) as const;
  const busy = steady(0.88);
  const best = gang({ queue: "ads", priorityClass: "best-effort" });
  const vision = { queue: "vision", models: ["A100"] } as const;
  const embed = workloadOf("JobSet", "ads-train", 2, physicalGpus(8), busy, { ...best, checkpointSeconds: 1800 });
  const foundation = workloadOf("JobSet", "ads-train", 3, physicalGpus(8), busy, gang({ queue: "ads" }));
  const ranker = workloadOf("JobSet", "search-train", 2, physicalGpus(8), busy, gang({ queue: "search" }));
  const ctr = workloadOf("PyTorchJob", "ads-train", 1, physicalGpus(8), steady(0.6), best);
  const bursts = { kind: "bursts", level: 0.75, duty: 0.6 } as const;
  const augment = workloadOf("Job", "vision-train", 1, physicalGpus(1), bursts, vision);
  const sweep = workloadOf("PodGroup", "vision-train", 4, physicalGpus(2), steady(0.7), { ...vision, gang: true });
  const leftover = workloadOf("Pod", "scratch", 1, physicalGpus(2), still, { models: ["A100"] });
  return [
    // It borrows what search does not use yet, and still holds it when search's second ranker arrives.
    lasting("ads-embed", embed, 1),
    coming("ads-foundation", foundation, {
      initial: 1,
      everySeconds: 14_400,
      maxWaiting: 1,
      runSeconds: [21_600, 32_400],
    }),
    coming("ranker", ranker, {
      initial: 1,
      everySeconds: 7200,
      maxWaiting: 2,
      runSeconds: [14_400, 28_800],
      failRatio: 0.05,
    }),
    coming("ctr", ctr, {
      initial: 2,
      everySeconds: 3600,
      maxWaiting: 1,
      runSeconds: [7200, 14_400],
      failRatio: 0.1,
    }),
    coming("augment", augment, {
      initial: 10,
      everySeconds: 100,
      maxWaiting: 12,
      runSeconds: [300, 2400],
      failRatio: 0.12,
    }),
    coming("sweep", sweep, {
      initial: 1,
      everySeconds: 3600,
      maxWaiting: 2,
      runSeconds: [1800, 5400],
      failRatio: 0.1,
    }),
    lasting("leftover", leftover, 1),
  ];
}

const still = { kind: "constant", level: 0 } as const;

function serving(): readonly Habit[] {
  const day = { kind: "day", low: 0.08, high: 0.85 } as const;
  const served = { priorityClass: "serving", models: ["L4"] } as const;
  const whole = { priorityClass: "serving", models: ["H100"], gang: true } as const;
  const assistant = workloadOf("LeaderWorkerSet", "search-serving", 2, physicalGpus(8), day, whole);
  return [
    lasting("suggest", workloadOf("Deployment", "search-serving", 5, physicalGpus(1), day, served), 1),
    lasting("embed", workloadOf("Deployment", "search-serving", 3, physicalGpus(1), day, served), 1),
    lasting("assistant", assistant, 1),
  ];
}

function notebooks(): readonly Habit[] {
  const idle = { kind: "notebook", duty: 0.12 } as const;
  const small = { kind: "mig", profile: "1g.10gb", count: 1, strategy: "mig-mixed" } as const;
  const large = { kind: "mig", profile: "3g.40gb", count: 1, strategy: "mig-mixed" } as const;
  const replica = { kind: "replicas", count: 1, strategy: "time-slicing", renamed: false } as const;
  const shared = { kind: "replicas", count: 1, strategy: "time-slicing", renamed: true } as const;
  const spaces = [
    ["mig-small", "Notebook", small, 20],
    ["mig-large", "Notebook", large, 5],
    ["sliced", "Notebook", replica, 18],
    ["viewer", "StatefulSet", shared, 7],
    ["half", "Pod", { kind: "fraction", share: 0.5 }, 7],
    ["quarter", "Pod", { kind: "fraction", share: 0.25 }, 5],
  ] as const;
  return spaces.map(([name, kind, request, initial]) => {
    const queue = request.kind === "fraction" ? { queue: "notebooks" } : {};
    return lasting(name, workloadOf(kind, "notebooks", 1, request, idle, queue), initial);
  });
}

function claims(): readonly Habit[] {
  const busy = { kind: "steady", level: 0.8 } as const;
  const repeated = { everySeconds: 2400, maxWaiting: 1, runSeconds: [1800, 5400] } as const;
  const bidder = workloadOf("Job", "ads-train", 1, { kind: "claim", count: 2, shared: false }, busy);
  const probe = workloadOf("Job", "ads-train", 1, { kind: "extended-resource", count: 1 }, busy);
  const bursts = { kind: "bursts", level: 0.5, duty: 0.5 } as const;
  const duet = workloadOf("Job", "scratch", 2, { kind: "claim", count: 1, shared: true }, bursts, { gang: true });
  return [
    coming("bidder", bidder, { initial: 2, ...repeated }),
    coming("probe", probe, { initial: 1, ...repeated }),
    lasting("duet", duet, 1),
  ];
}
