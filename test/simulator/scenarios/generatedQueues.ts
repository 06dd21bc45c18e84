import { kaiNames } from "../../../exporter/model/wellKnown.ts";
import type { GpuModelName } from "../../../simulator/gpuModels.ts";
import { lineage } from "../../../simulator/queues/kaiRules.ts";
import { available, kueueTree } from "../../../simulator/queues/kueueTree.ts";
import {
  type ClusterQueueSpec,
  type CohortSpec,
  type FlavorQuota,
  type KaiQueueSpec,
  type KueueSpec,
  noQueueing,
  type QueueingSpec,
  type QueueSystemName,
} from "../../../simulator/queues/spec.ts";
import { createRandomStream, type RandomStream } from "../../../simulator/random.ts";
import type { GpuRequest, Habit, NamespaceSpec, NodeSpec, WorkloadKind } from "../../../simulator/scenario.ts";
import { gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";

/** What queue systems add to a generated cluster; nothing in one of three. */
export interface GeneratedQueues {
  readonly queueing: QueueingSpec;
  /** Nodes that are there for the queues; others may be used, too. */
  readonly nodes: readonly NodeSpec[];
  readonly habits: readonly Habit[];
}

const none: GeneratedQueues = { queueing: noQueueing, nodes: [], habits: [] };

/** Random queue systems on half of `size` nodes. Nobody asks for more than may ever be admitted. */
export function generatedQueues(seed: number, size: number, namespaces: readonly NamespaceSpec[]): GeneratedQueues {
  const random = createRandomStream(seed ^ 0x2c1b3c6d);
  const systems = random.pick<readonly QueueSystemName[]>([
    [],
    [],
    [],
    ["kueue"],
    ["kueue", "kai"],
    ["kai"],
    ["volcano"],
    ["kueue"],
    ["kueue", "volcano"],
  ]);
  if (systems.length === 0) return none;
  const nodePool = random.next() < 0.5 ? "shard" : null;
  const hasKai = systems.includes("kai");
  const nodes = queueNodes(random, Math.ceil(size / 2), hasKai ? nodePool : undefined);
  const names = namespaces.map(({ name }) => name);
  const queueing: QueueingSpec = {
    kueue: systems.includes("kueue") ? kueue(random, nodes, names) : null,
    kai: hasKai ? { nodePool, queues: kaiQueues(random) } : null,
    volcano: systems.includes("volcano") ? volcano(random) : null,
  };
  const asking = { random, nodes, names };
  return {
    queueing,
    nodes,
    habits: [
      ...(queueing.kueue === null ? [] : kueueHabits(asking, queueing.kueue)),
      ...(queueing.kai === null ? [] : kaiHabits(asking, queueing.kai)),
      ...(queueing.volcano === null ? [] : volcanoHabits(asking, queueing.volcano)),
    ],
  };
}

/** Of one or two models; `nodePool`: that of KAI, which every other one of them is then for. */
function queueNodes(random: RandomStream, count: number, nodePool: string | null | undefined): readonly NodeSpec[] {
  // H100 may be on other nodes, too, cut in whatever way.
  const models = random.pick<readonly [GpuModelName, ...GpuModelName[]]>([
    ["A30"],
    ["V100M32", "A30"],
    ["A30", "G2"],
    ["H100", "G2"],
  ]);
  return Array.from({ length: count }, (_, i) => {
    const isKai = nodePool !== undefined && i % 2 === 0;
    const model = models[i % models.length] ?? models[0];
    return gpuNode(
      `queued-${i}`,
      model,
      random.pick([4, 8]),
      { kind: isKai ? "kai" : "whole" },
      {
        cordoned: i > 1 && random.next() < 0.15,
        ready: i < 2 || random.next() < 0.9,
        labels: isKai && nodePool !== null ? { [kaiNames.nodePool]: nodePool } : {},
      },
    );
  });
}

function kueue(random: RandomStream, nodes: readonly NodeSpec[], namespaces: readonly string[]): KueueSpec {
  const models = modelsOf(nodes);
  const flavors = models.map((model) => ({ name: model.toLowerCase(), model }));
  const cohort = (name: string, parent: string | null, quotas: readonly FlavorQuota[]): CohortSpec => ({
    name,
    parent,
    weight: random.pick([0, 1, 1, 2]),
    quotas,
  });
  const own = random.next() < 0.3 ? flavors.map(({ name }) => quota(name, 2, null, null)) : [];
  const cohorts = random.pick<readonly CohortSpec[]>([
    [cohort("org", null, own)],
    [cohort("org", null, own), cohort("east", "org", []), cohort("west", "org", [])],
  ]);
  const clusterQueues = Array.from({ length: random.between(2, 5) }, (_, i): ClusterQueueSpec => {
    const isAlone = random.next() < 0.15;
    const covered = i > 0 && random.next() < 0.4 ? flavors.slice(0, 1) : flavors;
    return {
      name: `cq-${i}`,
      cohort: isAlone ? null : (cohorts[random.between(0, cohorts.length - 1)]?.name ?? null),
      weight: random.pick([0, 0.5, 1, 1, 2]),
      quotas: covered.map(({ name }) => {
        const nominal = random.pick([0, 2, 4, 8]);
        if (isAlone) return quota(name, nominal, null, null);
        const lending = random.pick([null, null, 0, 2]);
        return quota(
          name,
          nominal,
          random.pick([null, null, 0, 4]),
          lending === null ? null : Math.min(lending, nominal),
        );
      }),
      strategy: random.pick(["StrictFIFO", "BestEffortFIFO", "BestEffortFIFO"]),
      reclaimWithinCohort: random.pick(["Never", "LowerPriority", "Any", "Any"]),
      namespaces: namespaces.filter((_, n) => n === i % namespaces.length || random.next() < 0.2),
    };
  });
  return { fairSharing: random.next() < 0.5, flavors, cohorts, clusterQueues };
}

function quota(
  flavor: string,
  nominal: number,
  borrowingLimit: number | null,
  lendingLimit: number | null,
): FlavorQuota {
  return { flavor, nominal, borrowingLimit, lendingLimit };
}

function kaiQueues(random: RandomStream): readonly KaiQueueSpec[] {
  const parents = Array.from(
    { length: random.between(1, 2) },
    (_, i): KaiQueueSpec => ({
      name: `dept-${i}`,
      parent: null,
      priority: 100,
      quota: random.pick([-1, 4, 8]),
      limit: random.pick([-1, -1, 12]),
      overQuotaWeight: random.pick([1, 2]),
    }),
  );
  const leaves = Array.from(
    { length: random.between(2, 4) },
    (_, i): KaiQueueSpec => ({
      name: `project-${i}`,
      parent: `dept-${i % parents.length}`,
      priority: random.pick([100, 100, 200]),
      quota: random.pick([0, 2, 4]),
      limit: random.pick([-1, -1, 4, 8]),
      overQuotaWeight: random.pick([0, 1, 1, 3]),
    }),
  );
  return [...parents, ...leaves];
}

function volcano(random: RandomStream): NonNullable<QueueingSpec["volcano"]> {
  const plugin = random.pick<"proportion" | "capacity">(["proportion", "capacity"]);
  const queues = Array.from({ length: random.between(2, 4) }, (_, i) => ({
    name: `volcano-${i}`,
    weight: random.pick([1, 2, 4]),
    guarantee: random.pick([null, null, 2]),
    deserved: plugin === "capacity" ? random.pick([2, 4, 8]) : null,
    capability: random.pick([null, null, 8]),
    reclaimable: random.next() < 0.7,
  }));
  return { plugin, queues };
}

/** From whom habits are made. */
interface Asking {
  readonly random: RandomStream;
  readonly nodes: readonly NodeSpec[];
  readonly names: readonly string[];
}

function kueueHabits(asking: Asking, spec: KueueSpec): readonly Habit[] {
  return spec.clusterQueues.flatMap(({ name, quotas, namespaces }) =>
    quotas.flatMap(({ flavor }): readonly Habit[] => {
      const model = spec.flavors.find((each) => each.name === flavor)?.model;
      const node = kueueTree(spec, flavor, new Map()).get(`queue/${name}`);
      if (model === undefined || node === undefined) return [];
      const nodes = asking.nodes.filter(({ physicalGpus }) => physicalGpus.includes(model));
      const most = Math.min(available(node), gpusOf(nodes));
      const kinds = ["Job", "JobSet", "PyTorchJob", "PodGroup", "Pod", "LeaderWorkerSet", "StatefulSet"] as const;
      return habit({ ...asking, names: namespaces }, { queue: name, most, kinds, models: [model] });
    }),
  );
}

function kaiHabits(asking: Asking, { nodePool, queues }: NonNullable<QueueingSpec["kai"]>): readonly Habit[] {
  const nodes = asking.nodes.filter(({ labels }) => (labels[kaiNames.nodePool] ?? null) === nodePool);
  const leaves = queues.filter(({ parent }) => parent !== null);
  const kinds = ["Job", "JobSet", "PyTorchJob", "Pod", "StatefulSet"] as const;
  return leaves.flatMap(({ name }, i) => {
    const limits = lineage(queues, name).map(({ limit }) => (limit < 0 ? gpusOf(nodes) : limit));
    const most = Math.min(gpusOf(nodes), ...limits);
    const models = i % 2 === 1 || asking.random.next() < 0.5 ? [] : modelsOf(nodes);
    const share = i % 2 === 1 ? asking.random.pick([0.25, 0.5]) : null;
    // What has priority 100 or more cannot be preempted, and so may not go beyond quota: the simulator does not know that.
    return habit(asking, { queue: name, most, kinds, models, share, priorityClasses: [null, "low"] });
  });
}

function volcanoHabits(asking: Asking, { queues }: NonNullable<QueueingSpec["volcano"]>): readonly Habit[] {
  const [model] = modelsOf(asking.nodes);
  const nodes = asking.nodes.filter(({ physicalGpus }) => model !== undefined && physicalGpus.includes(model));
  const kinds = ["Job", "JobSet", "PyTorchJob", "Pod", "StatefulSet"] as const;
  return queues.flatMap(({ name, capability }) => {
    const models = asking.random.next() < 0.5 || model === undefined ? [] : [model];
    const most = Math.min(gpusOf(nodes), capability ?? gpusOf(nodes));
    return habit(asking, { queue: name, most, kinds, models });
  });
}

/** Which work a queue gets. */
interface QueueWork {
  readonly queue: string;
  /** GPUs at once, at most. */
  readonly most: number;
  readonly kinds: readonly [WorkloadKind, ...WorkloadKind[]];
  readonly models: readonly GpuModelName[];
  /** Of a GPU, instead of GPUs. */
  readonly share?: number | null;
  readonly priorityClasses?: readonly [string | null, ...(string | null)[]];
}

/** Work for one queue; none where it may have no GPU. */
function habit(
  { random, names }: Asking,
  { queue, most, kinds, models, share = null, priorityClasses = [null, "high", "low"] }: QueueWork,
): readonly Habit[] {
  const count = random.pick([1, 2, 4]);
  const kind = random.pick(kinds);
  const pods = kind === "Pod" ? 1 : random.between(1, 4);
  const fitting = Math.min(count, Math.floor(most));
  if (fitting < 1 || names[0] === undefined) return [];
  const request: GpuRequest = share === null ? { kind: "physicalGpus", count: fitting } : { kind: "fraction", share };
  const namespace = random.pick<string>([names[0], ...names.slice(1)]);
  const busy = { kind: "steady", level: 0.8 } as const;
  const perPod = share ?? fitting;
  const workload = workloadOf(kind, namespace, Math.min(pods, Math.floor(most / perPod)), request, busy, {
    // The replicas of a PyTorchJob always start together.
    gang: (kind !== "StatefulSet" && random.next() < 0.8) || kind === "PyTorchJob",
    priorityClass: random.pick(priorityClasses),
    queue,
    models,
  });
  return [
    {
      name: `${queue}-${models.join("-").toLowerCase() || "any"}`,
      workload,
      initial: random.between(1, 3),
      everySeconds: random.pick([180, 600, 1200]),
      maxWaiting: 3,
      runSeconds: random.pick([
        [300, 1800],
        [1800, 7200],
      ]),
      failRatio: 0.1,
    },
  ];
}

function modelsOf(nodes: readonly NodeSpec[]): readonly GpuModelName[] {
  return [...new Set(nodes.flatMap(({ physicalGpus }) => physicalGpus))];
}

function gpusOf(nodes: readonly NodeSpec[]): number {
  return nodes.reduce((sum, { physicalGpus }) => sum + physicalGpus.length, 0);
}
