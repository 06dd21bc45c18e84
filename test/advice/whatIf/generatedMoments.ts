import fc from "fast-check";
import { type Change, type Plan, placementRules } from "../../../exporter/advice/whatIf/plan.ts";
import { type AnalysisSettings, analyse, analysisSettings } from "../../../exporter/analysis/analyse.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import type { ClusterState, NodeRequests } from "../../../exporter/model/cluster.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { noQueueObjects, unknownSchedulerSettings } from "../../../exporter/model/queues/queueObjects.ts";
import { account, listed } from "../../analysis/prices/priceBuilder.ts";
import { kueuePodSet } from "../../analysis/queueObjectBuilder.ts";
import { cluster, gpuNode, gpuPod, now, owner, ownerRef, page, reading } from "../../join/clusterBuilder.ts";
import { anyCluster } from "../../join/clusterGenerator.ts";
import { snapshotOf } from "../../join/outcomes.ts";
import * as kueue from "../../queues/kueueRows.ts";

const shape = { cpu: 0, memoryBytes: 0, nodeSelector: {}, models: [], popularity: 1 };
/** With a target workload that no plan changes. */
export const settings: AnalysisSettings = {
  ...analysisSettings(configSchema.parse({})),
  targetWorkload: [
    { ...shape, gpus: 0.5 },
    { ...shape, gpus: 1 },
    { ...shape, gpus: 4, cpu: 3 },
    { ...shape, gpus: 8 },
  ],
};

/** A moment of a joined state; every GPU costs 10 an hour. */
export function analysisOf(state: ClusterState, idleNodeSince: Analysis["idleNodes"]["since"] = new Map()): Analysis {
  return analyse(snapshotOf({ ...state, prices: account([listed()]) }), { ...settings, idleNodeSince });
}

/** What is generated of a cluster with two queues of Kueue in one cohort. */
const kueueChoices = fc.record({
  nodes: fc.array(fc.constantFrom(2, 4, 8), { minLength: 2, maxLength: 5 }),
  allocated: fc.array(
    fc.record({
      node: fc.nat(4),
      gpus: fc.integer({ min: 1, max: 4 }),
      queue: fc.constantFrom("a", "b"),
      priority: fc.integer({ min: 0, max: 2 }),
      activity: fc.constantFrom(0, 0.5, 1),
      age: fc.integer({ min: 100, max: 90_000 }),
      isJob: fc.boolean(),
      seen: fc.boolean(),
    }),
    { maxLength: 9 },
  ),
  waiting: fc.array(
    fc.record({
      count: fc.integer({ min: 1, max: 4 }),
      gpus: fc.integer({ min: 1, max: 5 }),
      queue: fc.constantFrom("a", "b"),
      priority: fc.integer({ min: 0, max: 2 }),
      created: fc.nat(4),
    }),
    { maxLength: 4 },
  ),
  quotas: fc.tuple(fc.integer({ min: 0, max: 16 }), fc.integer({ min: 0, max: 16 })),
  reclaim: fc.constantFrom("Any", "LowerPriority", "Never"),
  strict: fc.boolean(),
});

/** What pods ask for together. */
export function requestsOf(pods: readonly Pod[]): NodeRequests {
  const sum = (of: (pod: Pod) => number) => pods.reduce((total, pod) => total + of(pod), 0);
  return { pods: pods.length, cpuMilli: sum((pod) => pod.cpuMilli), memoryBytes: sum((pod) => pod.memoryBytes) };
}

type KueueChoices = typeof kueueChoices extends fc.Arbitrary<infer T> ? T : never;

const annotated = (workload: string) => ({ annotations: { "kueue.x-k8s.io/workload": workload } });

function kueueCluster(choices: KueueChoices): ClusterState {
  const { nodes: sizes, allocated, waiting, quotas, reclaim, strict } = choices;
  const nodes = sizes.map((physicalGpus, i) =>
    gpuNode(`n${i}`, physicalGpus, { allocatableCpuMilli: 1500 * physicalGpus }),
  );
  const left: number[] = [...sizes];
  const jobs = allocated.map((_, i) => owner("Job", `held-${i}`));
  const running = allocated.flatMap(({ node, gpus, ...one }, i) => {
    const at = node % sizes.length;
    const job = jobs[i];
    if ((left[at] ?? 0) < gpus || job === undefined) return [];
    left[at] = (left[at] ?? 0) - gpus;
    const times = { createdAt: now - one.age, scheduledAt: now - one.age, priority: one.priority };
    const name = `held-${i}`;
    const pod = gpuPod(name, `n${at}`, gpus, {
      ...annotated(name),
      ...times,
      owner: one.isJob ? ownerRef(job) : null,
      cpuMilli: 1000 * gpus,
    });
    return [{ ...one, at, gpus, name, pod }];
  });
  const pages = sizes.map((physicalGpus, at) => {
    const used = running.filter((one) => one.at === at).flatMap((one) => Array(one.gpus).fill(one));
    const rows = Array.from({ length: physicalGpus }, (_, i) =>
      used[i] === undefined
        ? reading(`GPU-${at}-${i}`, 0)
        : used[i].seen
          ? reading(`GPU-${at}-${i}`, used[i].activity, used[i].name)
          : reading(`GPU-${at}-${i}`, 0, used[i].name),
    );
    return page(`n${at}`, rows);
  });
  const workloads = [
    ...running.map(({ name, gpus, queue, priority }) =>
      kueue.workload(name, [kueue.podSet(1, gpus)], {
        ...kueue.admission(queue, "any", 1, gpus),
        localQueue: queue,
        priority,
      }),
    ),
    ...waiting.map(({ count, gpus, queue, priority }, i) =>
      kueue.workload(`wait-${i}`, [kueuePodSet("main", count, { "nvidia.com/gpu": gpus, cpu: gpus })], {
        localQueue: queue,
        priority,
        createdAt: now - 900 - i,
      }),
    ),
  ];
  const created = waiting.flatMap(({ count, gpus, created: some, priority }, i) =>
    Array.from({ length: Math.min(count, some) }, (_, k) =>
      gpuPod(`wait-${i}-${k}`, null, gpus, { ...annotated(`wait-${i}`), priority, cpuMilli: 1000 * gpus }),
    ),
  );
  const preemption = { reclaimWithinCohort: reclaim, withinClusterQueue: "Never", borrowWithinCohort: "Never" };
  return cluster({
    nodes,
    pods: [...running.map(({ pod }) => pod), ...created],
    owners: jobs,
    requestsByNode: new Map(
      sizes.map(
        (_, at) => [`n${at}`, requestsOf(running.filter((one) => one.at === at).map(({ pod }) => pod))] as const,
      ),
    ),
    telemetry: pages,
    schedulerSettings: unknownSchedulerSettings,
    kueuePendingWorkloads: new Map(),
    queues: {
      ...noQueueObjects,
      kueueResourceFlavors: [kueue.flavor("any")],
      kueueClusterQueues: ["a", "b"].map((name, i) =>
        kueue.clusterQueue(name, [kueue.quota("any", quotas[i] ?? 0)], {
          cohort: "all",
          preemption,
          queueingStrategy: strict ? "StrictFIFO" : "BestEffortFIFO",
        }),
      ),
      kueueLocalQueues: ["a", "b"].map((name) => kueue.localQueue(name, name)),
      kueueWorkloads: workloads,
    },
  });
}

/** Clusters with two queues that borrow from each other, with work that holds and work that waits. */
export const anyKueueCluster: fc.Arbitrary<ClusterState> = kueueChoices.map(kueueCluster);

/** Clusters of every kind. */
export const anyState: fc.Arbitrary<ClusterState> = fc.oneof(anyCluster, anyKueueCluster);

/** The random choices of a plan; what they mean depends on the cluster. */
export const planChoices = fc.record({
  changes: fc.array(
    fc.record({
      kind: fc.constantFrom<Change["kind"]>(
        "stop",
        "move",
        "move",
        "removeNode",
        "setQueue",
        "letReclaim",
        "shrink",
        "observe",
      ),
      picks: fc.array(fc.nat(50), { minLength: 3, maxLength: 3 }),
      avoids: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  starts: fc.array(fc.nat(20), { maxLength: 4 }),
});

export type PlanChoices = typeof planChoices extends fc.Arbitrary<infer T> ? T : never;

export const anyRule = fc.constantFrom(...placementRules);

type ChangeChoice = PlanChoices["changes"][number];

const pick = (list: readonly number[], by: number): number | undefined => list[by % Math.max(1, list.length)];

/** What a choice means in a cluster, by kind. */
const changesOf: Readonly<Record<Change["kind"], (snapshot: Snapshot, choice: ChangeChoice) => readonly Change[]>> = {
  stop: ({ workloads }, { picks: [a = 0] }) => of(workloads, a, (workload) => ({ kind: "stop", workload })),
  shrink: ({ workloads }, { picks: [a = 0, b = 0] }) =>
    of(workloads, a, (workload) => ({ kind: "shrink", workload, gpusPerPod: (b % 4) / 2 + 0.5 })),
  removeNode: ({ nodes }, { picks: [a = 0] }) => of(nodes, a, (node) => ({ kind: "removeNode", node })),
  observe: ({ nodes }, { picks: [a = 0] }) => of(nodes, a, (node) => ({ kind: "observe", node })),
  letReclaim: ({ queueing }, { picks: [a = 0] }) => of(queueing.queues, a, (queue) => ({ kind: "letReclaim", queue })),
  setQueue: ({ queueing: { queues } }, { picks: [a = 0, b = 0], avoids }) =>
    of(queues, a, (queue) => ({
      kind: "setQueue",
      queue,
      ...(avoids ? { guaranteed: b % 20 } : { limit: b % 20 }),
    })).filter(({ kind, queue }) => kind === "setQueue" && queues[queue]?.isLeaf === true),
  move: ({ pods, nodes }, { picks: [a = 0, b = 0, c = 0], avoids }) => {
    const allocated = [...pods.keys()].filter((pod) => pods[pod]?.status === "allocated");
    const moving = [...new Set([a, b].flatMap((by) => pick(allocated, by) ?? []))];
    if (moving.length === 0 || nodes.length === 0) return [];
    return [{ kind: "move", pods: moving, avoid: avoids ? [c % nodes.length] : [] }];
  },
};

function of<Made extends Change>(list: readonly unknown[], by: number, make: (index: number) => Made): readonly Made[] {
  return list.length === 0 ? [] : [make(by % list.length)];
}

/** A plan for a cluster; of what it does not have nothing is changed. */
export function planFor(snapshot: Snapshot, { changes, starts }: PlanChoices): Plan {
  const gangs = [...snapshot.queueing.gangs.keys()];
  return {
    changes: changes.flatMap((choice) => changesOf[choice.kind](snapshot, choice)),
    starts: [...new Set(starts.flatMap((by) => pick(gangs, by) ?? []))],
  };
}

/** The same plan for a cluster whose things are in another order; names say which is which. */
export function renumbered({ changes, starts }: Plan, from: Snapshot, to: Snapshot): Plan {
  const named = <Item>(of: (snapshot: Snapshot) => readonly Item[], name: (item: Item) => string) => {
    const places = new Map(of(to).map((item, i) => [name(item), i] as const));
    return (index: number): number => {
      const item = of(from)[index];
      return item === undefined ? -1 : (places.get(name(item)) ?? -1);
    };
  };
  const pod = named(
    ({ pods }) => pods,
    ({ namespace, name }) => `${namespace}/${name}`,
  );
  const node = named(
    ({ nodes }) => nodes,
    ({ name }) => name,
  );
  const workload = named(
    ({ workloads }) => workloads,
    ({ kind, namespace, name }) => `${kind}/${namespace}/${name}`,
  );
  const queue = named(
    ({ queueing }) => queueing.queues,
    ({ kind, name, domain }) => `${kind}/${name}/${domain}`,
  );
  const gang = named(
    ({ queueing }) => queueing.gangs,
    ({ uid }) => uid,
  );
  return {
    changes: changes.map((change): Change => {
      if (change.kind === "move") return { ...change, pods: change.pods.map(pod), avoid: change.avoid.map(node) };
      if ("workload" in change) return { ...change, workload: workload(change.workload) };
      if ("node" in change) return { ...change, node: node(change.node) };
      return { ...change, queue: queue(change.queue) };
    }),
    starts: starts.map(gang),
  };
}
