import { podsIn } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PricedNode } from "./evictions.ts";
import type { PlanPodKind, PlanProblem, PlanUnit } from "./problem.ts";

/** A unit with values that the search needs repeatedly. */
export interface RankedUnit {
  readonly unit: PlanUnit;
  /** The loss if it leaves, in millionths of GPU-hours. */
  readonly lost: number;
  /** Physical GPUs that it gives back on each node (index). */
  readonly gpusOn: ReadonlyMap<number, number>;
  /** A text that is equal for units that can replace each other. */
  readonly likeness: string;
}

/** A problem with values that the search needs repeatedly. */
export interface Prepared {
  readonly problem: PlanProblem;
  /** The units in the order of the problem; a rank is an index into this list. */
  readonly units: readonly RankedUnit[];
  /** Ranks of the units that have pods on each node (index). */
  readonly onNode: ReadonlyMap<number, readonly number[]>;
  /** The largest number of nodes on which one unit has pods; at least 1. */
  readonly widest: number;
  /** Nodes (indices) that take pods of a kind at all, in the order of the problem. */
  readonly takers: (kind: PlanPodKind) => readonly number[];
  /** Those of the `takers` that have a place for one pod now; nodes with the fewest free GPUs come first. */
  readonly places: (kind: PlanPodKind) => readonly number[];
  /** The prices of nodes for pods of a kind, as far as they are computed (`pricesOf`). */
  readonly prices: Map<PlanPodKind, readonly PricedNode[]>;
  /** A number for each kind of pods. */
  readonly idOf: (kind: PlanPodKind) => number;
}

const millionths = 1e6;

/** The parts of a prepared problem that are the same for every goal. */
type PreparedField = Pick<Prepared, "units" | "onNode" | "widest" | "idOf">;

/** The prepared parts by units: many questions are about the same units. */
const fields = new WeakMap<
  PlanProblem["units"],
  { readonly nodes: PlanProblem["nodes"]; readonly field: PreparedField }
>();

/** Prepares a problem for a search. Pure, except that the last preparation with the same units is kept. */
export function prepare(problem: PlanProblem): Prepared {
  const { nodes, units } = problem;
  const known = fields.get(units);
  const field = known !== undefined && known.nodes === nodes ? known.field : prepareField(problem);
  fields.set(units, { nodes, field });
  const all = nodes.map((_, node) => node);
  const takers = remembered((kind) => all.filter((node) => kind.takes(node)));
  const places = remembered((kind) =>
    takers(kind)
      .filter((node) => hasFreeCapacity(problem, node, kind))
      .sort((a, b) => (nodes[a]?.free.gpus ?? 0) - (nodes[b]?.free.gpus ?? 0)),
  );
  return { problem, ...field, takers, places, prices: new Map() };
}

function prepareField({ units }: PlanProblem): PreparedField {
  const ids = new Map<PlanPodKind, number>();
  const idOf = (kind: PlanPodKind): number => {
    const known = ids.get(kind) ?? ids.size;
    ids.set(kind, known);
    return known;
  };
  const rankedUnits = units.map((unit) => ranked(unit, idOf));
  const onNode = new Map<number, number[]>();
  let widest = 1;
  for (const [rank, { gpusOn }] of rankedUnits.entries()) {
    widest = Math.max(widest, gpusOn.size);
    for (const node of gpusOn.keys()) {
      const known = onNode.get(node);
      if (known === undefined) onNode.set(node, [rank]);
      else known.push(rank);
    }
  }
  return { units: rankedUnits, onNode, widest, idOf };
}

const hasFreeCapacity = ({ nodes }: PlanProblem, node: number, { demand }: PlanPodKind): boolean => {
  const freeCapacity = nodes[node]?.free;
  return freeCapacity !== undefined && podsIn(freeCapacity, demand) > 0;
};

function remembered(find: (kind: PlanPodKind) => readonly number[]): (kind: PlanPodKind) => readonly number[] {
  const known = new Map<PlanPodKind, readonly number[]>();
  return (kind) => {
    const before = known.get(kind);
    if (before !== undefined) return before;
    const found = find(kind);
    known.set(kind, found);
    return found;
  };
}

function ranked(unit: PlanUnit, idOf: (kind: PlanPodKind) => number): RankedUnit {
  const gpusOn = new Map<number, number>();
  for (const { node, gives } of unit.pods) gpusOn.set(node, (gpusOn.get(node) ?? 0) + gives.gpus);
  const lost = Math.round(Math.max(0, unit.lostGpuHours) * millionths);
  return { unit, lost, gpusOn, likeness: likenessOf(unit, idOf) };
}

/**
 * A text that is equal for units that can replace each other. Only for single pods on whole GPUs does it not matter which of
 * them moves.
 */
function likenessOf({ group, name, pods }: PlanUnit, idOf: (kind: PlanPodKind) => number): string {
  const [pod] = pods;
  const isAlone = pods.length === 1 && pod !== undefined && pod.gives.slots.length === 0;
  if (!isAlone || pod.gives.physicalGpus.some(([, share]) => share < 1 - gpuTolerance)) return `unit ${name}`;
  return `group ${idOf(pod.kind)} ${pod.gives.physicalGpus.length} ${group}`;
}
