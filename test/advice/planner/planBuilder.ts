import { findPlan } from "../../../exporter/advice/planner/findPlan.ts";
import type {
  FoundPlan,
  PlanAnswer,
  PlanGoal,
  PlanLimits,
  PlanNode,
  PlanPod,
  PlanPodKind,
  PlanProblem,
  PlanUnit,
} from "../../../exporter/advice/planner/problem.ts";
import {
  copyFreeCapacity,
  type FreeCapacity,
  podsIn,
  takePod,
} from "../../../exporter/analysis/freeCapacity/nodeFreeCapacity.ts";
import type { PodDemand } from "../../../exporter/analysis/freeCapacity/podDemand.ts";

/** A pod of a small case: where it is, how much of a GPU or how many it holds, and CPU. */
export interface CasePod {
  readonly node: number;
  readonly gpus: number;
  readonly cpu?: number;
}

/** Pods that move together. */
export interface CaseUnit {
  readonly name: string;
  readonly pods: readonly CasePod[];
  readonly lost: number;
  /** What speaks against moving it. */
  readonly veto?: string;
}

/** A small case in few words. */
export interface Case {
  /** GPUs and CPU of each node. */
  readonly nodes: readonly { readonly gpus: number; readonly cpu?: number; readonly closed?: boolean }[];
  readonly units: readonly CaseUnit[];
  /** Pods that never move. */
  readonly fixed?: readonly CasePod[];
  /** Pods to be placed; or how many nodes to be freed. */
  readonly goal: readonly { readonly gpus: number; readonly pods: number; readonly cpu?: number }[] | number;
  readonly maxMoves?: number;
  readonly quota?: number;
}

export const demandOf = (gpus: number, cpu = 0): PodDemand => {
  const physicalGpus = Math.max(1, Math.ceil(gpus));
  return { gpus, physicalGpus, share: gpus / physicalGpus, slots: [], cpuMilli: cpu * 1000, memoryBytes: 0 };
};

/** The problem of a case, its units by name. Pods take the first GPUs that have room for them. */
export function problemOf({ fixed = [], nodes, goal, maxMoves = 5, quota = Infinity, ...one }: Case): PlanProblem {
  const units = one.units.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const kinds = new Map<string, PlanPodKind>();
  const takes = (node: number): boolean => nodes[node]?.closed !== true;
  const kindOf = (gpus: number, cpu = 0): PlanPodKind => {
    const key = `${gpus} ${cpu}`;
    const kind = kinds.get(key) ?? { demand: demandOf(gpus, cpu), takes };
    kinds.set(key, kind);
    return kind;
  };
  const freeCapacities = nodes.map(
    ({ gpus, cpu = Infinity }): FreeCapacity => ({
      gpus,
      physicalGpus: Array.from({ length: gpus }, () => 1),
      slots: new Map(),
      cpuMilli: cpu * 1000,
      memoryBytes: Infinity,
    }),
  );
  const put = ({ node, gpus, cpu = 0 }: CasePod): [number, number][] => {
    const freeCapacity = freeCapacities[node];
    if (freeCapacity === undefined) throw new Error(`no node ${node}`);
    const { physicalGpus, share } = demandOf(gpus, cpu);
    const taken = freeCapacity.physicalGpus
      .flatMap((free, physicalGpu) => (free >= share - 1e-9 ? [physicalGpu] : []))
      .slice(0, physicalGpus);
    if (taken.length < physicalGpus) throw new Error(`node ${node} has no ${gpus} GPUs left`);
    for (const physicalGpu of taken)
      freeCapacity.physicalGpus[physicalGpu] = (freeCapacity.physicalGpus[physicalGpu] ?? 0) - share;
    freeCapacity.gpus -= gpus;
    freeCapacity.cpuMilli -= cpu * 1000;
    return taken.map((physicalGpu) => [physicalGpu, share]);
  };
  for (const pod of fixed) put(pod);
  let numbered = 0;
  const planned = units.map(
    ({ name, pods, lost }): PlanUnit => ({
      name,
      lostGpuHours: lost,
      group: name,
      pods: pods.map((pod): PlanPod => {
        const physicalGpus = put(pod);
        numbered += 1;
        const kind = kindOf(pod.gpus, pod.cpu);
        return { pod: numbered - 1, node: pod.node, kind, gives: { gpus: pod.gpus, physicalGpus, slots: [] } };
      }),
    }),
  );
  const planNodes = freeCapacities.map(
    (free, i): PlanNode => ({
      name: `node-${String(i).padStart(3, "0")}`,
      free: takes(i)
        ? free
        : { ...free, gpus: 0, physicalGpus: free.physicalGpus.map(() => 0), cpuMilli: 0, memoryBytes: 0 },
    }),
  );
  return {
    nodes: planNodes,
    units: planned,
    fixedNodes: new Set(fixed.map(({ node }) => node)),
    goal: goalOf(goal, kindOf, freeCapacities, nodes),
    quotaGpus: quota,
    maxMoves,
    vetoesOf: (indices) => indices.flatMap((index) => units[index]?.veto ?? []),
  };
}

function goalOf(
  goal: Case["goal"],
  kindOf: (gpus: number, cpu?: number) => PlanPodKind,
  freeCapacities: readonly FreeCapacity[],
  nodes: Case["nodes"],
): PlanGoal {
  if (typeof goal !== "number")
    return { kind: "place", parts: goal.map(({ gpus, pods, cpu }) => ({ kind: kindOf(gpus, cpu), pods })) };
  const allocated = freeCapacities.flatMap(({ gpus }, i) => (gpus < (nodes[i]?.gpus ?? 0) - 1e-9 ? [i] : []));
  return { kind: "free", nodes: allocated, count: goal };
}

export function planFor(problem: PlanProblem, limits?: PlanLimits): PlanAnswer {
  return findPlan(problem, limits);
}

/** Names of the units that a plan moves. */
export const namesOf = ({ units }: PlanProblem, { plan }: PlanAnswer): readonly string[] =>
  (plan?.units ?? []).map((index) => units[index]?.name ?? "").sort();

/** The free capacity that pods leave on a node with those of these units gone and these kinds put down; `null` where they do not fit. */
export function freeCapacityAfter(
  { nodes, units }: PlanProblem,
  node: number,
  gone: ReadonlySet<number>,
  put: readonly PlanPodKind[],
): FreeCapacity | null {
  const before = nodes[node]?.free;
  if (before === undefined) return null;
  const freeCapacity = copyFreeCapacity(before);
  for (const index of gone) {
    for (const { node: at, gives, kind } of units[index]?.pods ?? []) {
      if (at !== node) continue;
      freeCapacity.gpus += gives.gpus;
      freeCapacity.cpuMilli += kind.demand.cpuMilli;
      freeCapacity.memoryBytes += kind.demand.memoryBytes;
      for (const [physicalGpu, share] of gives.physicalGpus)
        freeCapacity.physicalGpus[physicalGpu] = (freeCapacity.physicalGpus[physicalGpu] ?? 0) + share;
      for (const [key, { count, gpus }] of gives.slots) {
        const free = freeCapacity.slots.get(key) ?? { count: 0, gpus: 0 };
        freeCapacity.slots = new Map(freeCapacity.slots).set(key, {
          count: free.count + count,
          gpus: free.gpus + gpus,
        });
      }
    }
  }
  for (const kind of [...put].sort((a, b) => b.demand.share - a.demand.share || b.demand.gpus - a.demand.gpus)) {
    if (!kind.takes(node) || podsIn(freeCapacity, kind.demand) === 0) return null;
    takePod(freeCapacity, kind.demand);
  }
  return freeCapacity;
}

/** What is wrong with a plan, found without the planner's own code; empty: nothing. */
export function faultsOf(problem: PlanProblem, { plan }: PlanAnswer): readonly string[] {
  if (plan === null) return [];
  const { units, maxMoves } = problem;
  const faults: string[] = [];
  const gone = new Set(plan.units);
  if (gone.size !== plan.units.length) faults.push("a unit moves twice");
  if (gone.size > maxMoves) faults.push(`${gone.size} units move`);
  if (problem.vetoesOf(plan.units).length > 0) faults.push("a guard speaks against it");
  const wanted = plan.units.flatMap((index) => units[index]?.pods.map(({ pod }) => pod) ?? []).sort((a, b) => a - b);
  const moved = plan.moves.map(({ pod }) => pod).sort((a, b) => a - b);
  if (moved.join() !== wanted.join()) faults.push("not every pod of the units that move has a place");
  const put = new Map<number, PlanPodKind[]>();
  const add = (node: number, kind: PlanPodKind): void => void put.set(node, [...(put.get(node) ?? []), kind]);
  for (const { unit, pod, from, to } of plan.moves) {
    const pods = units[unit]?.pods ?? [];
    const own = pods.find((one) => one.pod === pod);
    if (own === undefined || own.node !== from) faults.push(`pod ${pod} is not there`);
    else add(to, own.kind);
    if (pods.length === 1 && from === to) faults.push(`pod ${pod} stays where it is`);
  }
  faults.push(...goalFaults(problem, plan, gone, put));
  for (const [node, kinds] of put)
    if (freeCapacityAfter(problem, node, gone, kinds) === null) faults.push(`node ${node} is too full`);
  return faults;
}

function goalFaults(
  problem: PlanProblem,
  plan: FoundPlan,
  gone: ReadonlySet<number>,
  put: ReadonlyMap<number, readonly PlanPodKind[]>,
): readonly string[] {
  const { goal, units } = problem;
  if (goal.kind === "place") {
    const kinds = goal.parts.flatMap(({ kind, pods }) => Array.from({ length: pods }, () => kind));
    const isSeated = kinds.length === plan.goalNodes.length && canSeat(problem, gone, put, kinds, plan.goalNodes);
    return isSeated ? [] : ["the goal does not fit where the plan says"];
  }
  const isFree = (node: number): boolean =>
    !put.has(node) &&
    !problem.fixedNodes.has(node) &&
    goal.nodes.includes(node) &&
    units.every(({ pods }, index) => gone.has(index) || pods.every((pod) => pod.node !== node));
  const isEnough = new Set(plan.goalNodes).size === goal.count;
  return isEnough && plan.goalNodes.every(isFree) ? [] : ["the nodes are not freed"];
}

/** Whether the pods of the goal fit on these nodes, in some order of theirs. */
function canSeat(
  problem: PlanProblem,
  gone: ReadonlySet<number>,
  put: ReadonlyMap<number, readonly PlanPodKind[]>,
  kinds: readonly PlanPodKind[],
  nodes: readonly number[],
): boolean {
  const [kind, ...others] = kinds;
  if (kind === undefined) return true;
  const tried = new Set<number>();
  for (const [i, node] of nodes.entries()) {
    if (tried.has(node)) continue;
    tried.add(node);
    const here = [...(put.get(node) ?? []), kind];
    if (freeCapacityAfter(problem, node, gone, here) === null) continue;
    if (canSeat(problem, gone, new Map(put).set(node, here), others, nodes.toSpliced(i, 1))) return true;
  }
  return false;
}
