import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../../exporter/config/schema.ts";
import type { Scenario } from "../../../simulator/scenario.ts";
import { prepareLedger } from "../../ledgerOutput.ts";
import { askOwner } from "../askOwner.ts";
import { createFollower } from "../followAdvice.ts";
import { playCluster } from "../playCluster.ts";
import { playFully } from "../playFully.ts";
import { sendRequest } from "../sendRequest.ts";
import { sampleLine, timedSamples } from "./timedSamples.ts";

/** What is played, and when: `from` and `to` are seconds since the epoch. */
export interface PagesOptions {
  readonly scenario: Scenario;
  /** The configuration of the exporter, with `interval` seconds between two scrapes, and with a ledger. */
  readonly config: Config;
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** Seconds for which advice must have been open before someone acts on it; `null`: nobody does. */
  readonly followAfter: number | null;
  /** Called after each scrape: the part that is done, 0..1. */
  readonly onStep: (part: number) => void;
}

const target = { instance: "fairlead:9400", job: "fairlead" } as const;

/**
 * The time that one file covers: about a week, cut where Prometheus cuts its blocks, because promtool reads a file once for
 * each block in it.
 */
const secondsOfFile = 162 * 3600;

/**
 * Plays a cluster with the real exporter on it, and writes each of its metrics pages as OpenMetrics with times into files of
 * `folder`. Returns the files.
 */
export async function playPages(folder: string, options: PagesOptions): Promise<readonly string[]> {
  const { scenario, config, seed, from, to, followAfter, onStep } = options;
  const ledger = await prepareLedger(config);
  if (!ledger.ok) throw new Error(ledger.problem.message);
  const stack = ledger.output === null ? {} : { ledger: ledger.output };
  const cluster = await playCluster({ scenario, seed, startAt: from, config, stack });
  const follower =
    followAfter === null
      ? null
      : createFollower(
          {
            write: (request) => sendRequest(cluster.simulator.apiUrl, request),
            ask: (target) => askOwner(cluster.simulator, target),
          },
          followAfter,
        );
  const files: string[] = [];
  let output: WriteStream | null = null;
  let part = Number.NaN;
  try {
    for (let at = from; at <= to; at += config.interval) {
      await playFully(cluster, at === from ? 0 : config.interval);
      const latest = cluster.stack.latest();
      if (latest === null)
        throw new Error(
          cluster.stack
            .problems()
            .map(({ message }) => message)
            .join("; "),
        );
      await follower?.act(latest.advice.recommendations, at);
      if (output === null || part !== Math.floor(at / secondsOfFile)) {
        await finish(output);
        part = Math.floor(at / secondsOfFile);
        const file = join(folder, `pages-${files.length}.txt`);
        files.push(file);
        output = createWriteStream(file);
      }
      const page = timedSamples(latest.page.toString("utf8"), target, at);
      if (!output.write(page + ofScrape(page, at))) await once(output, "drain");
      onStep((at - from) / Math.max(1, to - from));
    }
    return files;
  } finally {
    await finish(output);
    await cluster.stop();
    await ledger.output?.close();
  }
}

async function finish(output: WriteStream | null): Promise<void> {
  if (output === null) return;
  output.end("# EOF\n");
  await once(output, "finish");
}

/** Prometheus' own series about a scrape. */
function ofScrape(page: string, at: number): string {
  const samples = page.split("\n").length - 1;
  return [
    sampleLine("up", target, 1, at),
    sampleLine("scrape_samples_scraped", target, samples, at),
    // This is not measured: it is typical of a page of this size over the loopback device.
    sampleLine("scrape_duration_seconds", target, 0.01, at),
  ].join("");
}
