import type { PoolPlacement } from "../../analysis/placement/poolPlacement.ts";
import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import { isOnUnknownDevice } from "../../join/unknownDevice.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { WithheldAdvice } from "../../model/recommendation.ts";
import type { Candidate, Found } from "../candidate.ts";
import { emptyNodeWords, removableNodes } from "../emptyNodes.ts";
import type { AdviceMoment } from "../moment.ts";
import { mostCordoned } from "../planner/carryOut.ts";
import { findPlan } from "../planner/findPlan.ts";
import type { MoveField } from "../planner/moveField.ts";
import type { PlanGoal, PlanPodKind, PlanProblem } from "../planner/problem.ts";
import { amount } from "../planner/whyNot.ts";
import type { Outcome, Trial } from "../whatIf/trial.ts";
import { createCarry } from "./carryMoves.ts";
import type { FieldOf, LookBudget } from "./moveFields.ts";
import { askedGuards, createVetoes, type MoveTools } from "./moveTools.ts";
import { guardedAlternatives, refusal, whyOf } from "./planForGang.ts";
import { confidenceInMoves, leftSign, moveWords, plannedMoves, targetsOf, teamOfUnits } from "./plannedMoves.ts";
import { isWaitingUnknown } from "./waitsForNodes.ts";
import { hourlyCostWords } from "./words.ts";

/**
 * Finds pods to move so that one more node of a pool is wholly free and its autoscaler removes it: the gain is that the node
 * is no longer paid for. It does so only if nothing waits that the pool could serve, because such work has a better use for
 * the GPUs; `planForGang` handles work that needs a whole node. GPUs that were free before are no gain.
 */
export function findFreedNodes(
  moment: AdviceMoment,
  trial: Trial,
  tools: MoveTools,
  fieldOf: FieldOf,
  looks: LookBudget,
  most: number,
): Found {
  const { placement, snapshot } = moment.analysis;
  const candidates: Candidate[] = [];
  const withheld: WithheldAdvice[] = [];
  if (isWaitingUnknown(snapshot)) return { candidates, withheld };
  const scattered = placement.pools.filter(
    ({ wholeFreeNodes, possibleWholeFreeNodes }) => possibleWholeFreeNodes > wholeFreeNodes,
  );
  if (scattered.length === 0 || most <= 0) return { candidates, withheld };
  const { removable: shrinking, refused } = removableNodes(moment.analysis);
  const left = scattered
    .filter(({ pool }) => !isWaitedFor(snapshot, pool))
    .map((placed) => ({ ...placed, own: snapshot.nodes.filter(isOf(placed.pool, shrinking)) }))
    .filter(({ own }) => own.length > 0)
    .sort((a, b) => gainOf(b) - gainOf(a) || compareText(a.pool, b.pool));
  for (const { pool } of scattered) {
    const why = snapshot.nodes.flatMap((node) =>
      node.pools.includes(pool) ? (refused.get(node.nodePool) ?? []) : [],
    )[0];
    if (why !== undefined && !left.some((one) => one.pool === pool))
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
    const field = fieldOf({ pool });
    if (field === null) continue;
    const found = freeNode(
      { moment, trial, tools, field, looks, pool, counts: [wholeFreeNodes, possibleWholeFreeNodes] },
      own,
    );
    if ("plan" in found) candidates.push(found);
    else withheld.push(found);
  }
  return { candidates, withheld };
}

/** The most pools in one cycle in which it searches for a node that could be freed. */
const mostPools = 2;

const isOf =
  (pool: string, names: ReadonlySet<string>) =>
  ({ pools, name }: NodeView): boolean =>
    pools.includes(pool) && names.has(name);

/** Nodes that could be wholly free besides those that are. */
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

/** Something waits that may go to the pool. */
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

interface PoolPlanning {
  readonly moment: AdviceMoment;
  readonly trial: Trial;
  readonly tools: MoveTools;
  readonly field: MoveField;
  readonly looks: LookBudget;
  readonly pool: string;
  /** Whole free nodes now, and after the plan. */
  readonly counts: readonly [now: number, possible: number];
}

function freeNode(
  { moment, trial, tools, field, looks, pool, counts }: PoolPlanning,
  own: readonly NodeView[],
): Candidate | WithheldAdvice {
  const { analysis, settings } = moment;
  const { snapshot } = analysis;
  const none = (reason: string, why: WithheldAdvice["why"] = "no-plan"): WithheldAdvice => ({
    kind: "defragment",
    subject: pool,
    why,
    reason,
  });
  const names = new Set(own.map(({ name }) => name));
  const allocated = (node: number): boolean => isAllocated(snapshot, field.nodeIndexes[node] ?? -1);
  const isOpen = (node: number): boolean => snapshot.nodes[field.nodeIndexes[node] ?? -1]?.schedulable !== false;
  const nodes = field.nodes.flatMap(({ name }, node) =>
    names.has(name) && allocated(node) && isOpen(node) ? [node] : [],
  );
  // Pods with an estimated holding are never moved: such a node is tried only if there is no other, so that the reason
  // is reported.
  const sure = nodes.filter((node) => !hasEstimated(snapshot, field.nodeIndexes[node] ?? -1));
  const goal: PlanGoal = { kind: "free", nodes: sure.length > 0 ? sure : nodes, count: 1 };
  const whole = wholeFree(snapshot, field);
  const base = {
    nodes: field.nodes,
    units: onlyTo(field, allocated),
    fixedNodes: field.fixedNodes,
    goal,
    quotaGpus: Infinity,
    maxMoves: settings.maxMoves,
    rules: field.rules,
  };
  const cordoned = whole.size <= mostCordoned ? [...whole] : [];
  const carry = createCarry(moment, field, base, { cordoned, spoils: whole });
  const problem: PlanProblem = {
    ...base,
    refusalOf: (plan) => refusal(carry(plan)),
    vetoesOf: createVetoes(moment, field, null, tools),
  };
  const answer = findPlan(problem, looks.limits());
  looks.spend(answer.looks);
  if (answer.plan === null) return none(`No node of ${pool} can be freed: ${answer.noPlan?.words}.`, whyOf(answer));
  const freed = answer.plan.goalNodes.flatMap((node) => snapshot.nodes[field.nodeIndexes[node] ?? -1] ?? []);
  const left = new Set(answer.plan.goalNodes.flatMap((node) => field.nodeIndexes[node] ?? []));
  const gpusFreed = ({ moved }: Pick<Outcome, "moved">): number => netFreed(snapshot, left, whole, moved);
  const gpus = freed.reduce((sum, { physicalGpus }) => sum + (physicalGpus ?? 0), 0);
  const carried = carry(answer.plan);
  if (typeof carried === "string") return none(`No node of ${pool} can be freed: ${carried}.`);
  const moves = plannedMoves(field, carried, [], trial, (outcome) => gpusFreed(outcome) >= gpus);
  const words = moveWords(analysis, field, answer.plan);
  if (moves === null)
    return none(`To move ${words} would free a node, but the scheduler may place the pods so that it does not.`);
  const steps = tools.movePods(
    moment,
    moves.sources.map(({ pods }) => pods),
    moves.avoid,
    moves.besides,
  );
  if (!steps.ok) return none(`${words} cannot be moved: ${steps.reason}.`);
  const freedNames = freed.map(({ name }) => name);
  const removed = [...new Set(freed.map(({ nodePool }) => emptyNodeWords(snapshot, nodePool)))].join(" and ");
  const price = hourlyCostWords(analysis.prices, new Map(freed.map((node) => [node.name, node.physicalGpus ?? 0])));
  const lost = answer.plan.lostGpuHours.toFixed(1);
  return {
    kind: "defragment",
    beneficiary: { kind: "pool", name: pool },
    targets: targetsOf(snapshot, moves.sources),
    title: `move ${words}: then ${freedNames.join(", ")} is empty and is removed`,
    reason: `${counts[0]} nodes of ${pool} are wholly free; with the same pods on fewer nodes up to ${counts[1]} could be. Nothing waits for them, and ${removed}: ${freedNames.join(", ")} (${amount(gpus)}${price === "" ? "" : `, ${price}`}) is no longer paid for. The move costs ${lost} GPU-hours of work that is done again.`,
    evidence: [
      { name: "whole free nodes", value: `${counts[0]}` },
      { name: "whole free nodes if all were packed", value: `at most ${counts[1]}` },
      { name: "work done again", value: `${lost} GPU-hours` },
      { name: "pods moved", value: `${answer.plan.moves.length}` },
    ],
    fromTeam: teamOfUnits(snapshot, moves.sources),
    forTeam: "",
    queue: "",
    pool,
    plan: {
      ...moves.plan,
      changes: [...moves.plan.changes, ...[...left].map((node) => ({ kind: "removeNode" as const, node }))],
    },
    steps: steps.steps,
    disrupted: moves.sources.flatMap(({ pods }) => pods),
    gainedGpus: gpusFreed,
    unused: freed.map((node) => ({
      node: node.name,
      gpus: node.physicalGpus ?? 0,
      since: allocatedSince(snapshot, node),
    })),
    confidence: confidenceInMoves(answer, moves),
    guards: askedGuards,
    blockedAlternatives: answer.metGuards ? guardedAlternatives(moment, field, problem, answer, looks) : [],
    signs: [leftSign(snapshot, moves.sources)],
    measuredBy: {
      kind: "nodes-removed",
      nodes: freed.map(({ name, physicalGpus }) => ({ name, gpus: physicalGpus ?? 0 })),
    },
  };
}

/** Since when a node has had its present pods, seconds since the epoch: before that, it may have been needed whole. */
function allocatedSince({ at, pods, devices }: Snapshot, node: NodeView): number {
  const holders = node.devices.flatMap((device) => devices[device]?.holders ?? []);
  return Math.max(0, ...holders.map(({ pod }) => pods[pod]?.boundAt ?? at));
}

/** Units none of whose pods goes to a wholly free node: otherwise the gain on one node would be lost on the other. */
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

/** It is not known which of its devices are allocated. */
function hasEstimated({ nodes, devices }: Snapshot, index: number): boolean {
  return nodes[index]?.devices.some((device) => devices[device]?.holders.some(isOnUnknownDevice)) === true;
}

/** Indices into `Snapshot.nodes` of those on which nothing is allocated. */
function wholeFree(snapshot: Snapshot, { nodeIndexes }: MoveField): ReadonlySet<number> {
  return new Set(
    nodeIndexes.filter((index) => snapshot.nodes[index]?.schedulable !== false && !isAllocated(snapshot, index)),
  );
}

/** GPUs of the nodes that all pods have left and none has entered, minus those of free nodes that pods have entered. */
function netFreed(
  { nodes }: Snapshot,
  goal: ReadonlySet<number>,
  whole: ReadonlySet<number>,
  moved: Outcome["moved"],
): number {
  const taken = new Set(moved.map(({ to }) => to));
  const gpusOf = (index: number): number => nodes[index]?.physicalGpus ?? 0;
  let net = 0;
  for (const index of goal) if (!taken.has(index)) net += gpusOf(index);
  for (const index of whole) if (taken.has(index)) net -= gpusOf(index);
  return moved.some(({ to }) => to === null) ? 0 : Math.max(0, net);
}
