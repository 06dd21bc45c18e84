import { hasPlace, isLarger, type Layout, layoutOf, place, takeOff } from "./layout.ts";
import type { FoundPlan, PlanPod, PlanPodKind, PlanProblem } from "./problem.ts";

/** How a plan is carried out so that it reaches its goal wherever the scheduler puts the pods. */
export interface CarriedOut {
  /** Units (indices) in the order in which they leave. */
  readonly order: readonly number[];
  /** Nodes (indices) that are cordoned all the time. */
  readonly avoid: readonly number[];
  /** For each unit of `order`: nodes (indices) that are cordoned only while this unit leaves. */
  readonly besides: readonly (readonly number[])[];
}

/** What must not happen while a plan is carried out. */
export interface CarryRules {
  /** Nodes (indices) that are cordoned all the time, besides those of the goal. */
  readonly cordoned: readonly number[];
  /** Nodes (indices) on which a pod would undo what the plan gains. */
  readonly spoils: ReadonlySet<number>;
}

/** The most nodes that may be cordoned besides those of the goal, so that pods go where they should. */
export const mostCordoned = 5;
/** The most looks at a node for one plan; a node counts each time. */
const mostLooks = 200_000;
/**
 * Up to this many units, every order is tried; of more units, only the planner's own order and the one with the largest units
 * first.
 */
const mostPermuted = 5;

/** How many looks at nodes are left for carrying plans out; a node counts each time. The number is counted down. */
export interface CarryLooks {
  left: number;
}

/** A unit that leaves, and the nodes that are cordoned meanwhile. */
interface Leaving {
  readonly pods: readonly PlanPod[];
  readonly avoid: ReadonlySet<number>;
}

/**
 * Finds an order in which a plan reaches its goal whatever node the scheduler chooses for each pod, among all nodes that take
 * it. The pods of a unit leave together and are placed the largest first, before the next unit leaves. The order with the
 * largest units first is tried first, then every order if there are few units; then the same orders with those nodes cordoned
 * that should take no pod. `no order`: none of them reaches the goal; `not known`: finding out would take too many looks.
 */
export function carryOut(
  problem: PlanProblem,
  plan: FoundPlan,
  rules: CarryRules,
  looks: CarryLooks,
): CarriedOut | "no order" | "not known" {
  const allowed = Math.min(mostLooks, looks.left);
  const trying: Trying = { problem, plan, rules, base: baseOf(plan, rules), left: allowed };
  const found = firstThatHolds(trying);
  looks.left -= allowed - Math.max(0, trying.left);
  return found ?? (trying.left < 0 ? "not known" : "no order");
}

/** The nodes that are cordoned all the time. */
function baseOf({ moves, goalNodes }: FoundPlan, { cordoned }: CarryRules): ReadonlySet<number> {
  const taken = new Set(moves.map(({ to }) => to));
  return new Set([...goalNodes.filter((node) => !taken.has(node)), ...cordoned]);
}

function firstThatHolds(trying: Trying): CarriedOut | null {
  const { problem, plan, base } = trying;
  const orders = ordersOf(problem, plan.units);
  const leaving = (order: readonly number[], besides: readonly ReadonlySet<number>[]) =>
    leavingOf(problem, order, base, besides);
  for (const order of orders) {
    if (holds(trying, leaving(order, []))) return { order, avoid: [...base], besides: order.map(() => []) };
  }
  for (const order of orders) {
    const besides = steered(trying, order);
    if (besides !== null && holds(trying, leaving(order, besides)))
      return { order, avoid: [...base], besides: besides.map((nodes) => [...nodes]) };
  }
  return null;
}

interface Trying {
  readonly problem: PlanProblem;
  readonly plan: FoundPlan;
  readonly rules: CarryRules;
  readonly base: ReadonlySet<number>;
  left: number;
}

const gpusOf = ({ units }: PlanProblem, unit: number): number =>
  units[unit]?.pods.reduce((sum, { gives }) => sum + gives.gpus, 0) ?? 0;

function ordersOf(problem: PlanProblem, units: readonly number[]): readonly (readonly number[])[] {
  const largestFirst = [...units].sort((a, b) => gpusOf(problem, b) - gpusOf(problem, a));
  const others = units.length > mostPermuted ? [] : [...permutations(units)];
  const distinct = new Map([largestFirst, units, ...others].map((order) => [order.join(), order] as const));
  return [...distinct.values()];
}

function* permutations(units: readonly number[]): Generator<readonly number[], void> {
  if (units.length === 0) yield [];
  for (const [i, first] of units.entries())
    for (const rest of permutations(units.toSpliced(i, 1))) yield [first, ...rest];
}

const leavingOf = (
  { units }: PlanProblem,
  order: readonly number[],
  base: ReadonlySet<number>,
  besides: readonly ReadonlySet<number>[],
): readonly Leaving[] =>
  order.map((unit, i) => ({
    pods: [...(units[unit]?.pods ?? [])].sort((a, b) => byLargest(a.kind, b.kind)),
    avoid: besides[i] === undefined ? base : new Set([...base, ...besides[i]]),
  }));

const byLargest = (a: PlanPodKind, b: PlanPodKind): number =>
  isLarger(a.demand, b.demand) ? -1 : isLarger(b.demand, a.demand) ? 1 : 0;

/** The kind as the scheduler sees it, which does not know where pods would be worse off. */
const asScheduled = (kind: PlanPodKind): PlanPodKind =>
  kind.mayLand === undefined ? kind : { ...kind, takes: kind.mayLand };

/** Whether the goal is reached wherever the scheduler puts each pod. */
function holds(trying: Trying, leaving: readonly Leaving[]): boolean {
  const { problem } = trying;
  const isRuled = leaving.some(({ pods }) => pods.some(({ kind }) => kind.like !== undefined));
  const goals = problem.goal.kind === "place" ? problem.goal.parts.map(({ kind }) => kind) : [];
  const kinds = [...leaving.flatMap(({ pods }) => pods.map(({ kind }) => asScheduled(kind))), ...goals];

  const next = (k: number, layout: Layout): boolean => {
    const unit = leaving[k];
    if (unit === undefined) return isReached(trying, layout, leaving);
    const after = takeOff(layout, unit.pods);
    return after !== null && putNext(k, 0, after);
  };
  const putNext = (k: number, i: number, layout: Layout): boolean => {
    const pod = leaving[k]?.pods[i];
    if (pod === undefined) return next(k + 1, layout);
    const kind = asScheduled(pod.kind);
    trying.left -= problem.nodes.length;
    if (trying.left < 0) return false;
    const nodes = openTo(problem, layout, kind, leaving[k]?.avoid ?? new Set());
    if (nodes.length === 0 || nodes.some((node) => isBad(trying, pod.kind, node))) return false;
    const distinct = isRuled ? nodes : unlike(nodes, (node) => signature(problem, layout, node, kinds, leaving));
    for (const node of distinct) {
      const put = place(layout, node, kind);
      if (put === null || !putNext(k, i + 1, put)) return false;
    }
    return true;
  };
  return isSpacious(trying, leaving) || next(0, layoutOf(problem));
}

/** One node of each group of nodes that are alike: the first. */
const unlike = (nodes: readonly number[], keyOf: (node: number) => string): readonly number[] => [
  ...new Map(nodes.toReversed().map((node) => [keyOf(node), node] as const)).values(),
];

const openTo = (
  { nodes }: PlanProblem,
  layout: Layout,
  kind: PlanPodKind,
  avoid: ReadonlySet<number>,
): readonly number[] => nodes.flatMap((_, node) => (!avoid.has(node) && hasPlace(layout, node, kind) ? [node] : []));

/** Whether a pod on this node is worse off than before, or undoes what the plan gains. */
const isBad = ({ rules }: Trying, kind: PlanPodKind, node: number): boolean =>
  rules.spoils.has(node) || kind.isWorse?.(node) === true;

/**
 * Whether each pod has more possible places than there are pods placed before it, and nothing else depends on where they go.
 * Then the ways need not be tried one by one: one pod takes the place of another on one node at most.
 */
function isSpacious(trying: Trying, leaving: readonly Leaving[]): boolean {
  const { problem, plan } = trying;
  const pods = leaving.flatMap((unit) => unit.pods.map((pod) => ({ pod, avoid: unit.avoid })));
  const goals = problem.goal.kind === "place" ? problem.goal.parts : [];
  if ([...pods.map(({ pod }) => pod), ...goals].some(({ kind }) => kind.like !== undefined)) return false;
  if (plan.goalNodes.some((node) => leaving.some(({ avoid }) => !avoid.has(node)))) return false;
  const layout = layoutOf(problem);
  return pods.every(({ pod, avoid }, before) => {
    const nodes = openTo(problem, layout, asScheduled(pod.kind), avoid);
    const own = leaving.some(({ pods: gone }) =>
      gone.some(({ node }) => !avoid.has(node) && isBad(trying, pod.kind, node)),
    );
    return nodes.length > before && !own && !nodes.some((node) => isBad(trying, pod.kind, node));
  });
}

/** A text that is equal for nodes that are the same to every pod that leaves, and to those that the plan is for. */
function signature(
  { nodes }: PlanProblem,
  layout: Layout,
  node: number,
  kinds: readonly PlanPodKind[],
  leaving: readonly Leaving[],
): string {
  const freeCapacity = layout.touched.get(node)?.freeCapacity ?? nodes[node]?.free;
  const physicalGpus = freeCapacity === undefined ? "" : [...freeCapacity.physicalGpus].sort((a, b) => a - b).join();
  const slots =
    freeCapacity === undefined
      ? ""
      : [...freeCapacity.slots]
          .map(([key, { count }]) => `${key}*${count}`)
          .sort()
          .join();
  const takes = kinds.map((kind) => (kind.takes(node) ? 1 : 0)).join("");
  const avoided = leaving.map(({ avoid }) => (avoid.has(node) ? 1 : 0)).join("");
  const gives = leaving.map(({ pods }) => pods.filter((pod) => pod.node === node).length).join();
  return `${physicalGpus}|${slots}|${freeCapacity?.cpuMilli}|${freeCapacity?.memoryBytes}|${takes}|${avoided}|${gives}`;
}

/** Whether the pods that the plan is for have places once all pods that left have theirs. */
function isReached({ problem, plan }: Trying, layout: Layout, leaving: readonly Leaving[]): boolean {
  const { goal } = problem;
  // Nodes that the plan frees are cordoned all the time.
  if (goal.kind === "free") return true;
  const isRuled = goal.parts.some(({ kind }) => kind.like !== undefined);
  if (!isRuled && plan.goalNodes.every((node) => leaving.every(({ avoid }) => avoid.has(node)))) return true;
  let after: Layout | null = layout;
  for (const { kind, pods } of [...goal.parts].sort((a, b) => byLargest(a.kind, b.kind))) {
    for (let i = 0; i < pods && after !== null; i++) {
      const now: Layout = after;
      const [node] = openTo(problem, now, kind, new Set());
      after = node === undefined ? null : place(now, node, kind);
    }
  }
  return after !== null;
}

/**
 * The nodes to cordon for each unit, so that its pods go where the plan puts them; `null` if these are too many, or a pod has
 * no place.
 */
function steered({ problem, plan, base }: Trying, order: readonly number[]): readonly ReadonlySet<number>[] | null {
  const besides: ReadonlySet<number>[] = [];
  let layout: Layout | null = layoutOf(problem);
  for (const unit of order) {
    const pods = problem.units[unit]?.pods ?? [];
    const targets = plan.moves.filter((move) => move.unit === unit);
    const wanted = new Set(targets.map(({ to }) => to));
    layout = takeOff(layout, pods);
    if (layout === null) return null;
    const empty: Layout = layout;
    const others = pods.flatMap(({ kind }) => openTo(problem, empty, asScheduled(kind), base));
    const more = new Set(others.filter((node) => !wanted.has(node)));
    if (more.size > mostCordoned) return null;
    besides.push(more);
    for (const { pod, to } of targets) {
      const kind = pods.find((one) => one.pod === pod)?.kind;
      layout = kind === undefined || layout === null ? null : place(layout, to, kind);
    }
    if (layout === null) return null;
  }
  return besides;
}
