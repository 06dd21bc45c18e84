import type { Chunk } from "./dayChunks.ts";

/** A day, or why it is not known. */
type Asked<Day, Failure> = { readonly ok: true; readonly day: Day } | Failure;

/** Days that are over do not change, but for samples that come late. */
const settledAfterSeconds = 7200;
const keptSeconds = 21_600;
const maxKeptParts = 50_000;

/** Keeps what was answered of days that are over, so that they are asked for once; `partsOf` is the size of a day. */
export function createSettledDays<Day, Failure extends { readonly ok: false }>(
  now: () => number,
  partsOf: (day: Day) => number,
) {
  const kept = new Map<string, { readonly at: number; readonly day: Day }>();
  let keptParts = 0;

  function forget(key: string): void {
    const known = kept.get(key);
    if (known !== undefined) keptParts -= partsOf(known.day);
    kept.delete(key);
  }

  /** The day as it was answered lately, or as `ask` answers now. */
  return async (
    question: unknown,
    chunk: Chunk,
    ask: () => Promise<Asked<Day, Failure>>,
  ): Promise<Asked<Day, Failure>> => {
    const key = JSON.stringify([chunk.from, chunk.to, question]);
    const known = kept.get(key);
    if (known !== undefined && now() - known.at < keptSeconds) return { ok: true, day: known.day };
    const result = await ask();
    if (!result.ok || chunk.to > now() - settledAfterSeconds) return result;
    forget(key);
    kept.set(key, { at: now(), day: result.day });
    keptParts += partsOf(result.day);
    for (const oldest of kept.keys()) {
      if (keptParts <= maxKeptParts && kept.size <= maxKeptParts) break;
      forget(oldest);
    }
    return result;
  };
}
