/**
 * Runs the whole bench and writes bench/results/latest.json and docs/performance.md.
 *
 *   node bench/main.ts             everything at all sizes
 *   node bench/main.ts --short     1,000 nodes; ends with 1 when a ratio is worse than its goal with slack
 *   --only=cycle,prometheus        these questions only; the other answers of the last run stay
 *   --any-load                     also on a busy machine; the results say so
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { goals, verdictOf } from "./goals.ts";
import { describeMachine, loadNow, maxLoad } from "./machine.ts";
import { fullPlan, type Step, shortPlan } from "./plan.ts";
import { writeReport } from "./report.ts";
import { latestFile, type Results, readResults } from "./results.ts";
import { onlyReported, shortLimits } from "./shortLimits.ts";

/** The tolerance of the short form: a value may be worse than its goal by this factor. */
const slack = 0.7;
const patienceSeconds = 300;
/** The flag with which the product is started, too (scripts/bootstrap.mjs). */
const smallYoungHeap = "--max-semi-space-size=8";
const say = (text: string): void => {
  process.stderr.write(`bench: ${text}\n`);
};

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    "any-load": { type: "boolean", default: false },
    only: { type: "string" },
  },
});
if (!(await isQuiet())) process.exit(3);
const only = values.only?.split(",");
const steps = (values.short ? shortPlan : fullPlan).filter(
  ({ key }) => only === undefined || only.includes(key) || only.includes(key.split("@")[0] ?? ""),
);
const folder = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
const startedAt = new Date().toISOString();
const loadBefore = loadNow();
const from = performance.now();
const kept = only !== undefined && !values.short && existsSync(latestFile) ? readResults().answers : {};
const answers: Record<string, unknown> = { ...kept };
const failures: string[] = [];
for (const [index, step] of steps.entries()) {
  say(`${index + 1} of ${steps.length}: ${step.key}`);
  const began = performance.now();
  const answer = await run(step);
  if (answer === null) failures.push(step.key);
  else answers[step.key] = answer;
  say(`${step.key} ${answer === null ? "FAILED after" : "took"} ${((performance.now() - began) / 1000).toFixed(0)} s`);
}
rmSync(folder, { recursive: true, force: true });
const results: Results = {
  command: `npm run bench${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(" ")}` : ""}`,
  startedAt,
  seconds: (performance.now() - from) / 1000,
  machine: describeMachine(),
  loadBefore,
  anyLoad: values["any-load"],
  answers,
};
const missed = values.short ? checkShort(results) : record(results);
for (const key of failures) say(`${key} failed; its output above says why`);
process.exit(failures.length > 0 || missed > 0 ? 1 : 0);

/** Waits for some minutes until the machine is quiet. Returns whether it is. */
async function isQuiet(): Promise<boolean> {
  if (values["any-load"]) return true;
  for (let waited = 0; loadNow() > maxLoad; waited += 10) {
    if (waited >= patienceSeconds) {
      say(
        `load ${loadNow().toFixed(2)} is above ${maxLoad}: numbers would be wrong. Stop what runs, or add --any-load`,
      );
      return false;
    }
    if (waited % 60 === 0) say(`load ${loadNow().toFixed(2)} is above ${maxLoad}: waiting`);
    await wait(10_000);
  }
  return true;
}

/** Runs a step in its own process, so that each begins with an empty heap. */
async function run({ key, script, args, nodeFlags = [], answer }: Step): Promise<unknown> {
  const out = join(folder, `${key}.json`);
  const path = fileURLToPath(new URL(script, import.meta.url));
  const more = answer === "file" ? [`--out=${out}`, "--any-load"] : [];
  const child = spawn(process.execPath, ["--expose-gc", smallYoungHeap, ...nodeFlags, path, ...args, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) return null;
  const printed = Buffer.concat(chunks).toString("utf8");
  if (answer === "text") return { text: printed };
  const json = answer === "file" ? readFileSync(out, "utf8") : printed.split("\n").find((line) => line.startsWith("{"));
  return json === undefined ? null : JSON.parse(json);
}

function record(all: Results): number {
  mkdirSync(new URL(".", latestFile), { recursive: true });
  writeFileSync(latestFile, `${JSON.stringify(all, null, 2)}\n`);
  writeReport(all);
  say("wrote bench/results/latest.json and docs/performance.md");
  return 0;
}

/** Prints every ratio. Returns how many are worse than the tolerance allows. */
function checkShort(all: Results): number {
  let ok = 0;
  let worse = 0;
  for (const goal of goals.filter(({ kind }) => kind === "ratio")) {
    const limit = shortLimits[goal.id] === undefined ? goal.limit : shortLimits[goal.id];
    if (limit === null || limit === undefined) continue;
    const value = goal.value(all);
    const whyReported = onlyReported[goal.id];
    if (whyReported !== undefined && Number.isFinite(value)) {
      process.stdout.write(`reported ${goal.id}: ${value.toPrecision(3)}, no test: ${whyReported}\n`);
      continue;
    }
    const verdict = verdictOf({ ...goal, limit }, value, slack);
    if (verdict === "yes") ok += 1;
    else worse += 1;
    const bound = goal.is === "at most" ? limit / slack : limit * slack;
    const of = limit === goal.limit ? "its goal" : `what was recorded; the goal is ${goal.is} ${goal.limit}`;
    process.stdout.write(
      `${verdict === "yes" ? "ok  " : "FAIL"} ${goal.id}: ${value.toPrecision(3)}, ${goal.is} ${bound.toPrecision(3)} (slack of ${of})\n`,
    );
  }
  process.stdout.write(`Ratios  ${worse > 0 ? `${worse} failed | ` : ""}${ok} passed (${ok + worse})\n`);
  return worse;
}
