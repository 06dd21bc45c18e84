import { type ActionableGang, actionableGangs } from "../../analysis/fairness/actionable.ts";
import { queueName } from "../../analysis/fairness/shortSince.ts";
import type { Queueing } from "../../join/queues/queueing.ts";
import type { AdviceMoment } from "../moment.ts";

/**
 * The waiting gangs that start with what the records of a queue are owed, in its order. This includes those that are counted
 * in an earlier flavor and find nothing there. `owedTo`: physical GPUs that each record (by index) could have. `served`: gangs
 * that start without them.
 */
export function owedGangs(
  { analysis }: AdviceMoment,
  queue: number,
  owedTo: (record: number) => number,
  served: ReadonlySet<number> = nobody,
): readonly ActionableGang[] {
  const { queueing } = analysis.snapshot;
  const offers = new Map(recordsWith(queueing, queue).map((record) => [record, owedTo(record)] as const));
  return actionableGangs(queueing, offers, served);
}

const nobody: ReadonlySet<number> = new Set();

/** The records of a queue among which its waiting work may choose, including the given one. */
function recordsWith({ queues, gangs }: Queueing, queue: number): readonly number[] {
  const view = queues[queue];
  if (view === undefined) return [];
  const name = queueName(view);
  const sameName = queues.flatMap((one, index) => (one.isLeaf && queueName(one) === name ? [index] : []));
  if (sameName.length <= 1) return sameName;
  const choices = new Map<unknown, readonly number[]>();
  for (const index of sameName.flatMap((record) => queues[record]?.gangs ?? []))
    for (const { queue: own, places = [] } of gangs[index]?.parts ?? [])
      if (own !== null && places.length > 1 && !choices.has(places))
        choices.set(places, [own, ...places.map((place) => place.queue)]);
  const found = new Set([queue]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const records of choices.values())
      if (records.some((record) => found.has(record))) for (const record of records) found.add(record);
  }
  return [...found].sort((a, b) => a - b);
}
