import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { createLedgerReader } from "../exporter/accounts/ledger/ledgerReader.ts";
import { createLedgerHistory } from "../exporter/history/ledgerHistory.ts";
import { isoDay } from "../exporter/kernel/isoTime.ts";
import { buildReview } from "../review/build/buildReview.ts";
import { reviewRenderings } from "../review/render.ts";
import { parseWindow } from "../review/window.ts";
import { days, fillQuarter, firstDay, openQuarter } from "./quarterLedger.ts";

// Measures how long the review of a large cluster's quarter takes, how much memory it needs, and how large it becomes.
// Run: node bench/reviewTime.ts (it fills a ledger of half a gigabyte first, which takes minutes)

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const folder = mkdtempSync(path.join(tmpdir(), "fairlead-review-bench-"));
const file = path.join(folder, "ledger.db");

try {
  const ledger = await openQuarter(file);
  await fillQuarter(ledger);
  await ledger.close();
  const end = (firstDay + days) * 86_400;
  const windows = [
    ["a week", 7],
    ["13 weeks", days],
  ] as const;
  for (const [name, length] of windows) {
    const parsed = parseWindow({ week: null, month: null, from: isoDay(end - length * 86_400), to: isoDay(end) }, end);
    if (!parsed.ok) throw new Error(parsed.error);
    const accounts = createLedgerReader(file, 600_000);
    const history = createLedgerHistory(file, accounts.query);
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    const began = performance.now();
    const steps: string[] = [];
    let last = began;
    const onProgress = (step: string): void => {
      steps.push(`${((performance.now() - last) / 1000).toFixed(1)} s then ${step}`);
      last = performance.now();
    };
    const question = { cluster: "bench", days: parsed.days, compare: 4, team: null, now: end, history, accounts };
    const built = await buildReview({ ...question, budgets: [], notCharged: [], onProgress });
    if (!built.ok) throw new Error(built.error);
    const sizes = Object.entries(reviewRenderings).map(
      ([format, render]) => `${format} ${megabytes(Buffer.byteLength(render(built.review).body))}`,
    );
    clearInterval(watch);
    await accounts.close();
    const took = ((performance.now() - began) / 1000).toFixed(1);
    say(
      `review of ${name}: ${took} s, ${megabytes(most - before)} of memory beside the ${megabytes(before)} of the process`,
    );
    say(`  ${sizes.join(", ")}`);
    say(`  ${steps.join("; ")}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
