import { firstLookSeconds, replayWaits } from "../../exporter/analysis/startTimes/replayWaits.ts";
import { sizeClassOf } from "../../exporter/model/sizeClass.ts";
import type { HeldStarts } from "../document/startTimes.ts";
import { type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";

/** The most rows; pages show only the first ones. */
const mostRows = 100;

/**
 * Plays the remembered waits again, and asks for each start of the window whether it was in the interval that was given when the
 * work had waited for half a minute; `null` where no start is remembered.
 */
export async function askStartTimes(
  accounts: Pick<ReviewAccounts, "queryStarts">,
  { cluster, days }: Pick<ReviewQuestion, "cluster" | "days">,
): Promise<Part<HeldStarts[] | null>> {
  const asked = await accounts.queryStarts({ to: days.to });
  if (!asked.ok) return asked;
  const rows = new Map<string, HeldStarts>();
  replayWaits(asked.answer.starts, [], days.to, {
    onEnded({ work: { queue, gpus, since, startedAt }, lookedAt, interval, held, isShown }) {
      if (startedAt < days.from || lookedAt - since > firstLookSeconds + 1) return;
      const sizeClass = sizeClassOf(gpus);
      const key = JSON.stringify([queue, sizeClass]);
      const row = rows.get(key) ?? { cluster, queue, sizeClass, starts: 0, intervals: 0, hits: 0 };
      rows.set(key, row);
      row.starts += 1;
      if (interval === null || !isShown) return;
      row.intervals += 1;
      if (held) row.hits += 1;
    },
  });
  return part(rows.size === 0 ? null : sortedStarts([...rows.values()]));
}

/** Sorts rows, those with the most starts first, and keeps at most `mostRows`. */
export function sortedStarts(rows: readonly HeldStarts[]): HeldStarts[] {
  return rows
    .toSorted(
      (one, other) =>
        other.starts - one.starts ||
        compareNames(one.queue, other.queue) ||
        compareNames(one.sizeClass, other.sizeClass),
    )
    .slice(0, mostRows);
}

const compareNames = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
