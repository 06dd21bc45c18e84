import { compareText } from "../../kernel/compareText.ts";
import type { Family } from "../family.ts";

/** Content type of the Prometheus text format. */
export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Renders families in the Prometheus text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). Families keep their order, series are sorted by their
 * label values, so that the same input gives the same bytes.
 */
export function renderPage(families: readonly Family[], cache: RenderCache = new Map()): Buffer {
  let page = "";
  for (const family of families) page += renderFamily(family, labelTextsOf(family, cache));
  return Buffer.from(page, "utf8");
}

/** The text of label sets by family, as they were last rendered: from page to page, mostly numbers change. */
export type RenderCache = Map<string, LabelTexts>;

interface LabelTexts {
  readonly series: readonly (readonly string[])[];
  /** The text of a line before its number, by index of the series; for a histogram, its labels without brackets. */
  readonly texts: readonly string[];
  /** Indices of the series in the order of the page. */
  readonly order: readonly number[];
}

function renderFamily(family: Family, { texts, order }: LabelTexts): string {
  const { name, help, type, series } = family;
  let lines = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  if (family.bounds !== undefined) return lines + renderHistograms(family, family.bounds, { texts, order });
  for (const index of order) lines += `${texts[index] ?? ""}${renderNumber(series[index]?.value ?? Number.NaN)}\n`;
  return lines;
}

/** Renders histograms: for each entry, its buckets with the label `le`, its sum and its count. */
function renderHistograms(
  { name, series }: Family,
  bounds: readonly number[],
  { texts, order }: Pick<LabelTexts, "texts" | "order">,
): string {
  let lines = "";
  for (const index of order) {
    const { value = Number.NaN, histogram } = series[index] ?? {};
    const labels = texts[index] ?? "";
    const head = `${name}_bucket{${labels}${labels === "" ? "" : ","}le="`;
    for (const [i, bound] of bounds.entries()) {
      lines += `${head}${renderNumber(bound)}"} ${renderNumber(histogram?.buckets[i] ?? Number.NaN)}\n`;
    }
    lines += `${head}+Inf"} ${renderNumber(value)}\n`;
    lines += `${name}_sum{${labels}} ${renderNumber(histogram?.sum ?? Number.NaN)}\n`;
    lines += `${name}_count{${labels}} ${renderNumber(value)}\n`;
  }
  return lines;
}

function labelTextsOf(family: Family, cache: RenderCache): LabelTexts {
  const { name, series } = family;
  const known = cache.get(name);
  if (known !== undefined && hasSameLabels(series, known.series)) return known;
  const texts = labelTexts(family);
  const found = { series: series.map(({ labelValues }) => labelValues), texts, order: orderOf(texts) };
  cache.set(name, found);
  return found;
}

function hasSameLabels(series: Family["series"], known: LabelTexts["series"]): boolean {
  if (series.length !== known.length) return false;
  for (let i = 0; i < series.length; i++) {
    const [values, last] = [series[i]?.labelValues, known[i]];
    if (values === last) continue;
    if (values === undefined || last === undefined || values.length !== last.length) return false;
    for (let k = 0; k < values.length; k++) if (values[k] !== last[k]) return false;
  }
  return true;
}

/** The text of each series' line before its number. */
function labelTexts({ name, labelNames, series, bounds }: Family): readonly string[] {
  if (bounds !== undefined) {
    return series.map(({ labelValues }) =>
      labelNames.map((label, index) => `${label}="${escapeLabelValue(labelValues[index] ?? "")}"`).join(","),
    );
  }
  if (labelNames.length === 0) return series.map(() => `${name} `);
  const heads = labelNames.map((label, index) => `${index === 0 ? `${name}{` : '",'}${label}="`);
  return series.map(({ labelValues }) => {
    let text = "";
    for (let index = 0; index < heads.length; index++) {
      text += heads[index] + escapeLabelValue(labelValues[index] ?? "");
    }
    return `${text}"} `;
  });
}

/** Indices of the texts, in the order of the sorted texts. */
function orderOf(texts: readonly string[]): readonly number[] {
  const order = [...texts.keys()];
  const isSorted = texts.every((text, index) => index === 0 || (texts[index - 1] ?? "") <= text);
  return isSorted ? order : order.sort((a, b) => compareText(texts[a] ?? "", texts[b] ?? ""));
}

const needsEscape = /[\\"\n]/;

function escapeLabelValue(text: string): string {
  if (!needsEscape.test(text)) return text;
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

/** The shortest text that reads back as the same double; special values are spelled as in Go. */
function renderNumber(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}
