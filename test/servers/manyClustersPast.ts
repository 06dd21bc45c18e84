import { recordingGroups } from "../../alerts/ruleGroups.ts";
import { defaultAlerts } from "../../alerts/thresholds.ts";
import { askRange, rulePasses } from "../../cli/demo/backfill/playedPrometheus.ts";
import { sampleLine, timedSamples } from "../../cli/demo/backfill/timedSamples.ts";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { playFully } from "../../cli/demo/playFully.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { harborSettings, harborWeeks } from "../../simulator/scenarios/harborWeeks.ts";

/** A span of time, and the time between two scrapes in it: seconds since the epoch. */
export interface Past {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** What `fairlead_gpu_seconds_total` of a cluster was in all, by the moment. */
export type CountedGpuSeconds = ReadonlyMap<number, number>;

/**
 * Plays a cluster and writes its pages into VictoriaMetrics as Prometheus of the example would have: with the labels of the target,
 * and the external label on what has no cluster of its own. Each cluster of `names` has the same lifecycle, one step after the one
 * before it: playing is what takes the time. Budgets are known from the ledger.
 */
export async function writePast(
  url: string,
  names: readonly string[],
  past: Past,
  ledgerFile: string,
): Promise<ReadonlyMap<string, CountedGpuSeconds>> {
  const played = "played";
  const config = configSchema.parse({
    ...harborSettings,
    cluster: played,
    interval: 600,
    ledger: { path: ledgerFile },
  });
  const ledger = await prepareLedger(config);
  if (!ledger.ok || ledger.output === null) throw new Error("no ledger");
  const startAt = past.from - (names.length - 1) * past.step;
  const scenario = harborWeeks((past.to - startAt) / 86_400);
  const cluster = await playCluster({ scenario, config, seed: 7, startAt, stack: { ledger: ledger.output } });
  const counted = new Map(names.map((name) => [name, new Map<number, number>()] as const));
  let written = "";
  try {
    for (let at = startAt; at <= past.to; at += past.step) {
      await playFully(cluster, at === startAt ? 0 : past.step);
      const latest = cluster.stack.latest();
      if (latest === null) throw new Error("the cluster has no page");
      const sum = gpuSecondsOf(latest.families);
      const page = latest.page.toString("utf8");
      for (const [index, name] of names.entries()) {
        const then = at + index * past.step;
        if (then < past.from || then > past.to) continue;
        counted.get(name)?.set(then, sum);
        written += scrapedAs(name, page.replaceAll(`cluster="${played}"`, `cluster="${name}"`), then * 1000);
      }
      if (written.length > 20_000_000 || at + past.step > past.to) {
        await importText(url, written);
        written = "";
      }
    }
  } finally {
    await cluster.stop();
    await ledger.output.close();
  }
  return counted;
}

function gpuSecondsOf(families: NonNullable<ReturnType<PlayedCluster["stack"]["latest"]>>["families"]): number {
  const series = families.find(({ name }) => name === "fairlead_gpu_seconds_total")?.series ?? [];
  return series.reduce((total, { value }) => total + value, 0);
}

/** A page and what Prometheus itself says about the scrape; `at` in milliseconds. */
function scrapedAs(cluster: string, page: string, at: number): string {
  const target = { instance: "fairlead-0", pod: "fairlead-0", job: "fairlead", cluster };
  const ofScrape = ["up", "scrape_duration_seconds", "scrape_samples_scraped"];
  return timedSamples(page, target, at) + ofScrape.map((name) => sampleLine(name, target, 1, at)).join("");
}

/** Writes what the recording rules would have recorded of that past, pass by pass, because each reads what others write. */
export async function writeRecorded(url: string, past: Past): Promise<void> {
  for (const rules of rulePasses(recordingGroups(defaultAlerts).flatMap((group) => group.rules))) {
    const lines: string[] = [];
    for (const { record, expr } of rules)
      for (const { labels, points } of await askRange(url, expr, past)) {
        const { __name__: _, ...own } = labels;
        for (const [at, value] of points) lines.push(sampleLine(record, own, value, at * 1000));
      }
    await importText(url, lines.join(""));
  }
}

async function importText(url: string, text: string): Promise<void> {
  const sent = await fetch(`${url}/api/v1/import/prometheus`, { method: "POST", body: text });
  if (!sent.ok) throw new Error(await sent.text());
  await fetch(`${url}/internal/force_flush`);
}
