import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { before } from "./before.ts";
import { computeMs, type Goal, goals, verdictOf } from "./goals.ts";
import { fullPlan } from "./plan.ts";
import { reasons } from "./reasons.ts";
import { cpuMs, figure, numberAt, type Results, readResults, sizesOf, valueAt } from "./results.ts";

const page = new URL("../docs/performance.md", import.meta.url);
const profileFile = new URL("results/profile.md", import.meta.url);

/** Writes docs/performance.md. `node bench/report.ts` writes it again from the last results, for new reasons. */
export function writeReport(results: Results): void {
  writeFileSync(page, render(results));
}

function render(results: Results): string {
  const sections = [
    head(results),
    goalTable(results),
    cycleTable(results),
    contenders(results),
    ledger(results),
    profile(),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

/** How many cores other work may keep busy beside an answer that counts as measured alone. */
const foreignAllowed = 0.3;

function head({ machine, command, startedAt, seconds, loadBefore, answers }: Results): string {
  const packages = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`);
  const disturbed = Object.entries(answers)
    .map(([key, answer]) => ({ key, cores: numberAt(answer, "foreignCores") }))
    .filter(({ cores }) => cores > foreignAllowed)
    .map(({ key, cores }) => `\`${key}\` (${cores.toFixed(1)} cores)`);
  const doubt =
    disturbed.length === 0
      ? ""
      : `\n\n**Measured beside other work**, so that these numbers are higher than alone: ${disturbed.join(", ")}.`;
  return `# Performance

Written by \`${command}\` on ${startedAt.slice(0, 10)} in ${(seconds / 60).toFixed(0)} minutes; raw numbers: bench/results/latest.json. How it is
measured: bench/README.md. ${machine.cores} cores of ${machine.cpuModel}, ${machine.memoryGiB} GiB, Linux ${machine.kernel}, Node ${machine.node}, ${packages.join(", ")};
load before ${loadBefore.toFixed(2)}. Everything runs on loopback, without TLS. Times are CPU time of the process that does the work, all its
threads and its garbage collection, median of the samples; both sides of a ratio are measured in the same run.${doubt}`;
}

function goalTable(results: Results): string {
  const found = goals.map((goal) => {
    const value = goal.value(results);
    const verdict = verdictOf(goal, value);
    return { goal, verdict, text: Number.isFinite(value) ? amount(value, goal) : "-" };
  });
  const rows = found.map(
    ({ goal, verdict, text }) =>
      `| \`${goal.id}\`: ${goal.text} | ${wantedOf(goal)} | ${beforeOf(goal)} | ${text} | ${verdict === "missed" ? "**missed**" : verdict} |`,
  );
  const missed = found.flatMap(({ goal, verdict, text }) =>
    verdict === "missed" ? [`- \`${goal.id}\`: ${text}, wanted ${wantedOf(goal)}. ${reasons[goal.id] ?? ""}`] : [],
  );
  const why = missed.length === 0 ? "" : `\n\n### Why goals are missed\n\n${missed.join("\n")}`;
  return `## Goals\n\nFor 10,000 nodes, 80,000 GPUs and 100,000 pods on one core. Before: before only what changed was computed, on two cores of an Intel Xeon.\n\n| goal | wanted | before | found | reached |\n|---|---|---|---|---|\n${rows.join("\n")}${why}`;
}

const wantedOf = (goal: Goal): string => `${goal.is} ${amount(goal.limit, goal)}`;

function beforeOf(goal: Goal): string {
  const value = before[goal.id];
  return value === undefined ? "" : amount(value, goal);
}

function amount(value: number, { unit }: Goal): string {
  const text =
    Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
  return unit === "" ? text : `${text} ${unit}`;
}

const stages = [
  "watch",
  "receive and parse",
  "collect",
  "join",
  "analyse",
  "accrue",
  "advise",
  "publish",
  "whole cycle",
] as const;

/** A row of the table of cycles: its value by the key of an answer. */
type CycleRow = readonly [label: string, unit: string, value: (key: string, results: Results) => number];

const stageRow = (stage: string): CycleRow => [stage, "ms", (key, results) => cpuMs(results, key, stage)];
const figureRow = (label: string, unit: string, name: string): CycleRow => [
  label,
  unit,
  (key, results) => figure(results, key, name),
];

const cycleRows: readonly CycleRow[] = [
  ...stages.map(stageRow),
  figureRow("whole cycle, mean with all collections of garbage", "ms", "meanCycleCpuMs"),
  figureRow("of it on other threads, which collect garbage and compile", "ms", "otherThreadsCpuMs"),
  ["compute: all but receiving, parsing as in `parse`", "ms", computeMs],
  figureRow("the sums of the eight rules alone, over what was joined", "ms", "teamSumsCpuMs"),
  figureRow("first sync of all objects", "ms", "firstSyncCpuMs"),
  figureRow("first cycle", "ms", "firstCycleCpuMs"),
  figureRow("of it receiving and parsing", "ms", "firstReceiveCpuMs"),
  figureRow("of it on other threads", "ms", "firstOtherThreadsCpuMs"),
  figureRow("event loop blocked, longest", "ms", "eventLoopDelayMaxMs"),
  figureRow("longest stage, wall time", "ms", "longestStageWallMs"),
  figureRow("longest pause for garbage", "ms", "gcPauseMaxMs"),
  figureRow("resident memory", "MiB", "rssMiB"),
  figureRow("heap", "MiB", "heapMiB"),
  figureRow("kept per GPU", "bytes", "bytesPerGpu"),
  figureRow("page of /metrics", "bytes", "pageBytes"),
];

function cycleTable(results: Results): string {
  const sizes = sizesOf(results, "cycle");
  if (sizes.length === 0) return "";
  const rows = cycleRows.flatMap(([label, unit, value]) => {
    const values = sizes.map((nodes) => value(`cycle@${nodes}`, results));
    // Answers that were recorded before a figure existed do not have it.
    if (values.some(Number.isNaN)) return [];
    const cells = values.map((one) => `${Number(one.toPrecision(3)).toLocaleString("en-US")} ${unit}`);
    return [`| ${label} | ${cells.join(" | ")} |`];
  });
  const heading = `| | ${sizes.map((nodes) => `${nodes.toLocaleString("en-US")} nodes`).join(" | ")} |\n|---|${sizes.map(() => "---|").join("")}`;
  return `## A cycle, stage by stage\n\nCPU time; \`watch\` takes the changes of 1 % of the pods.\n\n${heading}\n${rows.join("\n")}`;
}

function contenders(results: Results): string {
  const rows: string[] = [];
  const answers = inOrderOfPlan(results).filter(([key]) => !key.startsWith("cycle@"));
  for (const [key, answer] of answers) {
    const measurements = valueAt(answer, ["measurements"]);
    for (const one of Array.isArray(measurements) ? measurements : []) {
      rows.push(
        `| ${key} | ${String(valueAt(one, ["name"]))} | ${three(numberAt(one, "cpuMs"))} | ${three(numberAt(one, "wallMs"))} |`,
      );
    }
  }
  const numbers = answers.flatMap(([key, answer]) =>
    flatNumbers(key === "pods" ? answer : valueAt(answer, ["figures"])).map(
      ([name, value]) => `| ${key} | ${name} | ${three(value)} |`,
    ),
  );
  return `## Contenders\n\nThe number after \`@\` is the number of nodes.\n\n| question | contender | CPU ms | wall ms |\n|---|---|---|---|\n${rows.join("\n")}\n\n| question | figure | value |\n|---|---|---|\n${numbers.join("\n")}`;
}

/** Answers may have been recorded one by one; they are shown as a run of everything gives them. */
function inOrderOfPlan({ answers }: Results): readonly (readonly [string, unknown])[] {
  const places = new Map(fullPlan.map(({ key }, place) => [key, place] as const));
  return Object.entries(answers).sort(([a], [b]) => (places.get(a) ?? places.size) - (places.get(b) ?? places.size));
}

function flatNumbers(value: unknown, prefix = ""): readonly (readonly [string, number])[] {
  if (typeof value === "number") return [[prefix, value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => flatNumbers(inner, prefix === "" ? key : `${prefix}: ${key}`));
}

function three(value: number): string {
  return Number.isFinite(value)
    ? Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 4 })
    : "-";
}

function ledger(results: Results): string {
  const text = valueAt(results.answers, ["ledgerSize", "text"]);
  return typeof text === "string" ? `## Ledger\n\n\`\`\`text\n${text.trim()}\n\`\`\`` : "";
}

function profile(): string {
  if (!existsSync(profileFile)) return "";
  return `## Where the time goes\n\nSelf time in a CPU profile of the cycle (\`node bench/profile.ts\`), listing and warm-up included.\n\n${readFileSync(profileFile, "utf8").trim()}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeReport(readResults());
