import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { moreMoves } from "./evictions.ts";
import { clearedNodes } from "./layout.ts";
import { type Prepared, prepare } from "./prepare.ts";
import type { NoPlan, PlanNode, PlanPodKind, PlanProblem, PlanRules } from "./problem.ts";
import { type SearchResult, type SearchRules, searchPlan } from "./search.ts";
import type { SearchState } from "./searchState.ts";

const noVetoes: readonly string[] = [];

/** What rules out any plan before a search; `null` if nothing does. */
export function tooLittle(problem: PlanProblem): NoPlan | null {
  const { nodes, goal, quotaGpus } = problem;
  const free = sumOf(nodes, ({ gpus }) => gpus);
  if (goal.kind === "free") return canEmptyOne(problem, goal.nodes, free) ? null : packed(free);
  const gpus = goal.parts.reduce((sum, { pods, kind }) => sum + pods * kind.demand.gpus, 0);
  if (gpus > quotaGpus + gpuTolerance) {
    const words = `its queue may take ${amount(Math.max(0, quotaGpus))} more and it needs ${amount(gpus)}: moving pods gives it no quota`;
    return { code: "short-of-quota", words, vetoes: noVetoes };
  }
  const cpu = goal.parts.reduce((sum, { pods, kind }) => sum + pods * kind.demand.cpuMilli, 0);
  const memory = goal.parts.reduce((sum, { pods, kind }) => sum + pods * kind.demand.memoryBytes, 0);
  const short =
    gpus > free + gpuTolerance
      ? `${amount(free)} free and it needs ${amount(gpus)}`
      : cpu > sumOf(nodes, ({ cpuMilli }) => cpuMilli) + gpuTolerance
        ? `${Math.floor(sumOf(nodes, ({ cpuMilli }) => cpuMilli) / 1000)} CPU cores are free and it needs ${Math.ceil(cpu / 1000)}`
        : memory > sumOf(nodes, ({ memoryBytes }) => memoryBytes) + gpuTolerance
          ? "less memory is free than it needs"
          : null;
  return short === null
    ? null
    : {
        code: "short-of-capacity",
        words: `${short}: it would not fit if all pods were packed together`,
        vetoes: noVetoes,
      };
}

/**
 * Whether one of these nodes could be emptied: the other nodes have enough free GPUs for what is allocated on it, and all of
 * that can move.
 */
function canEmptyOne({ nodes, units, fixedNodes }: PlanProblem, of: readonly number[], free: number): boolean {
  const allocated = new Map<number, number>();
  for (const { pods } of units)
    for (const { node, gives } of pods) allocated.set(node, (allocated.get(node) ?? 0) + gives.gpus);
  return of.some((node) => {
    const elsewhere = free - (nodes[node]?.free.gpus ?? 0);
    return !fixedNodes.has(node) && (allocated.get(node) ?? 0) <= elsewhere + gpuTolerance;
  });
}

const packed = (free: number): NoPlan => ({
  code: "nothing-to-gain",
  words: `${amount(free)} free in all: no node holds so little that the others could take it, or what it holds cannot move`,
  vetoes: noVetoes,
});

/** Why a search that respected guards found nothing. This is found by searching again with one rule less at a time. */
export function whyNot(prepared: Prepared, rules: SearchRules, found: SearchResult): NoPlan {
  const { problem } = prepared;
  if (found.metGuards) {
    const unguarded = searchPlan(prepared, { ...rules, heedsGuards: false });
    if (unguarded.best !== null) return guarded(prepared, unguarded.best);
  }
  if (found.refusal !== null) return { code: "refused", words: found.refusal, vetoes: noVetoes };
  if (!fitsWhenCleared(problem)) {
    const words = "nodes have too little room for it even without every pod that could be moved";
    return { code: "fixed", words, vetoes: noVetoes };
  }
  if (!found.isComplete) {
    const words = `no plan was found in ${found.looks} tries; there are more ways than were tried`;
    return { code: "looked-too-short", words, vetoes: noVetoes };
  }
  const more = searchPlan(prepared, { ...rules, maxMoves: moreMoves * problem.maxMoves });
  if (more.best !== null) return tooMany(problem, `${namesOf(prepared, more.best)} would have to move`);
  const onWorse = searchPlan(prepare(onWorseCapacity(problem)), rules);
  if (onWorse.best !== null) {
    const words = `${namesOf(prepared, onWorse.best)} would have to move to spot capacity, or to capacity that may be spot: a move never leads to worse capacity`;
    return { code: "refused", words, vetoes: noVetoes };
  }
  const anywhere = searchPlan(prepared, { ...rules, placesMoved: false });
  if (anywhere.best !== null) {
    const words = `${namesOf(prepared, anywhere.best)} would have to move, and no other node has room for all of it`;
    return { code: "nowhere-to-go", words, vetoes: noVetoes };
  }
  return tooMany(problem, "too much is in the way");
}

const tooMany = ({ maxMoves }: PlanProblem, what: string): NoPlan => ({
  code: "too-many-moves",
  words: `${what}, and one plan may move at most ${maxMoves} ${maxMoves === 1 ? "pod or gang" : "pods or gangs"}`,
  vetoes: noVetoes,
});

function guarded(prepared: Prepared, state: SearchState): NoPlan {
  const { problem } = prepared;
  const vetoes = problem.vetoesOf(state.cost.units);
  const words = `${namesOf(prepared, state)} would have to move, and may not: ${vetoes.slice(0, 3).map(withoutStop).join("; ")}`;
  return { code: "guarded", words, vetoes };
}

/** A sentence without its full stop, to be a part of another one. */
export const withoutStop = (sentence: string): string => sentence.replace(/\.$/, "");

/** Whether the goal could be reached if every unit left its nodes. */
function fitsWhenCleared(problem: PlanProblem): boolean {
  const nodes = clearedNodes(problem.nodes, problem.units);
  const cleared = prepare({ ...problem, nodes, units: [], maxMoves: 0, rules: emptied(problem) });
  const rules: SearchRules = {
    maxMoves: 0,
    looks: clearedLooks,
    movesOthers: false,
    placesMoved: false,
    heedsGuards: false,
    betterThan: null,
  };
  const { best, isComplete } = searchPlan(cleared, rules);
  return best !== null || !isComplete;
}

/** The problem without the rule against worse capacity; the units are in the same order. */
function onWorseCapacity(problem: PlanProblem): PlanProblem {
  const kinds = new Map<PlanPodKind, PlanPodKind>();
  const anyOf = (kind: PlanPodKind): PlanPodKind => {
    const takes = (node: number): boolean => kind.takes(node) || (kind.mayLand?.(node) === true && isWorse(kind, node));
    const known = kinds.get(kind) ?? { ...kind, takes };
    kinds.set(kind, known);
    return known;
  };
  const units = problem.units.map((unit) => ({
    ...unit,
    pods: unit.pods.map((pod) => ({ ...pod, kind: anyOf(pod.kind) })),
  }));
  const { refusalOf: _, ...others } = problem;
  return { ...others, units };
}

const isWorse = ({ isWorse: asks }: PlanPodKind, node: number): boolean => asks?.(node) === true;

/** The rules as if there were no pods that stay. */
const emptied = ({ rules }: PlanProblem): PlanRules => ({
  nodeOf: () => null,
  allows: (like, node, where) => rules?.allows(like, node, where) ?? true,
});

const clearedLooks = 5000;

const namedUnits = 3;

function namesOf({ units }: Prepared, { cost }: SearchState): string {
  const names = cost.units.flatMap((rank) => units[rank]?.unit.name ?? []);
  const more = names.length - namedUnits;
  return names.slice(0, namedUnits).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function sumOf(nodes: readonly PlanNode[], amountOf: (freeCapacity: PlanNode["free"]) => number): number {
  let sum = 0;
  for (const { free } of nodes) sum += amountOf(free);
  return sum;
}

/** An amount of physical GPUs in words: `1 GPU`, `2.5 GPUs`. */
export function amount(gpus: number): string {
  const rounded = Math.round(gpus * 100) / 100;
  return `${rounded} ${rounded === 1 ? "GPU" : "GPUs"}`;
}
