import type { Review } from "../document/review.ts";
import type { Tile } from "../document/tiles.ts";
import type { Figure, Unit } from "../words/figure.ts";
import { longText, nameText } from "../words/names.ts";
import { figure, numberColumn, type Piece, type Sentence, type Table, tableOf, textColumn } from "./section.ts";

/** The unit of a tile's numbers. */
export function tileUnit({ unit }: Tile): Unit {
  return unit === "GPU-h" || unit === "ratio" ? unit : { currency: unit, per: null };
}

/** The number that a tile shows. */
export const tileValue = (tile: Tile): Figure => ({ measure: "value", unit: tileUnit(tile), value: tile.value });

/** How much the number of a tile differs from the periods before: for ratios in points, for amounts as a part of their mean. */
export const tileChange = (tile: Tile): Figure => ({
  measure: "change",
  unit: tile.unit === "ratio" ? "points" : "ratio",
  value: tile.change,
});

/** The name of a tile's numbers in the CSV and the page. */
export const tileItem = ({ id }: Tile): string => id;

/** The tiles as a table, for Markdown and the CSV. */
export function tileTable({ tiles }: Review): Table {
  return tableOf(tiles, [], {
    section: "tiles",
    caption: "The window at a glance",
    rowHeading: "",
    row: (tile) => ({ item: tileItem(tile), cluster: "", head: nameText(tile.title) }),
    columns: [
      [numberColumn("now"), (tile) => [tileValue(tile)]],
      [numberColumn("against the periods before"), (tile) => [tileChange(tile)]],
      [textColumn("who can act"), ({ owner }) => [nameText(owner)]],
      [textColumn(""), ({ note }) => [longText(note)]],
    ],
  });
}

/** The table of the periods behind the sparklines; the window itself is last; `null` where nothing is compared. */
export function periodTable({ tiles, window }: Review): Table | null {
  const labels = [...new Set(tiles.flatMap(({ before }) => before.map(({ label }) => label)))];
  if (labels.length === 0) return null;
  const before = labels.map((label) => ({
    label,
    of: (tile: Tile) => tile.before.find((one) => one.label === label)?.value ?? null,
  }));
  const now = { label: window.label, of: ({ value }: Tile) => value };
  return tableOf([...before, now], [], {
    section: "periods",
    caption: "The periods before, and this one",
    rowHeading: "period",
    row: ({ label }) => ({ item: nameText(label), cluster: "", head: nameText(label) }),
    columns: tiles.map((tile) => [
      numberColumn(nameText(tile.title)),
      ({ of }) => figure(tileItem(tile), tileUnit(tile), of(tile)),
    ]),
  });
}

/**
 * Says the total of the GPUs and its three parts, as means; for one team, numbers that only a whole cluster has are left out.
 */
export function termsSentence({ terms, team }: Review): Sentence {
  const parts: readonly (readonly [text: string, measure: string, gpus: number | null])[] = [
    ["total", "total", terms.totalGpus],
    ["effective (active)", "effective", terms.effectiveGpus],
    ["wasted (allocated, not active)", "wasted", terms.wastedGpus],
    ["not allocated", "not_allocated", team === null ? notAllocated(terms) : null],
  ];
  const pieces = parts
    .filter(([, , gpus]) => team === null || gpus !== null)
    .flatMap(([text, measure, gpus], i): Piece[] => [
      `${i === 0 ? "" : ", "}${text} `,
      ...figure(measure, "GPUs", gpus),
    ]);
  return { section: "terms", cluster: "", item: "", pieces: ["Mean GPUs: ", ...pieces, "."] };
}

/**
 * GPUs that are neither effective nor wasted, so that the three add up to the total; `null` where one of the others is not
 * known.
 */
function notAllocated({ totalGpus, effectiveGpus, wastedGpus }: Review["terms"]): number | null {
  if (totalGpus === null || effectiveGpus === null || wastedGpus === null) return null;
  return Math.max(0, totalGpus - effectiveGpus - wastedGpus);
}
