import type { PoolPlacement } from "../../analysis/placement/poolPlacement.ts";
import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import { isOnUnknownDevice } from "../../join/unknownDevice.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { WithheldAdvice } from "../../model/recommendation.ts";
import type { Candidate, Found, MadeCandidate } from "../candidate.ts";
import { emptyNodeWords, removableNodes } from "../emptyNodes.ts";
import { mostCordoned } from "../planner/carryOut.ts";
import type { MoveField } from "../planner/moveField.ts";
import type { PlanPodKind, PlanProblem } from "../planner/problem.ts";
import { amount } from "../planner/whyNot.ts";
import type { Outcome } from "../whatIf/trial.ts";
import type { Planning } from "./moveFields.ts";
import { planMoves } from "./plannedMoves.ts";
import { isWaitingUnknown } from "./waitsForNodes.ts";
import { hourlyCostWords } from "./words.ts";

/**
 * Finds pods to move so that one more node of a pool is wholly free and its autoscaler removes it: the gain is that the node is
 * no longer paid for. A node is freed only if nothing waits that the pool could serve, because such work has a better use for
 * the GPUs; `planForGang` handles work that needs a whole node. GPUs that were free before are no gain.
 */
export function findFreedNodes(planning: Planning, most: number): Found {
  const { placement, snapshot } = planning.moment.analysis;
  const candidates: Candidate[] = [];
  const withheld: WithheldAdvice[] = [];
  if (isWaitingUnknown(snapshot)) return { candidates, withheld };
  const scattered = placement.pools.filter(
    ({ wholeFreeNodes, possibleWholeFreeNodes }) => possibleWholeFreeNodes > wholeFreeNodes,
  );
  if (scattered.length === 0 || most <= 0) return { candidates, withheld };
  const { removable, refused } = removableNodes(planning.moment.analysis);
  const byPool = nodesByPool(removable);
  const left = scattered
    .filter(({ pool }) => !isWaitedFor(snapshot, pool))
    .map((placed) => ({ ...placed, own: byPool.get(placed.pool) ?? [] }))
    .filter(({ own }) => own.length > 0)
    .sort((a, b) => gainOf(b) - gainOf(a) || compareText(a.pool, b.pool));
  const looked = new Set(left.map(({ pool }) => pool));
  for (const { pool } of scattered) {
    if (looked.has(pool)) continue;
    const kept = snapshot.nodes.find(({ pools, nodePool }) => refused.has(nodePool) && pools.includes(pool));
    const why = refused.get(kept?.nodePool ?? "");
    if (why !== undefined)
      withheld.push({
        kind: "defragment",
        subject: pool,
        why: "no-plan",
        reason: `No node of ${pool} is freed: ${why}.`,
      });
  }
  for (const { pool } of left.splice(mostPools)) withheld.push(notLookedAt(pool));
  for (const { pool, wholeFreeNodes, possibleWholeFreeNodes, own } of left) {
    if (candidates.length >= most) break;
    const field = planning.fieldOf({ pool });
    if (field === null) continue;
    const found = freeNode(planning, { field, pool, counts: [wholeFreeNodes, possibleWholeFreeNodes] }, own);
    if ("plan" in found) candidates.push(found);
    else withheld.push(found);
  }
  return { candidates, withheld };
}

/** The most pools in one cycle in which a node to free is searched for. */
const mostPools = 2;

function nodesByPool(nodes: readonly NodeView[]): ReadonlyMap<string, readonly NodeView[]> {
  const byPool = new Map<string, NodeView[]>();
  for (const node of nodes)
    for (const pool of node.pools) {
      const own = byPool.get(pool) ?? [];
      if (own.push(node) === 1) byPool.set(pool, own);
    }
  return byPool;
}

/** How many nodes could be wholly free besides those that already are. */
const gainOf = ({
  wholeFreeNodes,
  possibleWholeFreeNodes,
}: Pick<PoolPlacement, "wholeFreeNodes" | "possibleWholeFreeNodes">): number => possibleWholeFreeNodes - wholeFreeNodes;

const notLookedAt = (pool: string): WithheldAdvice => ({
  kind: "defragment",
  subject: pool,
  why: "no-plan",
  reason: `Nodes to free are looked for in ${mostPools} pools in one cycle: in others more nodes could be wholly free.`,
});

/** Whether something waits that may go to the pool. */
function isWaitedFor({ queueing }: Snapshot, pool: string): boolean {
  return queueing.gangs.some(
    ({ scheduler, parts, never }) =>
      never === null &&
      parts.some(
        ({ domain, gpusPerPod }) =>
          gpusPerPod !== 0 &&
          (scheduler === "none" || domain === null || queueing.domains[domain]?.pools.includes(pool) === true),
      ),
  );
}

interface PoolToFree {
  readonly field: MoveField;
  readonly pool: string;
  /** The number of wholly free nodes now, and after the plan. */
  readonly counts: readonly [now: number, possible: number];
}

function freeNode(planning: Planning, { field, pool, counts }: PoolToFree, own: readonly NodeView[]): MadeCandidate {
  const { moment } = planning;
  const { snapshot, prices } = moment.analysis;
  const names = new Set(own.map(({ name }) => name));
  const allocated = (node: number): boolean => isAllocated(snapshot, field.nodeIndexes[node] ?? -1);
  const isOpen = (node: number): boolean => snapshot.nodes[field.nodeIndexes[node] ?? -1]?.schedulable !== false;
  const nodes = field.nodes.flatMap(({ name }, node) =>
    names.has(name) && allocated(node) && isOpen(node) ? [node] : [],
  );
  // Pods with an estimated holding are never moved. A node with such pods is tried only if there is no other, so that the
  // reason is reported.
  const sure = nodes.filter((node) => !hasEstimated(snapshot, field.nodeIndexes[node] ?? -1));
  const whole = wholeFree(snapshot, field);
  const toFree = (goalNodes: readonly number[]): ReadonlySet<number> =>
    new Set(goalNodes.flatMap((node) => field.nodeIndexes[node] ?? []));
  const moves = planMoves(planning, {
    field,
    goal: { kind: "free", nodes: sure.length > 0 ? sure : nodes, count: 1 },
    units: onlyTo(field, allocated),
    quotaGpus: Infinity,
    beneficiary: null,
    isOwn: () => false,
    limits: { cordoned: whole.size <= mostCordoned ? [...whole] : [], spoils: whole },
    starts: [],
    reaches: ({ moved }, { goalNodes }) => {
      const left = toFree(goalNodes);
      return netFreed(snapshot, left, whole, moved) >= gpusOf(snapshot, left);
    },
    failure: `No node of ${pool} can be freed`,
    purpose: "free a node",
  });
  if (!moves.ok) return { kind: "defragment", subject: pool, why: moves.why, reason: moves.reason };
  const { found, words } = moves;
  const left = toFree(found.goalNodes);
  const freed = [...left].flatMap((index) => snapshot.nodes[index] ?? []);
  const freedNames = freed.map(({ name }) => name).join(", ");
  const removed = [...new Set(freed.map(({ nodePool }) => emptyNodeWords(snapshot, nodePool)))].join(" and ");
  const price = hourlyCostWords(prices, new Map(freed.map((node) => [node.name, node.physicalGpus ?? 0])));
  const lost = `${found.lostGpuHours.toFixed(1)} GPU-hours`;
  return {
    kind: "defragment",
    beneficiary: { kind: "pool", name: pool },
    title: `move ${words}: then ${freedNames} is empty and is removed`,
    reason: `${counts[0]} nodes of ${pool} are wholly free; with the same pods on fewer nodes up to ${counts[1]} could be. Nothing waits for them, and ${removed}: ${freedNames} (${amount(gpusOf(snapshot, left))}${price === "" ? "" : `, ${price}`}) is no longer paid for. The move costs ${lost} of work that is done again.`,
    evidence: [
      { name: "whole free nodes", value: `${counts[0]}` },
      { name: "whole free nodes if all were packed", value: `at most ${counts[1]}` },
      { name: "work done again", value: lost },
      { name: "pods moved", value: `${found.moves.length}` },
    ],
    forTeam: "",
    queue: "",
    pool,
    plan: {
      ...moves.plan,
      changes: [...moves.plan.changes, ...[...left].map((node) => ({ kind: "removeNode" as const, node }))],
    },
    gainedGpus: ({ moved }) => netFreed(snapshot, left, whole, moved),
    unused: freed.map((node) => ({
      node: node.name,
      gpus: node.physicalGpus ?? 0,
      since: allocatedSince(snapshot, node),
    })),
    measuredBy: {
      kind: "nodes-removed",
      nodes: freed.map(({ name, physicalGpus }) => ({ name, gpus: physicalGpus ?? 0 })),
    },
    ...moves.parts,
  };
}

/** Physical GPUs of nodes (indices). */
const gpusOf = ({ nodes }: Snapshot, indexes: Iterable<number>): number =>
  [...indexes].reduce((sum, index) => sum + (nodes[index]?.physicalGpus ?? 0), 0);

/** Since when a node has had its present pods, seconds since the epoch: before that, it may have been needed whole. */
function allocatedSince({ at, pods, devices }: Snapshot, node: NodeView): number {
  const holders = node.devices.flatMap((device) => devices[device]?.holders ?? []);
  return Math.max(0, ...holders.map(({ pod }) => pods[pod]?.boundAt ?? at));
}

/**
 * The units of a field, without places for their pods on wholly free nodes: otherwise the gain on one node would be lost on
 * another.
 */
function onlyTo(field: MoveField, takes: (node: number) => boolean): PlanProblem["units"] {
  const kinds = new Map<PlanPodKind, PlanPodKind>();
  const narrowed = (kind: PlanPodKind): PlanPodKind => {
    const known = kinds.get(kind) ?? { ...kind, takes: (node: number) => takes(node) && kind.takes(node) };
    kinds.set(kind, known);
    return known;
  };
  return field.units.map((unit) => ({
    ...unit,
    pods: unit.pods.map((pod) => ({ ...pod, kind: narrowed(pod.kind) })),
  }));
}

function isAllocated({ nodes, devices }: Snapshot, index: number): boolean {
  return nodes[index]?.devices.some((device) => (devices[device]?.holders.length ?? 0) > 0) === true;
}

/** Whether it is not known which devices of a node are allocated. */
function hasEstimated({ nodes, devices }: Snapshot, index: number): boolean {
  return nodes[index]?.devices.some((device) => devices[device]?.holders.some(isOnUnknownDevice)) === true;
}

/** Indices into `Snapshot.nodes` of the nodes of the field on which nothing is allocated. */
function wholeFree(snapshot: Snapshot, { nodeIndexes }: MoveField): ReadonlySet<number> {
  return new Set(
    nodeIndexes.filter((index) => snapshot.nodes[index]?.schedulable !== false && !isAllocated(snapshot, index)),
  );
}

/**
 * Physical GPUs of the nodes of the goal that no pod enters, minus those of wholly free nodes that pods enter; 0 where a pod
 * finds no place.
 */
function netFreed(
  snapshot: Snapshot,
  goal: ReadonlySet<number>,
  whole: ReadonlySet<number>,
  moved: Outcome["moved"],
): number {
  if (moved.some(({ to }) => to === null)) return 0;
  const taken = new Set(moved.map(({ to }) => to));
  const entered = [...whole].filter((index) => taken.has(index));
  const stayingFree = [...goal].filter((index) => !taken.has(index));
  return Math.max(0, gpusOf(snapshot, stayingFree) - gpusOf(snapshot, entered));
}
