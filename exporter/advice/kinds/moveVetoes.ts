import type { DisruptionUnit } from "../disruptionUnits.ts";
import { askGuards, type GuardQuestion } from "../guards/guards.ts";
import type { AdviceMoment } from "../moment.ts";
import type { MoveField } from "../planner/moveField.ts";
import { movePods } from "../steps/moveSteps.ts";

/** Controllers that create a new pod for each evicted one, and do not count that as a failure. */
const remaking: ReadonlySet<string> = new Set(["ReplicaSet", "StatefulSet", "ReplicationController"]);

/** Evicting any other pod is not a move: its workload is requeued as a whole and started again. */
export function leavesBy({ analysis }: AdviceMoment, { pods }: DisruptionUnit): "eviction" | "requeue" {
  const { pods: views } = analysis.snapshot;
  return pods.every((pod) => remaking.has(views[pod]?.owner?.kind ?? "")) ? "eviction" : "requeue";
}

/** Reports what forbids moving units of a field together: guards, or that no request would do it. */
export function createVetoes(
  moment: AdviceMoment,
  field: MoveField,
  beneficiary: GuardQuestion["beneficiary"],
): (units: readonly number[]) => readonly string[] {
  const stepless = new Map<number, readonly string[]>();
  const stepsOf = (unit: number): readonly string[] => {
    const known = stepless.get(unit);
    if (known !== undefined) return known;
    const source = field.sources[unit];
    const steps = movePods(moment, source === undefined ? [] : [source.pods], []);
    const found = steps.ok ? [] : [`${field.units[unit]?.name ?? ""}: ${steps.reason}`];
    stepless.set(unit, found);
    return found;
  };
  const judge = (units: readonly number[]): readonly string[] => {
    const sources = units.flatMap((unit) => field.sources[unit] ?? []);
    const leaving = Map.groupBy(sources, (source) => leavesBy(moment, source));
    const reasons = [...leaving].flatMap(([by, together]) => {
      const pods = together.flatMap((source) => source.pods);
      return askGuards(moment, { pods, how: "move", by, beneficiary }).vetoes.map(({ reason }) => reason);
    });
    return [...new Set(reasons.length > 0 ? reasons : units.flatMap(stepsOf))];
  };
  const judged = new Map<string, readonly string[]>();
  return (units) => {
    const key = units.join();
    const known = judged.get(key) ?? judge(units);
    judged.set(key, known);
    return known;
  };
}
