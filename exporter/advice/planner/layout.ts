import { copyFreeCapacity, type FreeCapacity, podsIn, takePod } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import type { PodDemand } from "../../analysis/freeCapacity/podDemand.ts";
import { oncePer } from "../../kernel/once.ts";
import type { Whereabouts } from "../placement/placementRules.ts";
import type { PlanNode, PlanPod, PlanPodKind, PlanProblem, PlanRules, PlanUnit } from "./problem.ts";

/** What has changed on one node. */
interface Touched {
  readonly left: readonly PlanPod[];
  /** Pods that were put here, the largest first: parts of GPUs are packed best in this order. */
  readonly placed: readonly PlanPodKind[];
  readonly freeCapacity: FreeCapacity;
}

/** Nodes with some pods taken off and others put on. A layout is never changed: each change makes a new one. */
export interface Layout {
  readonly nodes: readonly PlanNode[];
  readonly touched: ReadonlyMap<number, Touched>;
  /** Nodes (indices) that take no more pods. */
  readonly closed: ReadonlySet<number>;
  readonly rules: PlanRules | null;
}

/** The layout in which nothing has changed yet. */
export const layoutOf = ({ nodes, rules }: Pick<PlanProblem, "nodes" | "rules">): Layout => ({
  nodes,
  touched: new Map(),
  closed: new Set(),
  rules: rules ?? null,
});

/** Whether one more pod of a kind can be put on a node. */
export function hasPlace(layout: Layout, node: number, kind: PlanPodKind): boolean {
  if (layout.closed.has(node) || !kind.takes(node) || !isAllowed(layout, node, kind)) return false;
  const touched = layout.touched.get(node);
  if (touched !== undefined) return freeCapacityWith(layout, node, touched.left, insert(touched.placed, kind)) !== null;
  const freeCapacity = layout.nodes[node]?.free;
  return freeCapacity !== undefined && podsIn(freeCapacity, kind.demand) > 0;
}

/** The layout with one more pod on a node; `null` if the pod has no place there. */
export function place(layout: Layout, node: number, kind: PlanPodKind): Layout | null {
  if (layout.closed.has(node) || !kind.takes(node) || !isAllowed(layout, node, kind)) return null;
  const { left, placed } = layout.touched.get(node) ?? untouched;
  return touch(layout, node, left, insert(placed, kind));
}

/** Whether the rules about the pods around it allow such a pod on a node. */
function isAllowed(layout: Layout, node: number, { like }: PlanPodKind): boolean {
  const { rules, nodes } = layout;
  if (like === undefined || rules === null) return true;
  return rules.allows(like, nodes[node]?.name ?? "", whereaboutsIn(layout));
}

/** Where the pods of a layout are. A layout is never changed, so this is worked out once. */
const whereaboutsIn = oncePer(({ nodes, touched, rules }: Layout): Whereabouts => {
  const gone = new Set<number>();
  const added: { readonly like: number; readonly node: string }[] = [];
  for (const [node, { left, placed }] of touched) {
    for (const { pod } of left) gone.add(pod);
    for (const { like } of placed) if (like !== undefined) added.push({ like, node: nodes[node]?.name ?? "" });
  }
  return { nodeOf: (pod) => (gone.has(pod) ? null : (rules?.nodeOf(pod) ?? null)), added };
});

/** The layout without these pods, wherever they are; `null` if pods that were placed before no longer have a place. */
export function takeOff(layout: Layout, pods: readonly PlanPod[]): Layout | null {
  let after: Layout | null = layout;
  for (const [node, leaving] of Map.groupBy(pods, (pod) => pod.node)) {
    if (after === null) return null;
    const { left, placed }: Pick<Touched, "left" | "placed"> = after.touched.get(node) ?? untouched;
    after = touch(after, node, [...left, ...leaving], placed);
  }
  return after;
}

/** The layout in which a node takes no more pods. */
export const close = (layout: Layout, node: number): Layout => ({
  ...layout,
  closed: new Set(layout.closed).add(node),
});

/** Physical GPUs that are free on a node. */
export const freeOn = (layout: Layout, node: number): number =>
  layout.touched.get(node)?.freeCapacity.gpus ?? layout.nodes[node]?.free.gpus ?? 0;

const untouched = { left: [], placed: [] } as const;

function touch(layout: Layout, node: number, left: readonly PlanPod[], placed: readonly PlanPodKind[]): Layout | null {
  const freeCapacity = freeCapacityWith(layout, node, left, placed);
  if (freeCapacity === null) return null;
  return { ...layout, touched: new Map(layout.touched).set(node, { left, placed, freeCapacity }) };
}

function freeCapacityWith(
  { nodes }: Layout,
  node: number,
  left: readonly PlanPod[],
  placed: readonly PlanPodKind[],
): FreeCapacity | null {
  const before = nodes[node]?.free;
  if (before === undefined) return null;
  const freeCapacity = copyFreeCapacity(before);
  for (const pod of left) giveBack(freeCapacity, pod);
  for (const { demand } of placed) {
    if (podsIn(freeCapacity, demand) === 0) return null;
    takePod(freeCapacity, demand);
  }
  return freeCapacity;
}

function giveBack(freeCapacity: FreeCapacity, { gives, kind }: PlanPod): void {
  freeCapacity.gpus += gives.gpus;
  freeCapacity.cpuMilli += kind.demand.cpuMilli;
  freeCapacity.memoryBytes += kind.demand.memoryBytes;
  for (const [physicalGpu, share] of gives.physicalGpus)
    freeCapacity.physicalGpus[physicalGpu] = (freeCapacity.physicalGpus[physicalGpu] ?? 0) + share;
  for (const [key, { count, gpus }] of gives.slots) {
    const free = freeCapacity.slots.get(key) ?? { count: 0, gpus: 0 };
    freeCapacity.slots = new Map(freeCapacity.slots).set(key, { count: free.count + count, gpus: free.gpus + gpus });
  }
}

function insert(placed: readonly PlanPodKind[], kind: PlanPodKind): readonly PlanPodKind[] {
  const after = placed.findIndex(({ demand }) => isLarger(kind.demand, demand));
  return after < 0 ? [...placed, kind] : [...placed.slice(0, after), kind, ...placed.slice(after)];
}

/** Whether `a` is the larger demand: larger parts of GPUs come first, then more GPUs, then more CPU. */
export const isLarger = (a: PodDemand, b: PodDemand): boolean =>
  a.share !== b.share ? a.share > b.share : a.gpus !== b.gpus ? a.gpus > b.gpus : a.cpuMilli > b.cpuMilli;

/** The nodes as they would be without any of these units. */
export function clearedNodes(nodes: readonly PlanNode[], units: readonly PlanUnit[]): readonly PlanNode[] {
  const freeCapacities = nodes.map(({ free }) => copyFreeCapacity(free));
  for (const { pods } of units) {
    for (const pod of pods) {
      const freeCapacity = freeCapacities[pod.node];
      if (freeCapacity !== undefined) giveBack(freeCapacity, pod);
    }
  }
  return nodes.map((node, i) => ({ ...node, free: freeCapacities[i] ?? node.free }));
}
