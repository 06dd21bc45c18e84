import { aggregate, type Expression } from "../../exporter/catalogue/promql.ts";
import { hiddenProperties } from "../clusterNames.ts";
import type { OverrideJson, TargetJson, TransformationJson, ValueMappingJson } from "../grafana/types.ts";
import { linkJson, runbookLinks, thresholdsOf, type ValueLink } from "./draft.ts";
import { type Levels, levelsText, neutral } from "./levels.ts";
import { refIdOf } from "./shown.ts";
import type { Unit } from "./units.ts";

/** A column of numbers: the result of one query for each row. */
export interface ValueColumn<Labels extends string> {
  readonly title: string;
  readonly query: Expression<Labels>;
  readonly unit: Unit;
  readonly decimals?: number;
  readonly levels?: Levels;
  /** The texts that are shown in the place of numbers which only encode why there is no value. */
  readonly texts?: Readonly<Record<number, string>>;
  /** How a cell is drawn; `bar` draws a bar behind the number. */
  readonly cell?: "text" | "bar";
}

/** Limits the rows to those with the largest numbers in a column, which is named by its title. */
export interface First {
  readonly count: number;
  readonly by: string;
}

/** Rows, one for each set of labels, as a table or a bar chart shows them. */
export interface Rows<Labels extends string> {
  /** The title of each label's column, in their order; `null` hides the column. */
  readonly labels: { readonly [Label in Labels]: string | null };
  /**
   * The columns of numbers. Rows that the first query does not find may lack the titles of columns, so it must find all rows
   * that there are.
   */
  readonly values: readonly [ValueColumn<Labels>, ...ValueColumn<Labels>[]];
}

/** The queries of rows, as of the end of the time range. */
export function rowTargets<Labels extends string>({ labels, values }: Rows<Labels>): readonly TargetJson[] {
  const by = entriesOf(labels).map(([label]) => label);
  return values.map(({ query, title }, index) => ({
    refId: refIdOf(index),
    editorMode: "code",
    expr: byLabelsOnly(query, by).text,
    legendFormat: title,
    instant: true,
    range: false,
    format: "table",
  }));
}

/**
 * The query without the name of its series. The name would become a column of its own, and rows of two queries that differ only
 * in it would not be merged.
 */
function byLabelsOnly<Labels extends string>(query: Expression<Labels>, by: readonly Labels[]): Expression<Labels> {
  const aggregated = !query.compound && /^(sum|avg|min|max|count) by \(/.test(query.text);
  return aggregated ? query : aggregate("sum", query, by);
}

/**
 * Merges all queries into one frame, with titles for names, in the order of the columns. If `hidden` is `kept`, hidden labels
 * remain for links.
 */
export function rowTransformations<Labels extends string>(
  rows: Rows<Labels>,
  hidden: "left out" | "kept",
  kept: { readonly first?: First | undefined; readonly nonZero?: readonly string[] | undefined },
): readonly TransformationJson[] {
  const titles = columnTitles(rows);
  const names = Object.keys(titles);
  const leftOut = hidden === "kept" ? [] : hiddenLabels(rows);
  return [
    { id: "merge", options: {} },
    {
      id: "organize",
      options: {
        excludeByName: { Time: true, ...Object.fromEntries(leftOut.map((label) => [label, true])) },
        indexByName: Object.fromEntries(names.map((name, index) => [name, index])),
        renameByName: titles,
        includeByName: {},
      },
    },
    ...(kept.nonZero === undefined ? [] : [onlyNonZero(kept.nonZero)]),
    ...(kept.first === undefined
      ? []
      : [
          { id: "sortBy" as const, options: { fields: {}, sort: [{ field: kept.first.by, desc: true }] } },
          { id: "limit" as const, options: { limitField: kept.first.count } },
        ]),
  ];
}

/** Keeps the rows in which at least one of these columns (by title) is not 0; the others contain nothing of interest. */
function onlyNonZero(columns: readonly string[]): TransformationJson {
  const filters = columns.flatMap((fieldName) =>
    ["greater", "lower"].map((id) => ({ fieldName, config: { id, options: { value: 0 } } })),
  );
  return { id: "filterByValue", options: { type: "include", match: "any", filters } };
}

/** The unit, the colours and the links of each column. */
export function rowOverrides<Labels extends string>(
  { labels, values }: Rows<Labels>,
  links: Readonly<Partial<Record<Labels, ValueLink>>> | undefined,
): readonly OverrideJson[] {
  const texts = entriesOf(labels).flatMap(([label, title]) => {
    const link = links?.[label];
    if (title === null) return [];
    const properties = [
      { id: "noValue", value: noCell },
      ...(link === undefined ? [] : [{ id: "links", value: [linkJson(link)] }]),
      ...(label === "title" ? wrapped : []),
    ];
    return [override(title, properties)];
  });
  const hidden = hiddenLabels({ labels, values }).map((label) => override(label, hiddenProperties));
  return [...texts, ...hidden, ...values.map(valueOverride)];
}

/** The text of a cell without a value. Why there is no row at all is explained by the panel itself. */
const noCell = "–";

/**
 * The properties with which a long title is wrapped. The first is Grafana's name for it from version 11 on, the second from
 * version 12 on; each version ignores the other.
 */
const wrapped = [
  { id: "custom.cellOptions", value: { type: "auto", wrapText: true } },
  { id: "custom.wrapText", value: true },
];

/** The meaning of the levels of the columns. */
export function rowsText<Labels extends string>({ values }: Rows<Labels>): string {
  const reported = values.flatMap(({ title, levels = neutral, unit }) => {
    const said = levelsText(levels, unit);
    return said === "" ? [] : [` ${title}:${said.slice(0, 1)}${said.slice(1, 2).toLowerCase()}${said.slice(2)}`];
  });
  return reported.join("");
}

/** The title of each column, by the name of its field in Grafana. */
function columnTitles<Labels extends string>({ labels, values }: Rows<Labels>): Readonly<Record<string, string>> {
  const shown = entriesOf(labels).flatMap(([label, title]): [string, string][] =>
    title === null ? [] : [[label, title]],
  );
  const numbers = values.map(({ title }, index): [string, string] => [`Value #${refIdOf(index)}`, title]);
  // This is the name of the value where only one query finds anything.
  return Object.fromEntries([...shown, ["Value", values[0].title], ...numbers]);
}

function hiddenLabels<Labels extends string>({ labels }: Rows<Labels>): readonly string[] {
  return entriesOf(labels).flatMap(([label, title]) => (title === null ? [label] : []));
}

function valueOverride<Labels extends string>(column: ValueColumn<Labels>): OverrideJson {
  const { title, unit, levels, texts, cell = "text" } = column;
  const decimals = column.decimals ?? unit.decimals;
  const runbooks = runbookLinks(levels ?? neutral);
  const coloured = cell === "text" && levels !== undefined;
  return override(title, [
    { id: "unit", value: unit.id },
    ...(decimals === undefined ? [] : [{ id: "decimals", value: decimals }]),
    ...(unit.min === undefined ? [] : [{ id: "min", value: unit.min }]),
    ...(unit.max === undefined ? [] : [{ id: "max", value: unit.max }]),
    { id: "thresholds", value: thresholdsOf(levels ?? neutral) },
    { id: "color", value: { mode: "thresholds" } },
    { id: "noValue", value: noCell },
    ...(texts === undefined ? [] : [{ id: "mappings", value: [valueTexts(texts)] }]),
    ...(runbooks.length === 0 ? [] : [{ id: "links", value: runbooks.map(linkJson) }]),
    ...(cell === "bar" ? [{ id: "custom.cellOptions", value: { type: "gauge", mode: "basic" } }] : []),
    ...(coloured ? [{ id: "custom.cellOptions", value: { type: "color-text" } }] : []),
  ]);
}

function valueTexts(texts: Readonly<Record<number, string>>): ValueMappingJson {
  const options = Object.entries(texts).map(([value, text], index) => [value, { text, index }] as const);
  return { type: "value", options: Object.fromEntries(options) };
}

function override(title: string, properties: OverrideJson["properties"]): OverrideJson {
  return { matcher: { id: "byName", options: title }, properties };
}

/** The labels with their titles, in their order. */
export function entriesOf<Labels extends string>(
  labels: Rows<Labels>["labels"],
): readonly (readonly [Labels, string | null])[] {
  const entries: [Labels, string | null][] = [];
  for (const label in labels) entries.push([label, labels[label]]);
  return entries;
}
