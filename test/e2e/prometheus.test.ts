import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { startPrometheus } from "../../cli/demo/prometheus.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { type RunningServer, startServer } from "../../exporter/publish/http/server.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { startAt, teamsByNamespaceLabel } from "./accounting.ts";

const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const hasPrometheus = isInstalled("prometheus") && isInstalled("promtool");
if (!hasPrometheus)
  process.stdout.write(
    "skipped: prometheus and promtool are not both installed (Debian: apt-get install prometheus)\n",
  );

const vector = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

describe.skipIf(!hasPrometheus)("the demo's /metrics", () => {
  let cluster: PlayedCluster;
  let server: RunningServer;
  beforeAll(async () => {
    cluster = await playCluster({
      scenario: demoScenario(),
      seed: 1,
      startAt,
      config: teamsByNamespaceLabel("harbor"),
    });
    await cluster.step(0);
    await cluster.step(30);
    const started = await startServer({
      handler: cluster.stack.app,
      listenAddress: "127.0.0.1:0",
      web: openWebConfig,
      onProblem: () => {},
    });
    if (!started.ok) throw new Error(started.error);
    server = started.server;
  });
  afterAll(async () => {
    await server.close();
    await cluster.stop();
  });

  it("gives promtool nothing to complain of but idle node-hours, which people speak of", async () => {
    const page = await fetch(`${server.url}/metrics`).then((response) => response.text());
    expect(page).toMatch(/^fairlead_gpus\{/m);
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: page, encoding: "utf8" });
    const said = 'fairlead_idle_node_hours use base unit "seconds" instead of "hours"\n';
    expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 3, said });
  });

  it("is scraped by a real Prometheus, whose sum of all GPUs is right", async () => {
    const prometheus = await startPrometheus({ url: `${server.url}/metrics`, seconds: 5, rules: {} });
    if (prometheus === null) throw new Error("prometheus is installed but did not come up");
    try {
      expect(
        await firstAnswer(`${prometheus.url}/api/v1/query?query=${encodeURIComponent("sum(fairlead_gpus)")}`),
      ).toBeCloseTo(176, 9);
    } finally {
      await prometheus.stop();
    }
  });
});

/** The value once the first scrape is in; `null` when none comes. */
async function firstAnswer(url: string): Promise<number | null> {
  for (let tries = 0; tries < 80; tries++) {
    const { data } = vector.parse(await fetch(url).then((response) => response.json()));
    const [sample] = data.result;
    if (sample !== undefined) return Number(sample.value[1]);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return null;
}
