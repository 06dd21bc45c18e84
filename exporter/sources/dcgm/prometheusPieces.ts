import type { Steps } from "../../kernel/steps.ts";

/** A vector of which the series were read piece by piece. */
export interface PiecedVector {
  readonly series: readonly unknown[];
  /** The answer's text with `standIn` in the place of all its series. */
  readonly envelope: string;
}

/** Stands for the series in the envelope. */
export const standIn = "fairlead: series";

/** So long is a piece at least; it is read in a few milliseconds. */
const pieceBytes = 262_144;
const headBytes = 4096;

/** How every server writes it. In JSON, neither can stand in a text: quotes are escaped there. */
const opening = '"resultType":"vector","result":[';
const seam = ']},{"metric":{';
const closing = "]}]";

/**
 * Reads the series of a vector piece by piece, cut between two series. `null` where the text is short, is not written
 * as servers write it, or a piece of it is no list: a cut anywhere else leaves brackets open. Whoever asks must look
 * whether `standIn` is where series belong.
 */
export function* readVectorInPieces(bytes: Buffer, least = pieceBytes): Steps<PiecedVector | null> {
  const found = bytes.subarray(0, headBytes).indexOf(opening);
  if (found < 0 || bytes.length <= least) return null;
  const series: unknown[] = [];
  let from = found + opening.length;
  const start = from;
  for (;;) {
    const cut = bytes.indexOf(seam, from + least);
    if (cut < 0) break;
    const piece = listIn(bytes.toString("utf8", from, cut + 2));
    if (piece === null) return null;
    for (const entry of piece) series.push(entry);
    from = cut + 3;
    yield;
  }
  // A label may hold the closing's letters: then the rest is no list.
  const end = bytes.indexOf(closing, from);
  const rest = end < 0 ? null : listIn(bytes.toString("utf8", from, end + 2));
  if (rest === null) return null;
  for (const entry of rest) series.push(entry);
  const envelope = `${bytes.toString("utf8", 0, start)}${JSON.stringify(standIn)}${bytes.toString("utf8", end + 2)}`;
  return { series, envelope };
}

function listIn(text: string): readonly unknown[] | null {
  try {
    const list: unknown = JSON.parse(`[${text}]`);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
