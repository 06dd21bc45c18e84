/**
 * Is anything missed while `fairlead serve` runs as in production: 30 cycles of 30 s, exporters that close idle connections
 * after ten seconds, and a Prometheus that asks for `/metrics` every 15 s and gives up after ten? Counts the scrapes of it that
 * failed or were late, nodes whose last page is not fresh, cycles that failed, and watches that broke. What else the
 * machine does in these minutes makes it harder and counts for nothing.
 *
 *     node --expose-gc bench/scrapes.ts [--nodes=10000] [--samples=30]
 */
import { setTimeout as wait } from "node:timers/promises";
import { quantile } from "./measure.ts";
import { ask } from "./question.ts";
import { startServedFleet } from "./servedFleet.ts";

const interval = 30;
const scrapeSeconds = 15;
const scrapeTimeoutSeconds = 10;
const port = 19_848;
const probePort = 19_849;

await ask("scrapes", async ({ nodes, samples: cycles, helpers, progress }) => {
  const { fleet, stop } = await startServedFleet({ nodes, helpers, interval, port, probePort });
  try {
    // The first cycles list everything and read every page for the first time. The fleet sends bookmarks when it changes.
    for (let cycle = 1; cycle <= 2; cycle += 1) {
      await fleet.advance(cycle);
      await wait(interval * 1000);
    }
    progress("measuring");
    const first = await scrape();
    if (first === null) throw new Error("/metrics did not answer before anything was measured");
    const seconds: number[] = [];
    let [missed, fewestFresh, oldestPage, last] = [0, Number.POSITIVE_INFINITY, 0, first];
    const scrapes = (cycles * interval) / scrapeSeconds;
    for (let done = 1; done <= scrapes; done += 1) {
      const from = performance.now();
      if (done % (interval / scrapeSeconds) === 0) await fleet.advance(2 + done);
      const found = await scrape();
      if (found === null) missed += 1;
      else {
        last = found;
        seconds.push(found.seconds);
        oldestPage = Math.max(oldestPage, sumOf(found.page, "fairlead_source_age_seconds", 'source="dcgm"'));
        fewestFresh = Math.min(fewestFresh, sumOf(found.page, "fairlead_targets", 'state="fresh"'));
      }
      if (done % 10 === 0) progress(`${done} of ${scrapes} scrapes, ${missed} missed`);
      await wait(Math.max(0, scrapeSeconds * 1000 - (performance.now() - from)));
    }
    const since = (name: string, label = ""): number => sumOf(last.page, name, label) - sumOf(first.page, name, label);
    const figures = {
      cyclesOk: since("fairlead_cycles_total", 'result="ok"'),
      cyclesFailed: since("fairlead_cycles_total", 'result="failed"'),
      scrapes,
      scrapesMissed: missed,
      scrapeP50Ms: quantile(seconds, 0.5) * 1000,
      scrapeLongestMs: Math.max(...seconds) * 1000,
      fewestTargetsFresh: fewestFresh,
      // Less than two intervals: no page was missed.
      oldestPageSeconds: oldestPage,
      // Servers end every watch after some minutes, which is no fault.
      watchesBroken:
        since("fairlead_kubernetes_restarts_total") - since("fairlead_kubernetes_restarts_total", 'reason="closed"'),
      residentMiB: sumOf(last.page, "process_resident_memory_bytes") / 2 ** 20,
    };
    return { measurements: [], figures };
  } finally {
    await stop();
  }
});

/** A scrape as Prometheus does it; `null` if it failed or was late. */
async function scrape(): Promise<{ readonly page: string; readonly seconds: number } | null> {
  const from = performance.now();
  const signal = AbortSignal.timeout(scrapeTimeoutSeconds * 1000);
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal });
    const page = await answer.text();
    return answer.ok ? { page, seconds: (performance.now() - from) / 1000 } : null;
  } catch {
    return null;
  }
}

/** The sum of the series of that name that have these words among their labels. */
function sumOf(page: string, name: string, label = ""): number {
  const lines = page.split("\n").filter((line) => line.startsWith(`${name}{`) && line.includes(label));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
