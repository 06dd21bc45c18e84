/**
 * Does the exporter's memory stay the same? Runs cycle after cycle at full size, with 1 % of the pods changing in each, and
 * writes docs/soak.md. `node --expose-gc bench/soak.ts --nodes=10000 [--cycles=200]` ends with 1 if the memory grew.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { getHeapStatistics } from "node:v8";
import { startFleet } from "./fleet/fleet.ts";
import { describeMachine } from "./machine.ts";
import { collectGarbage, median } from "./measure.ts";
import { createProduct, wholeOf } from "./product.ts";

/** The number of cycles until caches and the heap have their final size. */
const settled = 50;
/** The part by which memory may grow after that, at most. */
const allowedGrowth = 0.05;

const { values } = parseArgs({
  options: { nodes: { type: "string", default: "10000" }, cycles: { type: "string", default: "200" } },
});
const [nodes, cycles] = [Number(values.nodes), Number(values.cycles)];
const fleet = await startFleet(nodes);
const product = createProduct(fleet);
await product.sync();
const from = performance.now();
const rows: { readonly rss: number; readonly heap: number; readonly cpuMs: number }[] = [];
const sayEvery = Math.max(1, Math.floor(cycles / 20));
for (let done = 1; done <= cycles; done += 1) {
  const { cpuMs } = wholeOf(await product.cycle());
  const { rss, heapUsed } = process.memoryUsage();
  rows.push({ rss, heap: heapUsed, cpuMs });
  if (done % sayEvery === 0) {
    const seconds = ((performance.now() - from) / 1000).toFixed(0);
    process.stderr.write(`soak: ${seconds} s: cycle ${done} of ${cycles}, ${mib(rss)} MiB resident\n`);
  }
}
collectGarbage();
const heapAtEnd = process.memoryUsage().heapUsed;
const failed = product.stack.cycle.health().cycles.failed;
const minutes = (performance.now() - from) / 60_000;
await product.stop();
fleet.stop();

const around = (cycle: number): number => median(rows.slice(Math.max(0, cycle - 5), cycle + 5).map(({ rss }) => rss));
const mark = Math.min(settled, Math.floor(cycles / 4));
const early = around(mark);
const late = median(rows.slice(-10).map(({ rss }) => rss));
const growth = late / early - 1;
const steady = growth < allowedGrowth && failed === 0;

const { cores, cpuModel, memoryGiB, node } = describeMachine();
const marks = rows.flatMap((row, index) => ((index + 1) % sayEvery === 0 ? [{ cycle: index + 1, ...row }] : []));
writeFileSync(
  new URL("../docs/soak.md", import.meta.url),
  `# Soak

Written by \`npm run soak\`. ${cycles} cycles of a cluster of ${nodes} nodes, ${nodes * 8} GPUs and ${nodes * 10} pods on loopback; in each
cycle every page has other values, and 1 % of the pods change (half of them are replaced). Garbage is collected when
Node thinks fit, within ${(getHeapStatistics().heap_size_limit / 2 ** 20).toFixed(0)} MiB of heap (\`--max-old-space-size=640\`), as a container's memory limit would bound it: on a
machine with much memory Node lets garbage lie for longer.

**${steady ? "Steady" : "Not steady"}**: resident memory went from ${mib(early)} MiB (around cycle ${mark}) to ${mib(late)} MiB (last 10 cycles),
${(growth * 100).toFixed(1)} %; allowed is less than ${allowedGrowth * 100} %. Cycles that failed: ${failed}. Heap after a last collection: ${mib(heapAtEnd)} MiB.
It took ${minutes.toFixed(0)} minutes on ${cores} cores of ${cpuModel}, ${memoryGiB} GiB, Node ${node}.

| cycle | resident MiB | heap MiB | CPU ms of the cycle |
|---|---|---|---|
${marks.map(({ cycle, rss, heap, cpuMs }) => `| ${cycle} | ${mib(rss)} | ${mib(heap)} | ${cpuMs.toFixed(0)} |`).join("\n")}
`,
);
process.stdout.write(
  `soak: ${steady ? "steady" : "NOT steady"}, ${(growth * 100).toFixed(1)} % growth, docs/soak.md\n`,
);
process.exit(steady ? 0 : 1);

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
