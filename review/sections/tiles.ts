import type { Review } from "../document/review.ts";
import type { Tile } from "../document/tiles.ts";
import type { Figure, Unit } from "../words/figure.ts";
import { longText, nameText } from "../words/names.ts";
import { numberColumn, type Piece, type Sentence, type Table } from "./section.ts";

/** Unit of a tile's numbers. */
export function tileUnit({ unit }: Tile): Unit {
  return unit === "GPU-h" || unit === "ratio" ? unit : { currency: unit, per: null };
}

/** What a tile says. */
export const tileValue = (tile: Tile): Figure => ({ measure: "value", unit: tileUnit(tile), value: tile.value });

/** How much it differs from the periods before: of ratios in points, else as a part of their mean. */
export const tileChange = (tile: Tile): Figure => ({
  measure: "change",
  unit: tile.unit === "ratio" ? "points" : "ratio",
  value: tile.change,
});

/** Names a tile's numbers; there may be a tile of cost for each currency. */
export const tileItem = ({ id }: Tile): string => id;

/** The tiles as a table, for Markdown and the CSV. */
export function tileTable({ tiles }: Review): Table {
  return {
    section: "tiles",
    caption: "The window at a glance",
    rowHeading: "",
    columns: [
      numberColumn("now"),
      numberColumn("against the periods before"),
      { heading: "who can act", unit: null, align: "left" },
      { heading: "", unit: null, align: "left" },
    ],
    rows: tiles.map((tile) => ({
      item: tileItem(tile),
      cluster: "",
      head: nameText(tile.title),
      cells: [[tileValue(tile)], [tileChange(tile)], [nameText(tile.owner)], [longText(tile.note)]],
    })),
  };
}

/** The periods behind the sparklines, the window itself last; `null` where nothing is compared. */
export function periodTable({ tiles, window }: Review): Table | null {
  const labels = [...new Set(tiles.flatMap(({ before }) => before.map(({ label }) => label)))];
  if (labels.length === 0) return null;
  const row = (label: string, amountOf: (tile: Tile) => number | null) => ({
    item: nameText(label),
    cluster: "",
    head: nameText(label),
    cells: tiles.map((tile): readonly Figure[] => [
      { measure: tileItem(tile), unit: tileUnit(tile), value: amountOf(tile) },
    ]),
  });
  return {
    section: "periods",
    caption: "The periods before, and this one",
    rowHeading: "period",
    columns: tiles.map((tile) => numberColumn(nameText(tile.title))),
    rows: [
      ...labels.map((label) => row(label, ({ before }) => before.find((one) => one.label === label)?.value ?? null)),
      row(window.label, ({ value }) => value),
    ],
  };
}

/** The total and its three parts, as means; of one team, what the whole cluster is asked for is left out. */
export function termsSentence({ terms, team }: Review): Sentence {
  const parts: readonly (readonly [text: string, figure: Figure])[] = [
    ["total", { measure: "total", unit: "GPUs", value: terms.totalGpus }],
    ["effective (active)", { measure: "effective", unit: "GPUs", value: terms.effectiveGpus }],
    ["wasted (allocated, not active)", { measure: "wasted", unit: "GPUs", value: terms.wastedGpus }],
    ["not allocated", { measure: "not_allocated", unit: "GPUs", value: team === null ? notAllocated(terms) : null }],
  ];
  const shown = parts.filter(([, { value }]) => team === null || value !== null);
  return {
    section: "terms",
    cluster: "",
    item: "",
    pieces: ["Mean GPUs: ", ...joinedParts(shown), "."],
  };
}

/** What is neither effective nor wasted, so that the three add up to the total; `null` where one of them is not known. */
function notAllocated({ totalGpus, effectiveGpus, wastedGpus }: Review["terms"]): number | null {
  if (totalGpus === null || effectiveGpus === null || wastedGpus === null) return null;
  return Math.max(0, totalGpus - effectiveGpus - wastedGpus);
}

const joinedParts = (parts: readonly (readonly [text: string, figure: Figure])[]): readonly Piece[] =>
  parts.flatMap(([text, figure], i) => [`${i === 0 ? "" : ", "}${text} `, figure]);
