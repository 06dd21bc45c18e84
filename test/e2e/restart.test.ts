import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { z } from "zod";
import { playCluster } from "../../cli/demo/playCluster.ts";
import { freePort, startPrometheusWith } from "../../cli/demo/prometheus.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { startAt, teamsByNamespaceLabel } from "./books.ts";

const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0;
if (!hasPrometheus) process.stdout.write("skipped: prometheus is not installed (Debian: apt-get install prometheus)\n");

const config = teamsByNamespaceLabel("harbor");
const stepSeconds = config.interval;
const steps = 12;

/** Totals at the end of a process: of all GPUs, and of the states that have any. */
type Totals = ReadonlyMap<string, number>;

/** One process behind the address: once it is scraped, a step of its cluster each second, and time for the last scrape. */
async function life(port: number, from: number, scraped: () => Promise<void>): Promise<Totals> {
  const cluster = await playCluster({ scenario: demoScenario(), seed: 7, startAt: from, config });
  await cluster.step(0);
  const started = await startServer({
    handler: cluster.stack.app,
    listenAddress: `127.0.0.1:${port}`,
    web: openWebConfig,
    onProblem: () => {},
  });
  if (!started.ok) throw new Error(started.error);
  await scraped();
  for (let n = 0; n < steps; n++) {
    await cluster.step(stepSeconds);
    await sleep(1000);
  }
  await sleep(1500);
  const page = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  await started.server.close();
  await cluster.stop();
  return totalsOf(page);
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

async function ask(url: string, query: string): Promise<Totals> {
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { result } = answer.parse(await response.json()).data;
  return new Map(result.map(({ metric, value }) => [metric.state ?? "all", Number(value[1])] as const));
}

/** Waits until the server's last scrape, of which it has had two in a row, answered. */
async function scrapedAgain(url: string): Promise<void> {
  for (let tries = 0, ups = 0; ups < 2; tries++) {
    if (tries > 60) throw new Error("prometheus does not scrape the exporter");
    await sleep(1000);
    ups = (await ask(url, "up")).get("all") === 1 ? ups + 1 : 0;
  }
}

it.skipIf(!hasPrometheus)(
  "increase() over a restart, asked of a real Prometheus, is what both processes booked, within one scrape",
  async () => {
    const port = await freePort();
    const scrape = `{ job_name: fairlead, honor_labels: true, static_configs: [{ targets: ["127.0.0.1:${port}"] }] }`;
    const prometheus = await startPrometheusWith(`global: { scrape_interval: 1s }\nscrape_configs: [${scrape}]\n`);
    if (prometheus === null) throw new Error("prometheus is installed but did not come up");
    try {
      const scraped = () => scrapedAgain(prometheus.url);
      const first = await life(port, startAt, scraped);
      await sleep(2000);
      const second = await life(port, startAt + 3600, scraped);
      const booked = (key: string): number => (first.get(key) ?? 0) + (second.get(key) ?? 0);
      expect(booked("all")).toBeCloseTo(176 * stepSeconds * 2 * steps, 3);
      const increase = "increase(fairlead_gpu_seconds_total[2m])";
      const all = await ask(prometheus.url, `sum(${increase})`);
      // A scrape a second and a step a second: one scrape is what one step books.
      expect(Math.abs((all.get("all") ?? 0) - booked("all"))).toBeLessThanOrEqual(176 * stepSeconds);
      const byState = await ask(prometheus.url, `sum by (state) (${increase})`);
      expect(byState.size).toBeGreaterThan(4);
      for (const [state, found] of byState)
        expect(Math.abs(found - booked(state)), `${state}: ${found} against ${booked(state)}`).toBeLessThanOrEqual(
          Math.max(stepSeconds, (booked(state) / steps) * 1.5),
        );
    } finally {
      await prometheus.stop();
    }
  },
  180_000,
);
