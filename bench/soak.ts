/**
 * Does the exporter's memory stay the same? Runs cycle after cycle, without queues at full size and then with queues, each in a
 * process of its own, and writes docs/soak.md. `node --expose-gc bench/soak.ts [--cycles=200]` ends with 1 if memory grew.
 * `--subject=queues --nodes=1000` runs one of them and prints what it found.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { getHeapStatistics } from "node:v8";
import { describeMachine } from "./machine.ts";
import { collectGarbage, median } from "./measure.ts";
import { type SoakSubjectName, soakSubjects } from "./soakSubjects.ts";

/**
 * The nodes of each cluster, the cycles that it runs, and after how many of them caches and the heap have their final size. With
 * queues a cycle costs several times as much, and closed advice is kept for a day, which is 288 cycles of that cluster.
 */
const plans: Readonly<
  Record<SoakSubjectName, { readonly nodes: number; readonly cycles: number; readonly settled: number }>
> = {
  wire: { nodes: 10_000, cycles: 200, settled: 50 },
  queues: { nodes: 1_000, cycles: 450, settled: 300 },
};
/** The part by which memory may grow after that, at most. */
const allowedGrowth = 0.03;

interface Row {
  readonly rss: number;
  readonly heap: number;
  readonly cpuMs: number;
}

/** What the cycles of one cluster took. */
interface Soak {
  readonly cluster: string;
  readonly rows: readonly Row[];
  /** The cycle from which on memory is compared. */
  readonly mark: number;
  readonly heapAtEnd: number;
  readonly failed: number;
  readonly minutes: number;
}

const { values } = parseArgs({
  options: { subject: { type: "string" }, nodes: { type: "string" }, cycles: { type: "string" } },
});
const names = (["wire", "queues"] as const).filter((name) => values.subject === undefined || values.subject === name);

if (values.subject === undefined) {
  const soaks = names.map(inOwnProcess);
  report(soaks);
  process.stdout.write(`${soaks.map((soak) => `soak: ${words(soak)}`).join("\n")}\n`);
  process.exit(soaks.every(isSteady) ? 0 : 1);
}
for (const name of names) process.stdout.write(JSON.stringify(await run(name)));
process.exit(0);

function inOwnProcess(subject: SoakSubjectName): Soak {
  const own = fileURLToPath(import.meta.url);
  const given = process.argv.slice(2);
  const args = [...process.execArgv, own, `--subject=${subject}`, ...given];
  const stdio = ["ignore", "pipe", "inherit"] as const;
  return JSON.parse(execFileSync(process.execPath, args, { stdio: [...stdio], encoding: "utf8" }));
}

async function run(name: SoakSubjectName): Promise<Soak> {
  const plan = plans[name];
  const cycles = Number(values.cycles ?? plan.cycles);
  const mark = Math.min(plan.settled, Math.floor((cycles * 2) / 3));
  const subject = await soakSubjects[name](Number(values.nodes ?? plan.nodes));
  const from = performance.now();
  const rows: Row[] = [];
  for (let done = 1; done <= cycles; done += 1) {
    const cpuMs = await subject.cycle();
    const { rss, heapUsed } = process.memoryUsage();
    rows.push({ rss, heap: heapUsed, cpuMs });
    if (done % everyOf(cycles) === 0) {
      const seconds = ((performance.now() - from) / 1000).toFixed(0);
      process.stderr.write(`soak: ${name}: ${seconds} s: cycle ${done} of ${cycles}, ${mib(rss)} MiB resident\n`);
    }
  }
  collectGarbage();
  const heapAtEnd = process.memoryUsage().heapUsed;
  const failed = subject.failed();
  const minutes = (performance.now() - from) / 60_000;
  await subject.stop();
  return { cluster: subject.cluster, rows, mark, heapAtEnd, failed, minutes };
}

/** Every how many cycles something is said. */
function everyOf(cycles: number): number {
  return Math.max(1, Math.floor(cycles / 20));
}

function growthOf({ rows, mark }: Soak) {
  const early = median(rows.slice(Math.max(0, mark - 5), mark + 5).map(({ rss }) => rss));
  const late = median(rows.slice(-10).map(({ rss }) => rss));
  return { early, late, growth: late / early - 1 };
}

function isSteady(soak: Soak): boolean {
  return growthOf(soak).growth < allowedGrowth && soak.failed === 0;
}

function words(soak: Soak): string {
  const { early, late, growth } = growthOf(soak);
  return `${isSteady(soak) ? "steady" : "NOT steady"}: resident memory went from ${mib(early)} MiB (around cycle ${soak.mark}) to ${mib(late)} MiB (last 10 cycles), ${(growth * 100).toFixed(1)} %`;
}

function report(soaks: readonly Soak[]): void {
  const { cores, cpuModel, memoryGiB, node } = describeMachine();
  writeFileSync(
    new URL("../docs/soak.md", import.meta.url),
    `# Soak

Written by \`npm run soak\`. Garbage is collected when Node thinks fit, within ${(getHeapStatistics().heap_size_limit / 2 ** 20).toFixed(0)} MiB of heap (\`--max-old-space-size=640\`), as
a container's memory limit would bound it: on a machine with much memory Node lets garbage lie for longer. Memory may grow by
less than ${allowedGrowth * 100} % after the first cycles. ${cores} cores of ${cpuModel}, ${memoryGiB} GiB, Node ${node}.

${soaks.map(section).join("\n\n")}
`,
  );
}

function section(soak: Soak, index: number): string {
  const marks = soak.rows.flatMap((row, at) =>
    (at + 1) % everyOf(soak.rows.length) === 0 ? [{ cycle: at + 1, ...row }] : [],
  );
  return `## ${index === 0 ? "Without queues" : "With queues"}

${soak.rows.length} cycles of a cluster of ${soak.cluster}. It took ${soak.minutes.toFixed(0)} minutes.

**${words(soak)}**. Cycles that failed: ${soak.failed}. Heap after a last collection: ${mib(soak.heapAtEnd)} MiB.

| cycle | resident MiB | heap MiB | CPU ms of the cycle |
|---|---|---|---|
${marks.map(({ cycle, rss, heap, cpuMs }) => `| ${cycle} | ${mib(rss)} | ${mib(heap)} | ${cpuMs.toFixed(0)} |`).join("\n")}`;
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
