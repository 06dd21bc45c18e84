/**
 * Ends processes in the midst of their work with a ledger, in every way that a process can end, several at a time so that the
 * machine is busy, and checks the ledger after each. Writes docs/process-ends.md; ends with 1 if one crashed or lost something.
 * `node test/soak/processEnds.ts [--processes=500]`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describeMachine } from "../../bench/machine.ts";
import { checkLedger } from "../../exporter/accounts/ledger/checkLedger.ts";
import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { createRandomStream } from "../../simulator/random.ts";

/** How a process ends: what is done to it, and the exit status or signal that it must then have. */
const ways = {
  kill: { what: "SIGKILL", ends: "SIGKILL" },
  terminate: { what: "SIGTERM", ends: "SIGTERM" },
  exit: { what: "`process.exit`, threads inside of statements", ends: 0 },
  throw: { what: "an error that nobody catches", ends: 1 },
  abandon: { what: "closed without patience: threads are ended inside of statements", ends: 0 },
  close: { what: "closed as `serve` does it", ends: 0 },
} as const;
type Way = keyof typeof ways;
const names: readonly Way[] = ["kill", "terminate", "exit", "throw", "abandon", "close"];

/** Processes at a time: more than the machine has cores, so that each is interrupted anywhere. */
const lanes = 4;
const { values } = parseArgs({ options: { processes: { type: "string", default: "500" } } });
const processes = Number(values.processes);
const folder = mkdtempSync(join(tmpdir(), "fairlead-ends-"));
const wrong: string[] = [];
const counts = new Map<Way, { processes: number; cycles: number; unacknowledged: number }>();
let begun = 0;

/** One process on the ledger of its lane, which holds so many cycles; returns how many it holds then. */
async function endOne(file: string, allocated: number, way: Way, afterMilliseconds: number): Promise<number> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("endingProcess.ts", import.meta.url)), file, `${allocated}`, way],
    { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, TMPDIR: folder } },
  );
  let said = "";
  let complaint = "";
  child.stdin.on("error", () => {});
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const opened = new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.startsWith("opened\n")) resolve();
    });
  });
  const closed = once(child, "close");
  await Promise.race([opened, closed]);
  await wait(afterMilliseconds);
  if (way === "kill") child.kill("SIGKILL");
  else if (way === "terminate") child.kill("SIGTERM");
  else child.stdin.write("end\n");
  const [code, signal] = await closed;
  if ((signal ?? code) !== ways[way].ends)
    wrong.push(`${way}: ended with ${signal ?? code} instead of ${ways[way].ends}: ${complaint.slice(0, 300)}`);
  const acknowledged = said.split("\n").filter((line) => line.startsWith("done ")).length;
  return check(file, allocated, acknowledged, way);
}

function check(file: string, allocated: number, acknowledged: number, way: Way): number {
  const ledger = openToQuery(file);
  if (!ledger.ok) {
    wrong.push(`${way}: ${ledger.problem.message}`);
    return allocated + acknowledged;
  }
  const found = checkLedger(ledger.db);
  ledger.db.close();
  wrong.push(...found.wrong.map((line) => `${way}: ${line}`));
  const more = found.intervals === 0 || found.coverage === null ? 0 : found.coverage.coveredSeconds / 30 - allocated;
  if (more < acknowledged || more > acknowledged + 1)
    wrong.push(`${way}: ${acknowledged} cycles were acknowledged, ${more} are in the ledger`);
  const count = counts.get(way) ?? { processes: 0, cycles: 0, unacknowledged: 0 };
  count.processes += 1;
  count.cycles += acknowledged;
  count.unacknowledged += more - acknowledged;
  counts.set(way, count);
  return allocated + more;
}

async function lane(number: number): Promise<void> {
  const file = join(folder, `ledger-${number}.db`);
  const random = createRandomStream(number);
  let allocated = 0;
  while (begun < processes) {
    begun += 1;
    if (begun % 50 === 0) process.stderr.write(`soak: process ${begun} of ${processes}, ${wrong.length} wrong\n`);
    const way = names[begun % names.length] ?? "kill";
    allocated = await endOne(file, allocated, way, random.between(0, 400));
  }
}

const from = performance.now();
await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
rmSync(folder, { recursive: true, force: true });
const minutes = (performance.now() - from) / 60_000;
const { cores, cpuModel, node } = describeMachine();
const rows = names.map((way) => {
  const {
    processes: ended,
    cycles,
    unacknowledged,
  } = counts.get(way) ?? { processes: 0, cycles: 0, unacknowledged: 0 };
  return `| ${ways[way].what} | ${ways[way].ends} | ${ended} | ${cycles} | ${unacknowledged} |`;
});
const report = `# How processes end, and what their ledgers then hold

Written by \`npm run soak -- ends\`. ${processes} processes, ${lanes} at a time on ${cores} cores of ${cpuModel}, Node ${node}, ${minutes.toFixed(0)} minutes. Each runs
from the sources, opens the ledger that the one before has left, and keeps all three threads of a ledger inside of SQLite: one writes
cycles without a pause, one answers questions, one copies. After up to 400 ms it is ended. Then the ledger is checked as \`fairlead ledger check\`
does it, and what was acknowledged must be there.

**${wrong.length === 0 ? "Nothing was wrong" : `${wrong.length} were wrong`}**: ${wrong.length === 0 ? "every process ended as intended, every ledger was sound, and no acknowledged cycle was lost." : "see below."}

| ended by | exit status or signal | processes | cycles acknowledged | cycles in the ledger that had not been acknowledged yet |
|---|---|---|---|---|
${rows.join("\n")}
${wrong.map((line) => `\n- ${line.replaceAll("\n", " ")}`).join("")}`;
writeFileSync(new URL("../../docs/process-ends.md", import.meta.url), `${report.trimEnd()}\n`);
process.stderr.write(`soak: ${wrong.length} wrong; wrote docs/process-ends.md\n`);
process.exit(wrong.length === 0 ? 0 : 1);
