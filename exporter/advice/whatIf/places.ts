import type { Analysis } from "../../analysis/analysis.ts";
import {
  type FreeCapacity,
  type NodeFreeCapacity,
  nodeFreeCapacity,
  podsIn,
} from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { takesNow } from "../../analysis/freeCapacity/nodeRules.ts";
import { demandKey, type PodDemand, rulesKey } from "../../analysis/freeCapacity/podDemand.ts";
import { classIn, isInDomain } from "../../join/queues/domainOfNode.ts";
import type { NodeView } from "../../join/snapshot.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { type InOrder, momentOrder } from "../momentOrder.ts";
import { placementRulesOf, type Whereabouts } from "../placement/placementRules.ts";
import type { ClusterCopy } from "./clusterCopy.ts";
import type { PlacementRule } from "./plan.ts";

/** A pod for which a node is searched. */
export interface PlaceAsked {
  readonly demand: PodDemand;
  readonly needs: PodNeeds;
  /** Index of the quota domain whose pools it may use; `null`: any. */
  readonly domain: number | null;
  readonly rule: PlacementRule;
  /** Index into `Snapshot.pods` of the pod, if rules about the pods around it count. */
  readonly pod?: number;
  /** Nodes (indices) where it must not go. */
  readonly avoid?: ReadonlySet<number>;
  /** Indices of the only classes of the domain that the pod may use; `null` or absent: all classes. */
  readonly classes?: readonly number[] | null;
}

/** Finds nodes for pods of one moment. What nodes had at its beginning is looked up only once for pods that are alike. */
export interface Places {
  /** The node (index) that a scheduler would choose; `null` if no node takes the pod. */
  find(copy: ClusterCopy, asked: PlaceAsked): number | null;
  /** Makes a check whether a pool on a node is in a domain (`null`: any), and in one of these classes of it (`null`: any). */
  isIn(domain: number | null, classes?: readonly number[] | null): (pool: string, node: string) => boolean;
}

type IsIn = ReturnType<Places["isIn"]>;

/** A node that takes a pod, with its free physical GPUs. */
interface Candidate {
  readonly node: number;
  readonly name: string;
  readonly free: number;
}

/** What a node had free in some pools before anything was changed. */
interface FreeNode {
  readonly node: number;
  readonly view: NodeView;
  readonly freeCapacity: FreeCapacity;
}

interface Candidates {
  readonly fewestFirst: readonly Candidate[];
  mostFirst: readonly Candidate[] | null;
}

/** The most kinds of pods that are remembered at once. */
const mostKinds = 500;

/** Makes the finder of places for a moment. */
export function createPlaces(analysis: Analysis): Places {
  const { nodes, queueing } = analysis.snapshot;
  const known = new Map<string, Candidates>();
  const freeIn = new Map<string, readonly FreeNode[]>();
  const rules = placementRulesOf(analysis.snapshot);
  const anyPool = () => true;
  // Among nodes with equally much free, the first in the order of the moment is chosen.
  const byNode: InOrder = (a, b) => momentOrder(analysis).nodes(a, b);
  const fewestFirst: CompareNodes = (a, b) => steps(a.free) - steps(b.free) || byNode(a.node, b.node);
  const mostFirst: CompareNodes = (a, b) => steps(b.free) - steps(a.free) || byNode(a.node, b.node);
  const inDomain = queueing.domains.map((own) => (pool: string, node: string) => isInDomain(own, pool, node));
  const isIn: Places["isIn"] = (domain, classes = null) => {
    const [own, view] = [inDomain[domain ?? -1] ?? anyPool, queueing.domains[domain ?? -1]];
    if (classes === null || view?.classes === undefined) return own;
    return (pool, node) => own(pool, node) && classes.includes(classIn(view, pool, node));
  };

  function freeNodesIn(domain: number | null, classes: PlaceAsked["classes"], key: string): readonly FreeNode[] {
    const before = freeIn.get(key);
    if (before !== undefined) return before;
    const found: FreeNode[] = [];
    const isInside = isIn(domain, classes);
    for (let node = 0; node < nodes.length; node += 1) {
      const freeCapacity = freeCapacityBefore(analysis, node, isInside);
      const view = nodes[node];
      if (view !== undefined && freeCapacity !== null) found.push({ node, view, freeCapacity });
    }
    freeIn.set(key, found);
    return found;
  }

  function candidatesFor(asked: PlaceAsked): Candidates {
    const where = `${asked.domain}/${asked.classes?.join() ?? ""}`;
    const key = `${where}|${demandKey(asked.demand)}|${rulesKey(asked.needs)}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const found: Candidate[] = [];
    for (const { node, view, freeCapacity } of freeNodesIn(asked.domain, asked.classes, where))
      if (takes(freeCapacity, view, asked)) found.push({ node, name: view.name, free: freeCapacity.gpus });
    const made: Candidates = { fewestFirst: found.sort(fewestFirst), mostFirst: null };
    if (known.size >= mostKinds) known.clear();
    known.set(key, made);
    return made;
  }

  return {
    isIn,
    find(copy, asked) {
      const { rule, avoid, pod } = asked;
      const where: Whereabouts = { nodeOf: (other) => copy.pods[other]?.node ?? null, added: [] };
      const isRuled = pod !== undefined && rules.concerns(pod);
      if (isRuled && rules.isUndecided(pod)) return null;
      const mayBeOn = (name: string): boolean => !isRuled || rules.allows(pod, name, where);
      const better = rule === "mostAllocated" ? fewestFirst : mostFirst;
      let best: Candidate | null = null;
      const offer = (node: number): void => {
        const view = copy.nodes[node];
        if (view === undefined || avoid?.has(node)) return;
        const freeCapacity = freeCapacityNow(copy, node, isIn(asked.domain, asked.classes));
        if (freeCapacity === null || !takes(freeCapacity, view, asked) || !mayBeOn(view.name)) return;
        const one = { node, name: view.name, free: freeCapacity.gpus };
        if (best === null || better(one, best) < 0) best = one;
      };
      const candidates = candidatesFor(asked);
      candidates.mostFirst ??= rule === "mostAllocated" ? null : candidates.fewestFirst.toSorted(mostFirst);
      const inOrder = rule === "mostAllocated" ? candidates.fewestFirst : (candidates.mostFirst ?? []);
      const untouched = inOrder.find(({ node, name }) => !copy.touched.has(node) && !avoid?.has(node) && mayBeOn(name));
      for (const node of copy.touched) offer(node);
      const changed: Candidate | null = best;
      if (untouched === undefined) return nodeOf(changed);
      return changed === null || better(untouched, changed) < 0 ? untouched.node : nodeOf(changed);
    },
  };
}

const nodeOf = (candidate: Candidate | null): number | null => candidate?.node ?? null;

/** An amount in steps, so that free amounts which differ only by rounding are equal. */
const steps = (free: number): number => Math.round(free * 1e6);
type CompareNodes = (a: Candidate, b: Candidate) => number;

const takes = (freeCapacity: FreeCapacity, node: NodeFreeCapacity["node"], { demand, needs }: PlaceAsked): boolean =>
  podsIn(freeCapacity, demand) > 0 && takesNow(node, needs);

/** What a node had free in some pools before anything was changed. */
function freeCapacityBefore({ snapshot, freeCapacities }: Analysis, node: number, isIn: IsIn): FreeCapacity | null {
  const view = snapshot.nodes[node];
  const own = (freeCapacities.byNode[node] ?? []).filter(({ pool }) => isIn(pool, view?.name ?? ""));
  if (own.length <= 1 || view === undefined) return own[0]?.now ?? null;
  const requests = snapshot.requestsByNode?.get(view.name) ?? noRequests;
  return nodeFreeCapacity(snapshot, view, snapshot.requestsByNode === null ? null : requests, (pool) =>
    isIn(pool, view.name),
  ).now;
}

const noRequests = { pods: 0, cpuMilli: 0, memoryBytes: 0 } as const;

/** What a node has free in some pools now. */
function freeCapacityNow(copy: ClusterCopy, node: number, isIn: IsIn): FreeCapacity | null {
  const view = copy.nodes[node];
  if (view === undefined) return null;
  return nodeFreeCapacity(copy.live, view, copy.requestsOf(view.name), (pool) => isIn(pool, view.name)).now;
}
