import type { NodeFreeCapacity } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { type DisruptionUnit, disruptionUnits } from "../disruptionUnits.ts";
import type { AdviceMoment } from "../moment.ts";
import { momentIndex } from "../momentIndex.ts";
import { type InOrder, momentOrder } from "../momentOrder.ts";
import type { CarryLooks } from "../planner/carryOut.ts";
import { type MoveField, moveFieldOf } from "../planner/moveField.ts";
import type { PlanLimits } from "../planner/problem.ts";
import type { Trial } from "../whatIf/trial.ts";

/** What all searches for moves of one kind of advice share. */
export interface Planning {
  readonly moment: AdviceMoment;
  readonly trial: Trial;
  readonly fieldOf: FieldOf;
  readonly looks: LookBudget;
}

/** A planning in which nothing has been searched yet. */
export const createPlanning = (moment: AdviceMoment, trial: Trial): Planning => ({
  moment,
  trial,
  fieldOf: createFields(moment),
  looks: createLookBudget(),
});

/**
 * Returns the nodes among which pods may be moved: those of a domain of `Analysis.gangFreeCapacities`, or of one pool. `null`:
 * there are none.
 */
export type FieldOf = (where: { readonly domain: number } | { readonly pool: string }) => MoveField | null;

/** The fields of one moment; each is built once. Nodes, units and the pods of each are in the order of the moment. */
function createFields(moment: AdviceMoment): FieldOf {
  const known = new Map<string, MoveField | null>();
  let inOrder: readonly DisruptionUnit[] | null = null;
  return (where) => {
    const key = "domain" in where ? `domain ${where.domain}` : `pool ${where.pool}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const order = momentOrder(moment.analysis);
    inOrder ??= sortedUnits(disruptionUnits(moment), order.pods);
    const { freeCapacities, isIn } = "domain" in where ? ofDomain(moment, where.domain) : ofPool(moment, where.pool);
    const nodes = sortedFreeCapacities(moment, freeCapacities, order.nodes);
    const field = nodes.length === 0 ? null : moveFieldOf(moment.analysis.snapshot, nodes, isIn, inOrder);
    known.set(key, field);
    return field;
  };
}

interface Where {
  readonly freeCapacities: readonly NodeFreeCapacity[];
  readonly isIn: (pool: string, node: string) => boolean;
}

function ofDomain({ analysis }: AdviceMoment, index: number): Where {
  const domain = analysis.gangFreeCapacities.domains[index];
  return { freeCapacities: domain?.nodes ?? [], isIn: domain?.isIn ?? (() => false) };
}

const ofPool = ({ analysis: { freeCapacities } }: AdviceMoment, pool: string): Where => ({
  freeCapacities: freeCapacities.byNode.flatMap((ofNode) =>
    ofNode.filter((freeCapacity) => freeCapacity.pool === pool),
  ),
  isIn: (one) => one === pool,
});

function sortedFreeCapacities(
  { analysis }: AdviceMoment,
  freeCapacities: readonly NodeFreeCapacity[],
  byNode: InOrder,
): readonly NodeFreeCapacity[] {
  const index = momentIndex(analysis);
  const indexOf = ({ node }: NodeFreeCapacity): number => index.nodeOf(node.name) ?? -1;
  return freeCapacities.toSorted((a, b) => byNode(indexOf(a), indexOf(b)));
}

/** Sorts units by their first pods, and the pods of each unit in the same order. */
function sortedUnits(units: readonly DisruptionUnit[], byPod: InOrder): readonly DisruptionUnit[] {
  const own = units.map((unit) => (unit.pods.length === 1 ? unit : { ...unit, pods: unit.pods.toSorted(byPod) }));
  return own.toSorted(({ pods: [a = -1] }, { pods: [b = -1] }) => byPod(a, b));
}

/** How many steps all questions of one kind of advice together may search in one cycle. */
export interface LookBudget {
  /** The limits of the next question. */
  limits(): PlanLimits;
  /** The limits of additional questions. */
  readonly leastLimits: PlanLimits;
  /** Counts the steps that a question used. */
  spend(looks: number): void;
  /** How many nodes may be looked at, for all plans of the kind together, to find out how they are carried out. */
  readonly carry: CarryLooks;
}

/** The steps of all questions of a kind in one cycle, except that each question may use `leastPerQuestion`. */
const looksPerCycle = 6_000;
/** The steps that each question has even if all are used up: enough to search all of a small cluster. */
const leastPerQuestion = 1_000;

/**
 * The nodes that may be looked at in one cycle to carry plans out: about two seconds. If many plans fail on few nodes, each of
 * them has thousands of ways.
 */
const carryLooksPerCycle = 600_000;

/**
 * Makes a budget that gives each question half of what is left: the questions with the most at stake come first, and may search
 * the furthest.
 */
function createLookBudget(): LookBudget {
  let left = looksPerCycle;
  return {
    limits: () => ({ looks: Math.max(leastPerQuestion, Math.floor(left / 2)) }),
    leastLimits: { looks: leastPerQuestion },
    carry: { left: carryLooksPerCycle },
    spend(looks) {
      left = Math.max(0, left - looks);
    },
  };
}
