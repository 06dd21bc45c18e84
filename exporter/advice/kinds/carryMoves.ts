import { podsIn } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { takesNow } from "../../analysis/freeCapacity/nodeRules.ts";
import { podDemand } from "../../analysis/freeCapacity/podDemand.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { type CarriedOut, type CarryLooks, carryOut, mostCordoned } from "../planner/carryOut.ts";
import { isWorseCapacity, type MoveField } from "../planner/moveField.ts";
import type { FoundPlan, PlanProblem } from "../planner/problem.ts";
import { moveWords } from "./plannedMoves.ts";

/** A plan with a way to carry it out; nodes are indices into `Snapshot.nodes`. */
export interface Carried extends Pick<CarriedOut, "order" | "avoid" | "besides"> {
  readonly plan: FoundPlan;
}

/** Returns how a plan is carried out, or why it cannot be, as part of a sentence. */
export type Carry = (plan: FoundPlan) => Carried | string;

/** What must not happen while a plan is carried out; nodes are indices into `Snapshot.nodes`. */
export interface CarryLimits {
  /** Nodes that stay cordoned all the time, besides those of the goal. */
  readonly cordoned: readonly number[];
  /** A pod that is placed on one of these nodes undoes the gain. */
  readonly spoils: ReadonlySet<number>;
}

/**
 * Searches for a way to carry out a plan that works wherever the scheduler puts the pods, and that moves no pod to worse
 * capacity: if there are only a few nodes with such capacity, they are cordoned meanwhile. Each plan is examined once.
 */
export function createCarry(
  moment: AdviceMoment,
  field: MoveField,
  problem: Omit<PlanProblem, "vetoesOf">,
  { cordoned, spoils }: CarryLimits,
  looks: CarryLooks,
): Carry {
  const placeOf = new Map(field.nodeIndexes.map((index, place) => [index, place] as const));
  const inField = (indexes: Iterable<number>): readonly number[] =>
    [...indexes].flatMap((index) => placeOf.get(index) ?? []);
  const toIndexes = (nodes: readonly number[]): readonly number[] =>
    nodes.flatMap((node) => field.nodeIndexes[node] ?? []);
  const known = new Map<string, Carried | string>();
  const asked: PlanProblem = { ...problem, vetoesOf: () => [] };

  const look = (plan: FoundPlan): Carried | string => {
    const worse = worseNodes(moment, plan).toSorted(momentOrder(moment.analysis).nodes);
    if (worse.length > mostCordoned) return worseWords(moment, plan, worse);
    const away = [...new Set([...cordoned, ...worse])];
    const found = carryOut(asked, plan, { cordoned: inField(away), spoils: new Set(inField(spoils)) }, looks);
    if (typeof found === "string") {
      const moves = moveWords(moment.analysis.snapshot, field, plan);
      return found === "no order"
        ? `to move ${moves} would free enough, but the scheduler may place the pods so that it does not`
        : `to move ${moves} would free enough, but there are too many ways in which the scheduler may place the pods to know that it does`;
    }
    const outside = away.filter((index) => !placeOf.has(index));
    return {
      plan,
      order: found.order,
      avoid: [...toIndexes(found.avoid), ...outside],
      besides: found.besides.map(toIndexes),
    };
  };
  return (plan) => {
    const key = JSON.stringify([plan.units, plan.moves.map(({ to }) => to), plan.goalNodes]);
    const carried = known.get(key) ?? look(plan);
    known.set(key, carried);
    return carried;
  };
}

/**
 * Nodes (indices into `Snapshot.nodes`) with enough free capacity for a pod that moves, on which the pod would be worse off.
 */
function worseNodes({ analysis }: AdviceMoment, { moves }: FoundPlan): readonly number[] {
  const { snapshot, freeCapacities } = analysis;
  const leaving = moves.flatMap(({ pod }) => {
    const view = snapshot.pods[pod];
    if (view === undefined || view.needs === null || view.gpus === null) return [];
    const { needs, gpus, node } = view;
    return [{ needs, demand: podDemand(gpus, needs), node, from: { capacityType: capacityOf(analysis, node) } }];
  });
  return snapshot.nodes.flatMap((node, index) => {
    const free = (freeCapacities.byNode[index] ?? []).flatMap(({ now }) => now ?? []);
    const mayLand = leaving.some(
      ({ needs, demand, from, node: left }) =>
        left !== node.name &&
        isWorseCapacity(from, node) &&
        takesNow(node, needs) &&
        free.some((freeCapacity) => podsIn(freeCapacity, demand) > 0),
    );
    return mayLand ? [index] : [];
  });
}

const capacityOf = ({ snapshot }: AdviceMoment["analysis"], name: string | null) =>
  snapshot.nodes.find((node) => node.name === name)?.capacityType ?? null;

/**
 * Part of a sentence: `ads/a would leave on-demand capacity, and the scheduler may put it on n3 and n4, whose capacity is spot
 * or not known`.
 */
function worseWords({ analysis }: AdviceMoment, { moves }: FoundPlan, worse: readonly number[]): string {
  const { pods, nodes } = analysis.snapshot;
  const names = moves.flatMap(({ pod }) => pods[pod] ?? []).map(fullName);
  const [first] = moves;
  const from = capacityOf(analysis, pods[first?.pod ?? -1]?.node ?? null) ?? "unknown";
  const on = nameWords(worse.flatMap((index) => nodes[index]?.name ?? []));
  return `${nameWords(names)} would leave ${from} capacity, and the scheduler may put it on ${on}, whose capacity is spot or not known: a move never leads to worse capacity`;
}
