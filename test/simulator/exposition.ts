/** One sample of a page. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  readonly text: string;
}

const name = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const label = `[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"`;
const sampleLine = new RegExp(`^(${name})\\{(${label}(?:,${label})*)\\} (-?(?:\\d+(?:\\.\\d+)?)(?:e[+-]\\d\\d+)?)$`);
const helpLine = new RegExp(`^# HELP (${name}) \\S.*$`);
const typeLine = new RegExp(`^# TYPE (${name}) (gauge|counter)$`);

/**
 * A strict reader of the text format: throws at the first line that is not exactly HELP, TYPE or a sample of the
 * family that was announced last, at a family that comes twice, and at a series that comes twice.
 */
export function readStrictly(page: string): readonly Sample[] {
  if (page !== "" && !page.endsWith("\n")) throw new Error("the page does not end with a line feed");
  const samples: Sample[] = [];
  const families = new Set<string>();
  const series = new Set<string>();
  let family = "";
  for (const line of page.split("\n").slice(0, -1)) {
    const announced = helpLine.exec(line)?.[1];
    if (announced !== undefined) {
      if (families.has(announced)) throw new Error(`family twice: ${announced}`);
      families.add(announced);
      family = announced;
      continue;
    }
    const typed = typeLine.exec(line);
    if (typed !== null) {
      if (typed[1] !== family) throw new Error(`TYPE of another family: ${line}`);
      continue;
    }
    const sample = sampleLine.exec(line);
    if (sample === null || sample[1] !== family) throw new Error(`not a sample of ${family}: ${line}`);
    const [, sampleName = "", labelText = "", text = ""] = sample;
    if (series.has(`${sampleName}{${labelText}}`)) throw new Error(`series twice: ${line}`);
    series.add(`${sampleName}{${labelText}}`);
    samples.push({ name: sampleName, labels: labelsOf(labelText), value: Number(text), text });
  }
  return samples;
}

function labelsOf(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const match of text.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g)) {
    const [, key = "", value = ""] = match;
    if (labels.has(key)) throw new Error(`label twice: ${key}`);
    labels.set(key, value);
  }
  return labels;
}

/** Names of the families of a page in its order. */
export function familyNames(page: string): readonly string[] {
  return page.split("\n").flatMap((line) => helpLine.exec(line)?.[1] ?? []);
}
