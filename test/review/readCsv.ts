import type { Figure, Unit } from "../../review/words/figure.ts";

/** A line of the review's CSV. */
export interface CsvNumber {
  readonly section: string;
  readonly cluster: string;
  readonly item: string;
  readonly figure: Figure;
}

/** The cells of a text of RFC 4180; throws where it is none. */
export function readCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const quoted = /"((?:[^"]|"")*)"(,|\r\n)/y;
    const bare = /([^",\r\n]*)(,|\r\n)/y;
    quoted.lastIndex = at;
    bare.lastIndex = at;
    const match = text[at] === '"' ? quoted.exec(text) : bare.exec(text);
    if (match === null) throw new Error(`no cell at ${at}: ${JSON.stringify(text.slice(at, at + 60))}`);
    const [whole, cell = "", end] = match;
    row.push(text[at] === '"' ? cell.replaceAll('""', '"') : cell);
    at += whole.length;
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) throw new Error("the last line does not end");
  return rows;
}

const quantities = [
  "GPU-h",
  "GPU-h/week",
  "GPUs",
  "GPUs/week",
  "node-h",
  "h",
  "s",
  "ratio",
  "points",
  "count",
  "date",
] as const;

function unitOf(cell: string): Unit {
  // What a spreadsheet would take for a formula is there with a quote before it.
  const name = cell
    .replace(/^'(?=[\t\r\n])/, "")
    .replaceAll(/(^|[;\t\r\n])'(?=[ \u00a0\u3000"]{0,64}[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1");
  const quantity = quantities.find((one) => one === name);
  if (quantity !== undefined) return quantity;
  for (const per of ["week", "month"] as const)
    if (name.endsWith(`/${per}`)) return { currency: name.slice(0, -per.length - 1), per };
  return { currency: name, per: null };
}

/** The numbers of a review, as its CSV has them. */
export function csvNumbers(text: string): readonly CsvNumber[] {
  const [header, ...rows] = readCsv(text);
  if (header?.join(",") !== "section,cluster,item,measure,unit,value") throw new Error("another header");
  return rows.map((cells) => {
    const [section = "", cluster = "", item = "", measure = "", unitName = "", value = ""] = cells;
    if (cells.length !== 6) throw new Error(`${cells.length} cells`);
    const unit = unitOf(unitName);
    const known = value === "" ? null : unit === "date" ? value : Number(value);
    if (typeof known === "number" && !Number.isFinite(known)) throw new Error(`no number: ${value}`);
    return { section, cluster, item, figure: { measure, unit, value: known } };
  });
}
