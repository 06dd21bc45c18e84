/** Labels of the target, as a scrape adds them. */
export type TargetLabels = Readonly<Record<string, string>>;

const escaped = (value: string): string => value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");

/** A line of OpenMetrics: `name{label="value"} value time`. `at`: seconds since the epoch. */
export function sampleLine(name: string, labels: TargetLabels, value: number | string, at: number): string {
  const inside = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}{${inside.join(",")}} ${value} ${at}\n`;
}

/**
 * The samples of a metrics page (text format, no times on it) as a Prometheus that scraped it at `at` would store them. Labels
 * of the page win over the target's of the same name, as with `honor_labels`.
 */
export function timedSamples(page: string, target: TargetLabels, at: number): string {
  const added = Object.entries(target).map(([label, text]) => [`${label}="`, `${label}="${escaped(text)}"`] as const);
  const timed: string[] = [];
  for (const line of page.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    // Nothing follows the labels but the value: a brace in a label's value is always before the last one.
    const end = line.lastIndexOf("}");
    const [head, value] = end < 0 ? splitAtSpace(line) : [line.slice(0, end), line.slice(end + 2)];
    const own = end < 0 ? `${head}{` : head;
    const more = added.filter(([start]) => !own.includes(`{${start}`) && !own.includes(`,${start}`));
    const comma = own.endsWith("{") || more.length === 0 ? "" : ",";
    timed.push(`${own}${comma}${more.map(([, text]) => text).join(",")}} ${value} ${at}\n`);
  }
  return timed.join("");
}

function splitAtSpace(line: string): readonly [string, string] {
  const space = line.indexOf(" ");
  return [line.slice(0, space), line.slice(space + 1)];
}
