import type { Snapshot } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceConfidence } from "../../model/recommendation.ts";
import type { DisruptionUnit } from "../disruptionUnits.ts";
import type { TakenSign } from "../offer.ts";
import type { MoveField } from "../planner/moveField.ts";
import type { FoundPlan, PlanAnswer } from "../planner/plan.ts";
import { amount } from "../planner/whyNot.ts";
import { type Change, type Plan, placementRules } from "../whatIf/plan.ts";
import type { Outcome, Trial } from "../whatIf/trial.ts";
import type { Carried } from "./carryMoves.ts";
import { countWords } from "./words.ts";

/** A plan of the planner, as it would be carried out. */
export interface PlannedMoves {
  readonly plan: Plan;
  /** In the order in which they leave. */
  readonly sources: readonly DisruptionUnit[];
  /**
   * Indices into `Snapshot.nodes` that are cordoned meanwhile, and for each source those that are cordoned only while it
   * leaves.
   */
  readonly avoid: readonly number[];
  readonly besides: readonly (readonly number[])[];
}

/** The changes that carry a plan out; `null` if they do not reach the goal in the simulation, or a pod finds no place. */
export function plannedMoves(
  field: MoveField,
  { plan: found, order, avoid, besides }: Carried,
  starts: readonly number[],
  trial: Trial,
  reaches: (outcome: Pick<Outcome, "moved" | "started">) => boolean,
): PlannedMoves | null {
  const changes = order.map((unit, i): Change => {
    const moves = found.moves.filter((move) => move.unit === unit);
    const pods = [...moves].sort((a, b) => gpusOf(field, b) - gpusOf(field, a)).map(({ pod }) => pod);
    return { kind: "move", pods, avoid: [...avoid, ...(besides[i] ?? [])] };
  });
  const plan: Plan = { changes, starts };
  const outcomes = placementRules.map((rule) => trial.outcome(plan, rule));
  const isReached = outcomes.every((outcome) => outcome.moved.every(({ to }) => to !== null) && reaches(outcome));
  const sources = order.flatMap((unit) => field.sources[unit] ?? []);
  return isReached ? { plan, sources, avoid, besides } : null;
}

const gpusOf = ({ units }: MoveField, { unit, pod }: FoundPlan["moves"][number]): number =>
  units[unit]?.pods.find((one) => one.pod === pod)?.gives.gpus ?? 0;

/** `vision/eval-7 (1 GPU) from a100-03 to a100-05`; for several pods their number, and the nodes that they leave. */
export function moveWords({ snapshot }: { readonly snapshot: Snapshot }, field: MoveField, found: FoundPlan): string {
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

/** The targets of a plan: pods that move alone, and the workloads of those that move together. */
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

/** The sign that all of these pods have left their nodes. */
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

/** How far a plan that moves pods can be trusted. */
export function confidenceInMoves(answer: PlanAnswer, { sources }: PlannedMoves): AdviceConfidence {
  const isKnown = sources.every(({ isUpperBound }) => !isUpperBound);
  const looked = countWords(answer.looks, "try").replace("trys", "tries");
  const reasons = [
    "It works wherever the scheduler puts the pods that move, one after the other in this order.",
    answer.isExact
      ? "No cheaper plan exists: all that could be cheaper were looked at."
      : `A cheaper plan may exist: it was looked for in ${looked}, and there are more ways.`,
    isKnown
      ? "Work that is lost is counted since the last checkpoints."
      : "Work that is lost is counted since the start of some pods, for no checkpoint of theirs is known: it may be less.",
  ];
  return { level: answer.isExact && isKnown ? "high" : "medium", reasons };
}
