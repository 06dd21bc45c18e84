import type { Family } from "../family.ts";

/** Content type of the Prometheus text format. */
export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Renders families in the Prometheus text format 0.0.4
 * (https://prometheus.io/docs/instrumenting/exposition_formats/). Families keep their order, series are sorted by their
 * label values, so that the same input gives the same bytes.
 */
export function renderPage(families: readonly Family[]): Buffer {
  let page = "";
  for (const family of families) page += renderFamily(family);
  return Buffer.from(page, "utf8");
}

function renderFamily({ name, help, type, labelNames, series }: Family): string {
  const lines = series.map(({ labelValues, value }) => {
    let labels = "";
    for (const [index, label] of labelNames.entries()) {
      const labelValue = labelValues[index] ?? "";
      labels += `${index === 0 ? "{" : ","}${label}="${escapeLabelValue(labelValue)}"`;
    }
    return `${name}${labels === "" ? "" : `${labels}}`} ${renderNumber(value)}\n`;
  });
  lines.sort();
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

const needsEscape = /[\\"\n]/;

function escapeLabelValue(text: string): string {
  if (!needsEscape.test(text)) return text;
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

/** Shortest text that reads back as the same double; Go's spelling of what is no number. */
function renderNumber(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}
