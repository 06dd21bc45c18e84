import type { Figure, Unit } from "../words/figure.ts";
import { nameText } from "../words/names.ts";

/**
 * A piece of a cell or a sentence: words, or a number of the review. Words from a cluster are escaped by each output format.
 */
export type Piece = string | Figure;

/** A column; `unit` is in its heading and therefore not in its cells; `null`: its cells have their own units, or none. */
export interface Column {
  readonly heading: string;
  readonly unit: string | null;
  readonly align: "left" | "right";
  /** How its words are kept together: on one line, or in lines that are no narrower than a few words. */
  readonly words?: "short" | "long";
}

/** A row: what its numbers are about, and its cells in the order of the columns. */
export interface Row {
  /** Names the row in the CSV. */
  readonly item: string;
  readonly cluster: string;
  /** The heading of the row, as shown. */
  readonly head: string;
  readonly cells: readonly (readonly Piece[])[];
  /** Set if the row is a loss of the level in the row before it. */
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

/** Makes a number of a cell or a sentence. */
export const figure = (measure: string, unit: Unit, value: Figure["value"]): readonly [Figure] => [
  { measure, unit, value },
];

/** How a table is made: its names, and what it shows about each thing. */
interface TableOf<One> extends Pick<Table, "section" | "caption" | "rowHeading"> {
  readonly row: (one: One) => Omit<Row, "cells">;
  /** The columns; each has a function that returns the pieces of its cell for a thing. */
  readonly columns: readonly (readonly [column: Column, cell: (one: One) => readonly Piece[]])[];
}

/**
 * A table with a row for each thing; `null` where the things are not known. If a review has several `clusters`, each row names
 * its own; `clusters` is empty for things that do not belong to one cluster.
 */
export function tableOf<One>(things: readonly One[], clusters: readonly string[], table: TableOf<One>): Table;
export function tableOf<One>(
  things: readonly One[] | null | undefined,
  clusters: readonly string[],
  table: TableOf<One>,
): Table | null;
export function tableOf<One>(
  things: readonly One[] | null | undefined,
  clusters: readonly string[],
  { row, columns, ...names }: TableOf<One>,
): Table | null {
  if (things == null) return null;
  const rows = things.map((one) => ({ ...row(one), cells: columns.map(([, cell]) => cell(one)) }));
  const shown = columns.map(([column]) => column);
  if (clusters.length < 2) return { ...names, columns: shown, rows };
  return {
    ...names,
    columns: [textColumn("cluster"), ...shown],
    rows: rows.map((one) => ({ ...one, cells: [[nameText(one.cluster)], ...one.cells] })),
  };
}

/** Puts words between pieces. */
export function joined(pieces: readonly Piece[], between: string): readonly Piece[] {
  return pieces.flatMap((piece, i) => (i === 0 ? [piece] : [between, piece]));
}
