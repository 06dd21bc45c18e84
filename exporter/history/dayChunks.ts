import { secondsPerDay } from "../accounts/ledger/schema.ts";
import { isoDay } from "../kernel/isoTime.ts";

/** A part of a window that lies within one UTC day. Times are seconds since the epoch. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
  /** `2026-11-21`. */
  readonly day: string;
}

/** Cuts [from, to) at UTC midnights. */
export function dayChunks(from: number, to: number): readonly Chunk[] {
  const chunks: Chunk[] = [];
  for (let begin = from; begin < to; ) {
    const end = Math.min(to, (Math.floor(begin / secondsPerDay) + 1) * secondsPerDay);
    chunks.push({ from: begin, to: end, day: isoDay(begin) });
    begin = end;
  }
  return chunks;
}
