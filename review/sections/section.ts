import type { Figure } from "../words/figure.ts";

/**
 * What a cell or a sentence is made of: words, and numbers of the review. Words from a cluster are escaped by each output
 * format.
 */
export type Piece = string | Figure;

/** A column; `unit` is in its heading and therefore not in its cells. */
export interface Column {
  readonly heading: string;
  readonly unit: string | null;
  readonly align: "left" | "right";
  /** How its words are kept together: on one line, or in lines that are no narrower than a few words. */
  readonly words?: "short" | "long";
}

/** A row: what its numbers are of, and its cells in the order of the columns. */
export interface Row {
  /** Names the row in the CSV. */
  readonly item: string;
  readonly cluster: string;
  /** Its heading, as shown. */
  readonly head: string;
  readonly cells: readonly (readonly Piece[])[];
  /** A part of the row before it that is no part: a loss of a level. */
  readonly isPart?: boolean;
}

/** A table of the review. The CSV has all of its rows; pages have the first ones. */
export interface Table {
  /** Names the table in the CSV: `teams`, `jobs_by_cost`. */
  readonly section: string;
  readonly caption: string;
  readonly rowHeading: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/** A sentence in which some words are numbers. */
export interface Sentence {
  readonly section: string;
  readonly cluster: string;
  readonly item: string;
  readonly pieces: readonly Piece[];
}

export const textColumn = (heading: string): Column => ({ heading, unit: null, align: "left" });

export const shortColumn = (heading: string): Column => ({ ...textColumn(heading), words: "short" });

export const longColumn = (heading: string): Column => ({ ...textColumn(heading), words: "long" });

export const numberColumn = (heading: string, unit: string | null = null): Column => ({
  heading,
  unit,
  align: "right",
});

/** Pieces with words between them. */
export function joined(pieces: readonly Piece[], between: string): readonly Piece[] {
  return pieces.flatMap((piece, i) => (i === 0 ? [piece] : [between, piece]));
}
