/**
 * How fast is `/metrics` under load, between cycles and during them, against a plain node:http server that sends the
 * same bytes? The load comes from a third process.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "../exporter/publish/http/server.ts";
import { startFleet } from "./fleet/fleet.ts";
import { median, quantile } from "./measure.ts";
import { createProduct } from "./product.ts";
import { ask } from "./question.ts";

const requests = 500;
/** Scrapers as a rule: two Prometheus replicas, a collector, and a person. */
const connections = 4;

await ask("metricsPage", async ({ nodes, samples, helpers, progress }) => {
  const rounds = Math.max(3, Math.floor(samples / 2));
  const fleet = await startFleet(nodes);
  for (const pid of fleet.pids) helpers.add(pid);
  const product = createProduct(fleet);
  await product.sync();
  for (let done = 0; done < 4; done += 1) await product.cycle();
  const page = product.stack.latest()?.page ?? Buffer.alloc(0);
  const started = await startServer({
    handler: product.stack.app,
    listenAddress: "127.0.0.1:0",
    web: { basic_auth_users: {} },
    onProblem: () => undefined,
  });
  if (!started.ok) throw new Error(started.error);
  const folder = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  writeFileSync(join(folder, "page"), page);
  const still = fork(fileURLToPath(new URL("staticServer.ts", import.meta.url)), [join(folder, "page")], {
    execArgv: [],
  });
  if (still.pid !== undefined) helpers.add(still.pid);
  const [stillUrl] = await once(still, "message");

  const idle: number[][] = [];
  const plain: number[][] = [];
  const busy: number[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`);
    plain.push(await load(`${stillUrl}/metrics`));
    idle.push(await load(`${started.server.url}/metrics`));
    let isOver = false;
    const cycles = (async () => {
      while (!isOver) await product.cycle();
    })();
    busy.push(await load(`${started.server.url}/metrics`));
    isOver = true;
    await cycles;
  }
  still.kill();
  await started.server.close();
  await product.stop();
  fleet.stop();
  rmSync(folder, { recursive: true, force: true });
  const at = (all: readonly (readonly number[])[], q: number): number => median(all.map((round) => quantile(round, q)));
  const figures = {
    pageBytes: page.length,
    staticP50Ms: at(plain, 0.5),
    staticP99Ms: at(plain, 0.99),
    metricsP50Ms: at(idle, 0.5),
    metricsP99Ms: at(idle, 0.99),
    metricsDuringCyclesP50Ms: at(busy, 0.5),
    metricsDuringCyclesP99Ms: at(busy, 0.99),
  };
  return { measurements: [], figures };
});

/** Milliseconds of each request. */
async function load(url: string): Promise<number[]> {
  const child = fork(
    fileURLToPath(new URL("loader.ts", import.meta.url)),
    [url, String(requests), String(connections)],
    {
      execArgv: [],
    },
  );
  const [times] = await once(child, "message");
  if (!Array.isArray(times)) throw new Error("the loader gave no times");
  return times.map(Number);
}
