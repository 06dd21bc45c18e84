import { spawnSync } from "node:child_process";
import type { RequestListener } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { playCluster } from "../../cli/demo/playCluster.ts";
import { startPrometheusWith } from "../../cli/demo/prometheus.ts";
import { listen } from "../../simulator/listen.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { startAt, teamsByNamespaceLabel } from "./accounting.ts";

const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0;
if (!hasPrometheus) process.stdout.write("skipped: prometheus is not installed (Debian: apt-get install prometheus)\n");

const config = teamsByNamespaceLabel("harbor");
const stepSeconds = config.interval;
const steps = 12;

/** Totals at the end of a process: of all GPUs, and of the states that have any. */
type Totals = ReadonlyMap<string, number>;

interface Lifecycle {
  readonly totals: Totals;
  /** When its last totals were scraped, by the server's clock. */
  readonly scrapedAt: number;
}

/** The address that stays the same over a restart; without a process behind it, connections break off. */
interface Address {
  readonly port: number;
  serve(app: RequestListener | null): void;
  close(): Promise<void>;
}

async function openAddress(): Promise<Address> {
  let app: RequestListener | null = null;
  const listener = await listen((request, response) => {
    if (app === null) request.socket.destroy();
    else app(request, response);
  });
  return {
    ...listener,
    serve(next) {
      app = next;
    },
  };
}

/** One process behind the address: once it is scraped, a step of its cluster after each scrape that saw the last one. */
async function lifecycle(address: Address, url: string, from: number): Promise<Lifecycle> {
  const cluster = await playCluster({ scenario: demoScenario(), seed: 7, startAt: from, config });
  await cluster.step(0);
  const seen = async (): Promise<Totals> => {
    const totals = totalsOf(cluster.stack.latest()?.page.toString("utf8") ?? "");
    await untilScraped(url, totals.get("all") ?? 0);
    return totals;
  };
  address.serve(cluster.stack.app);
  await seen();
  for (let n = 0; n < steps; n++) {
    await cluster.step(stepSeconds);
    await seen();
  }
  const totals = await seen();
  const scrapedAt = (await ask(url, "max(timestamp(fairlead_gpu_seconds_total))")).get("all") ?? Number.NaN;
  address.serve(null);
  await until(url, "up == 0", "the server sees that the process is gone", (up) => up.size > 0);
  await cluster.stop();
  return { totals, scrapedAt };
}

function totalsOf(page: string): Totals {
  const totals = new Map<string, number>();
  for (const [, state, value] of page.matchAll(/^fairlead_gpu_seconds_total\{.*state="(\w+)".*\} (\S+)$/gm))
    for (const key of ["all", state ?? ""]) totals.set(key, (totals.get(key) ?? 0) + Number(value));
  return totals;
}

const answer = z.object({
  data: z.object({
    result: z.array(
      z.object({ metric: z.object({ state: z.string().optional() }), value: z.tuple([z.number(), z.string()]) }),
    ),
  }),
});

async function ask(url: string, query: string, at?: number): Promise<Totals> {
  const time = at === undefined ? "" : `&time=${at}`;
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}${time}`);
  const { result } = answer.parse(await response.json()).data;
  return new Map(result.map(({ metric, value }) => [metric.state ?? "all", Number(value[1])] as const));
}

/** Waits until the server has scraped so many GPU-seconds of all GPUs. */
async function untilScraped(url: string, wanted: number): Promise<void> {
  const query = "(sum(fairlead_gpu_seconds_total) or vector(0)) and on() (up == 1)";
  const isThere = (found: Totals): boolean => Math.abs((found.get("all") ?? Number.NaN) - wanted) < 1e-3;
  await until(url, query, `${wanted} GPU-seconds are scraped`, isThere);
}

/** Asks until the answer is as wanted: a state of the server, however long its machine takes for it. */
async function until(url: string, query: string, what: string, isSo: (found: Totals) => boolean): Promise<void> {
  let found: Totals = new Map();
  for (let tries = 0; tries < 600; tries++) {
    found = await ask(url, query);
    if (isSo(found)) return;
    await sleep(100);
  }
  throw new Error(`${what}: ${query} is still ${JSON.stringify([...found])}`);
}

it.skipIf(!hasPrometheus)(
  "increase() over a restart, asked of a real Prometheus, is what both processes counted, within one scrape",
  async () => {
    const address = await openAddress();
    const scrape = `{ job_name: fairlead, honor_labels: true, static_configs: [{ targets: ["127.0.0.1:${address.port}"] }] }`;
    const global = "{ scrape_interval: 500ms, scrape_timeout: 500ms }";
    const prometheus = await startPrometheusWith(`global: ${global}\nscrape_configs: [${scrape}]\n`);
    if (prometheus === null) throw new Error("prometheus is installed but did not come up");
    try {
      const began = Date.now() / 1000;
      const first = await lifecycle(address, prometheus.url, startAt);
      const second = await lifecycle(address, prometheus.url, startAt + 3600);
      const accounted = (key: string): number => (first.totals.get(key) ?? 0) + (second.totals.get(key) ?? 0);
      expect(accounted("all")).toBeCloseTo(176 * stepSeconds * 2 * steps, 3);
      // From well before the first scrape to the very last: what increase() adds beyond the samples is half a scrape then,
      // however long the scrapes took and whenever the server is asked.
      const window = Math.ceil(second.scrapedAt - began) + 60;
      const increase = `increase(fairlead_gpu_seconds_total[${window}s])`;
      const all = await ask(prometheus.url, `sum(${increase})`, second.scrapedAt);
      // Each step was scraped before the next: one scrape sees at most what one step counts.
      expect(Math.abs((all.get("all") ?? 0) - accounted("all"))).toBeLessThanOrEqual(176 * stepSeconds);
      const byState = await ask(prometheus.url, `sum by (state) (${increase})`, second.scrapedAt);
      expect(byState.size).toBeGreaterThan(4);
      for (const [state, found] of byState)
        expect(
          Math.abs(found - accounted(state)),
          `${state}: ${found} against ${accounted(state)}`,
        ).toBeLessThanOrEqual(Math.max(stepSeconds, (accounted(state) / steps) * 1.5));
    } finally {
      await prometheus.stop();
      await address.close();
    }
  },
);
