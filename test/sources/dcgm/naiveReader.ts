import { type LabelRole, labelRoles, nvidiaDcgm } from "../../../exporter/sources/dcgm/dialects.ts";

/** What the lexer would report, found with split and regular expressions: its oracle, and the baseline of the bench. */
export interface NaiveSample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface NaivePage {
  readonly samples: readonly NaiveSample[];
  /** Label sets of rows whose value nobody asks for. */
  readonly presences: readonly Readonly<Record<string, string>>[];
  readonly malformed: number;
}

const blanks = "[ \\t\\r]*";
const label = `([a-zA-Z_][a-zA-Z0-9_]*)${blanks}=${blanks}"((?:[^"\\\\]|\\\\[^])*)"${blanks},?${blanks}`;
const block = new RegExp(`^${blanks}(\\{${blanks}(?:${label})*\\})`);
const eachLabel = new RegExp(label, "g");
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const firstCounts: readonly LabelRole[] = [
  "uuid",
  "gpuInstance",
  "profile",
  "modelName",
  "gpuIndex",
  "host",
  "otherEntity",
];

export function naiveRead(bytes: Buffer, acceptsCutLine: boolean): NaivePage {
  const samples: NaiveSample[] = [];
  const presences: Record<string, string>[] = [];
  let malformed = 0;
  const lines = bytes.toString("latin1").split("\n");
  for (const [index, line] of lines.entries()) {
    const text = line.replace(/^[ \t\r]+/, "");
    if (text === "" || text.startsWith("#")) continue;
    const isCut = index === lines.length - 1 && !acceptsCutLine;
    const read = isCut || text.length > 65_536 ? null : readLine(text);
    if (read === null) malformed += 1;
    else if (read.value === "presence") presences.push(read.labels);
    else if (read.value !== "skip") samples.push({ metric: read.metric, labels: read.labels, value: read.value });
  }
  return { samples, presences, malformed };
}

function readLine(text: string): {
  readonly metric: string;
  readonly labels: Record<string, string>;
  readonly value: number | "presence" | "skip";
} | null {
  const metric = /^[a-zA-Z_:][a-zA-Z0-9_:]*(?=[{ \t])/.exec(text)?.[0];
  if (metric === undefined) return null;
  const isWanted = nvidiaDcgm.metrics.some(({ name }) => name === metric);
  if (!isWanted && !nvidiaDcgm.prefixes.some((prefix) => metric.startsWith(prefix))) {
    return { metric, labels: {}, value: "skip" };
  }
  let rest = text.slice(metric.length).replace(/^[ \t\r]+/, "");
  let labels: Record<string, string> = {};
  if (rest.startsWith("{")) {
    const found = block.exec(rest)?.[1];
    const read = found === undefined ? null : readLabels(found);
    if (found === undefined || read === null) return null;
    labels = read;
    rest = rest.slice(found.length);
  }
  if (!isWanted) return { metric, labels, value: "presence" };
  const [value, stamp, ...more] = rest
    .replace(/(^|[ \t\r])#.*$/s, "$1")
    .split(/[ \t\r]+/)
    .filter((token) => token !== "");
  if (value === undefined) return /^[ \t\r]*#/.test(rest) ? { metric, labels, value: Number.NaN } : null;
  const number = finite(value);
  if (Number.isNaN(number)) return { metric, labels, value: number };
  const isFine = more.length === 0 && (stamp === undefined || !Number.isNaN(finite(stamp)));
  return isFine ? { metric, labels, value: number } : null;
}

function finite(token: string): number {
  const number = decimal.test(token.slice(0, 400)) ? Number(token.slice(0, 400)) : Number.NaN;
  return Number.isFinite(number) ? number : Number.NaN;
}

function readLabels(text: string): Record<string, string> | null {
  const labels = new Map<LabelRole, string>();
  for (const [, name, raw] of text.slice(1).matchAll(eachLabel)) {
    if (name === undefined || raw === undefined || raw.length > 4096) return null;
    const role = labelRoles.find((one) => nvidiaDcgm.labels[one].includes(name));
    if (role === undefined || (firstCounts.includes(role) && labels.get(role))) continue;
    const value = Buffer.from(raw, "latin1").toString("utf8");
    labels.set(
      role,
      value.replace(/\\\\|\\"|\\n/g, (escaped) => (escaped === "\\n" ? "\n" : escaped.slice(1))),
    );
  }
  return Object.fromEntries([...labels].filter(([, value]) => value !== ""));
}
