import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  askRange,
  type PlayedPrometheus,
  startPlayedPrometheus,
} from "../../../../cli/demo/backfill/playedPrometheus.ts";
import { hasPrometheus } from "../../../e2e/scrapedByPrometheus.ts";

describe.skipIf(!hasPrometheus())("a Prometheus with a played past", () => {
  let played: PlayedPrometheus;
  beforeAll(async () => {
    played = await startPlayedPrometheus({ days: 0.125 });
  });
  afterAll(async () => played?.stop());

  const ask = (query: string) =>
    askRange(played.url, query, { from: played.from, to: played.to, step: played.stepSeconds });

  it("has every scrape from its beginning to its end, and nothing that is over", async () => {
    const [up, ...others] = await ask("up");
    expect(others).toEqual([]);
    expect(up?.labels).toMatchObject({ job: "fairlead", instance: "fairlead:9400" });
    expect(up?.points.length).toBe((played.to - played.from) / played.stepSeconds + 1);
    // GPUs of the pool of H100, all of them at each scrape.
    const [gpus] = await ask('sum(fairlead_gpus{pool="H100-80GB-HBM3"})');
    expect(gpus?.points.map(([, value]) => value)).toEqual(up?.points.map(() => expect.closeTo(128)));
  });

  it("has what our rules record of them: the same as asked of the scrapes", async () => {
    const [recorded] = await ask("sum(cluster_pool:fairlead_allocated_gpus:sum)");
    const [asked] = await ask("sum(fairlead_team_gpus)");
    expect(recorded?.points.length).toBeGreaterThan(15);
    expect(asked?.points).toEqual(recorded?.points.map(([at, value]) => [at, expect.closeTo(value)]));
  });

  it("has alerts, each with the labels of its rule", async () => {
    const alerts = await ask("count by (alertname, alertstate, severity) (ALERTS)");
    expect(alerts.length).toBeGreaterThan(0);
    for (const { labels } of alerts) {
      expect(labels.alertstate).toMatch(/^(pending|firing)$/);
      expect(labels.severity).toMatch(/^(info|warning|critical)$/);
    }
  });
});
