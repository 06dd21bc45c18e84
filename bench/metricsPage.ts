/**
 * How fast are `/metrics` and `/` while `fairlead serve` runs its cycles, against a plain node:http server that sends the same
 * bytes? Both are asked in turns for the same minutes, so that what else keeps the machine busy (exporters, the API server, the
 * cycle itself) delays both alike. The load comes from a process of its own.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { quantile } from "./measure.ts";
import { ask } from "./question.ts";
import { startServedFleet } from "./servedFleet.ts";

/** Requests of one turn: a turn is short compared with a cycle, so that turns fall into all parts of it. */
const requests = 60;
/** Connections, as many as the usual clients have: two Prometheus replicas, a collector, and a person. */
const connections = 4;
/** Seconds between two cycles: few enough that at 10,000 nodes a cycle is nearly always running. */
const interval = 5;
const port = 19_846;
const probePort = 19_847;

const loadSchema = z.object({ first: z.array(z.number()), last: z.array(z.number()) });
type Load = z.infer<typeof loadSchema>;

await ask("metricsPage", async ({ nodes, samples, helpers, progress }) => {
  const { fleet, folder, url, stop } = await startServedFleet({ nodes, helpers, interval, port, probePort });
  const children: ChildProcess[] = [];
  try {
    progress("ready");
    const server = async (path: string, name: string) => {
      const bytes = Buffer.from(await (await fetch(`${url}${path}`)).arrayBuffer());
      writeFileSync(join(folder, name), bytes);
      const still = fork(fileURLToPath(new URL("staticServer.ts", import.meta.url)), [join(folder, name)], {
        execArgv: [],
      });
      children.push(still);
      if (still.pid !== undefined) helpers.add(still.pid);
      const [address] = await once(still, "message");
      return { address: `${address}${path}`, bytes: bytes.length };
    };
    const [page, start] = [await server("/metrics", "page"), await server("/", "start")];
    const asked = {
      metrics: `${url}/metrics`,
      static: page.address,
      start: `${url}/`,
      staticStart: start.address,
    };
    const found = new Map<string, Load>(Object.keys(asked).map((name) => [name, { first: [], last: [] }]));
    const cyclesBefore = await cyclesOf(asked.metrics);
    const turns = Math.max(5, samples * 5);
    for (let turn = 1; turn <= turns; turn += 1) {
      // The fleet changes while it is asked, as a cluster does.
      if (turn % 5 === 0) await fleet.advance(turn);
      for (const [name, address] of Object.entries(asked)) {
        const { first, last } = await load(address);
        found.get(name)?.first.push(...first);
        found.get(name)?.last.push(...last);
      }
      if (turn % 5 === 0) progress(`turn ${turn} of ${turns}`);
    }
    const cycles = (await cyclesOf(asked.metrics)) - cyclesBefore;
    const at = (name: keyof typeof asked, part: keyof Load, q: number): number =>
      quantile(found.get(name)?.[part] ?? [], q);
    const figures = {
      pageBytes: page.bytes,
      startBytes: start.bytes,
      cycles,
      staticP50Ms: at("static", "last", 0.5),
      staticP99Ms: at("static", "last", 0.99),
      metricsP50Ms: at("metrics", "last", 0.5),
      metricsP99Ms: at("metrics", "last", 0.99),
      staticStartFirstByteP99Ms: at("staticStart", "first", 0.99),
      startFirstByteP50Ms: at("start", "first", 0.5),
      startFirstByteP99Ms: at("start", "first", 0.99),
    };
    return { measurements: [], figures };
  } finally {
    for (const child of children) child.kill();
    await stop();
  }
});

/** The number of cycles that were complete so far. */
async function cyclesOf(metrics: string): Promise<number> {
  const page = await (await fetch(metrics)).text();
  return Number(/^fairlead_cycles_total\{[^}]*result="ok"[^}]*\} (\S+)$/m.exec(page)?.[1] ?? Number.NaN);
}

/** The milliseconds of each request of one turn. */
async function load(url: string): Promise<Load> {
  const child = fork(
    fileURLToPath(new URL("loader.ts", import.meta.url)),
    [url, String(requests), String(connections)],
    { execArgv: [] },
  );
  const [times] = await once(child, "message");
  return loadSchema.parse(times);
}
