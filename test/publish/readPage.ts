/** One sample of a page in the Prometheus text format. */
export interface PageSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** Reads a page character by character, as the format's specification says: slow, and independent of the renderer. */
export function readPage(page: string): PageSample[] {
  return page
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(readLine);
}

function readLine(line: string): PageSample {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  if (name === undefined) throw new Error(`no metric name: ${line}`);
  const { labels, end } =
    line[name.length] === "{" ? readLabels(line, name.length + 1) : { labels: new Map(), end: name.length };
  const text = line.slice(end);
  if (!/^ \S+$/.test(text)) throw new Error(`no value at ${end}: ${line}`);
  return { name, labels, value: Number(text.slice(1).replace("Inf", "Infinity")) };
}

function readLabels(line: string, start: number): { labels: Map<string, string>; end: number } {
  const labels = new Map<string, string>();
  let at = start;
  while (line[at] !== "}") {
    const label = /^,?([a-zA-Z_][a-zA-Z0-9_]*)="/.exec(line.slice(at));
    if (label?.[1] === undefined) throw new Error(`no label at ${at}: ${line}`);
    const { value, end } = readValue(line, at + label[0].length);
    labels.set(label[1], value);
    at = end;
  }
  return { labels, end: at + 1 };
}

function readValue(line: string, start: number): { value: string; end: number } {
  let value = "";
  for (let at = start; at < line.length; at++) {
    if (line[at] === '"') return { value, end: at + 1 };
    if (line[at] === "\\") {
      at += 1;
      value += line[at] === "n" ? "\n" : line[at];
    } else value += line[at];
  }
  throw new Error(`value does not end: ${line}`);
}
