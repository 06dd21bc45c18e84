import type { Snapshot } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceConfidence } from "../../model/recommendation.ts";
import type { DisruptionUnit } from "../disruptionUnits.ts";
import type { AdviceMoment } from "../moment.ts";
import type { TakenSign } from "../offer.ts";
import type { MoveField } from "../planner/moveField.ts";
import type { FoundPlan, PlanAnswer } from "../planner/plan.ts";
import { amount } from "../planner/whyNot.ts";
import { type Change, type Plan, placementRules } from "../whatIf/plan.ts";
import type { Outcome, Trial } from "../whatIf/trial.ts";
import { countWords } from "./words.ts";

/** A plan of the planner, as it would be carried out. */
export interface PlannedMoves {
  readonly plan: Plan;
  readonly sources: readonly DisruptionUnit[];
  /** Indices into `Snapshot.nodes` that are cordoned meanwhile. */
  readonly avoid: readonly number[];
  /** It reaches its goal wherever the scheduler puts the pods; else only on the nodes that the plan names. */
  readonly holdsAnywhere: boolean;
}

/**
 * The changes that carry a plan out. If the goal is reached wherever the scheduler puts the pods, no place is demanded of it:
 * no request could. Else the plan names the nodes; `null` where it fails even so, or one of the pods finds no place. Nodes in
 * `alsoAvoid` (indices into `Snapshot.nodes`) take no pods meanwhile.
 */
export function plannedMoves(
  field: MoveField,
  found: FoundPlan,
  starts: readonly number[],
  trial: Trial,
  reaches: (outcome: Pick<Outcome, "moved" | "started">) => boolean,
  alsoAvoid: readonly number[] = [],
): PlannedMoves | null {
  const sources = found.units.flatMap((unit) => field.sources[unit] ?? []);
  const taken = new Set(found.moves.map(({ to }) => to));
  const indexesOf = (nodes: readonly number[]) => [...new Set(nodes)].flatMap((node) => field.nodeIndexes[node] ?? []);
  const avoid = [...new Set([...indexesOf(found.goalNodes.filter((node) => !taken.has(node))), ...alsoAvoid])];
  const changes = (isSteered: boolean): readonly Change[] =>
    found.units.map((unit): Change => {
      const moves = found.moves.filter((move) => move.unit === unit);
      const pods = [...moves].sort((a, b) => gpusOf(field, b) - gpusOf(field, a)).map(({ pod }) => pod);
      const move = { kind: "move", pods, avoid } as const;
      return isSteered ? { ...move, to: indexesOf(moves.map(({ to }) => to)) } : move;
    });
  for (const isSteered of [false, true]) {
    const plan: Plan = { changes: changes(isSteered), starts };
    const outcomes = placementRules.map((rule) => trial.outcome(plan, rule));
    if (outcomes.every((outcome) => outcome.moved.every(({ to }) => to !== null) && reaches(outcome)))
      return { plan, sources, avoid, holdsAnywhere: !isSteered };
  }
  return null;
}

const gpusOf = ({ units }: MoveField, { unit, pod }: FoundPlan["moves"][number]): number =>
  units[unit]?.pods.find((one) => one.pod === pod)?.gives.gpus ?? 0;

/** `vision/eval-7 (1 GPU) from a100-03 to a100-05`; of several their number, and the nodes that they leave. */
export function moveWords({ snapshot }: AdviceMoment["analysis"], field: MoveField, found: FoundPlan): string {
  const nodeName = (node: number): string => field.nodes[node]?.name ?? "";
  const gpus = found.moves.reduce((sum, move) => sum + gpusOf(field, move), 0);
  const [first, ...others] = found.moves;
  const pod = first === undefined ? undefined : snapshot.pods[first.pod];
  if (first !== undefined && pod !== undefined && others.length === 0)
    return `${pod.namespace}/${pod.name} (${amount(gpus)}) from ${nodeName(first.from)} to ${nodeName(first.to)}`;
  const from = [...new Set(found.moves.map((move) => nodeName(move.from)))].sort();
  const names = found.units.map((unit) => field.units[unit]?.name ?? "");
  return `${nameWords(names)} (${amount(gpus)}) from ${nameWords(from)}`;
}

/** What a plan acts on: pods that move alone, and the workloads of those that move together. */
export function targetsOf({ pods, workloads }: Snapshot, sources: readonly DisruptionUnit[]): readonly string[] {
  const names = sources.map(({ pods: own, workload }) => {
    const [first] = own;
    const pod = first === undefined ? undefined : pods[first];
    const view = workloads[workload];
    if (own.length > 1 && view !== undefined) return `${view.kind} ${view.namespace}/${view.name}`;
    return `Pod ${pod?.namespace ?? ""}/${pod?.name ?? ""}`;
  });
  return [...new Set(names)].sort();
}

/** All of these pods have left their nodes. */
export function leftSign({ pods }: Snapshot, sources: readonly DisruptionUnit[]): TakenSign {
  const left = sources.flatMap((source) =>
    source.pods.flatMap((index) => {
      const pod = pods[index];
      return pod === undefined || pod.uid === null || pod.node === null ? [] : [{ uid: pod.uid, node: pod.node }];
    }),
  );
  return { kind: "pods-left", pods: left };
}

/** The one team whose pods move; empty where there are several. */
export function teamOfUnits({ pods }: Snapshot, sources: readonly DisruptionUnit[]): string {
  const [first = "", ...others] = new Set(sources.flatMap((source) => source.pods.map((pod) => pods[pod]?.team ?? "")));
  return others.length === 0 ? first : "";
}

/** How far to believe a plan that moves pods. */
export function confidenceInMoves(answer: PlanAnswer, { sources, holdsAnywhere }: PlannedMoves): AdviceConfidence {
  const isKnown = sources.every(({ isUpperBound }) => !isUpperBound);
  const looked = countWords(answer.looks, "try").replace("trys", "tries");
  const reasons = [
    holdsAnywhere
      ? "It works wherever the scheduler puts the pods that move."
      : "It works only if the pods go to the nodes that are named, and the scheduler may choose others.",
    answer.isExact
      ? "No cheaper plan exists: all that could be cheaper were looked at."
      : `A cheaper plan may exist: it was looked for in ${looked}, and there are more ways.`,
    isKnown
      ? "Work that is lost is counted since the last checkpoints."
      : "Work that is lost is counted since the start of some pods, for no checkpoint of theirs is known: it may be less.",
  ];
  if (!holdsAnywhere) return { level: "low", reasons };
  return { level: answer.isExact && isKnown ? "high" : "medium", reasons };
}
