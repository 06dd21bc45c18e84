import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createLedgerReader } from "../exporter/accounts/ledger/ledgerReader.ts";
import { createLedgerHistory } from "../exporter/history/ledgerHistory.ts";
import { buildReview } from "../review/build/buildReview.ts";
import { renderReviewHtml } from "../review/html/renderReviewHtml.ts";
import { parseWindow } from "../review/window.ts";
import { startChromium } from "../test/e2e/headlessChromium.ts";

/** The input of the drawing: the last whole week before a moment, from a ledger. */
export interface DrawnReview {
  readonly cluster: string;
  readonly ledgerFile: string;
  /** The moment, seconds since the epoch. */
  readonly now: number;
}

const width = 1440;
const schemes = ["light", "dark"] as const;

/** Draws a capacity review as a browser shows it, in light and dark; returns the files that were written. */
export async function drawReview({ cluster, ledgerFile, now }: DrawnReview, out: string): Promise<readonly string[]> {
  const window = parseWindow({ week: "last", month: null, from: null, to: null }, now);
  if (!window.ok) throw new Error(window.error);
  const accounts = createLedgerReader(ledgerFile);
  const history = createLedgerHistory(ledgerFile, accounts.query);
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-review-"));
  const browser = await startChromium();
  try {
    const question = { cluster, days: window.days, compare: 4, team: null, now, history, accounts };
    const built = await buildReview({ ...question, budgets: [], notCharged: [] });
    if (!built.ok) throw new Error(built.error);
    const page = path.join(folder, "review.html");
    writeFileSync(page, renderReviewHtml(built.review));
    const written: string[] = [];
    for (const scheme of schemes) {
      const tab = await browser.open({ width, height: 900, scheme, headers: {} });
      await tab.goto(pathToFileURL(page).href);
      const file = path.join(out, `review-${scheme}.png`);
      writeFileSync(file, await tab.screenshot());
      written.push(file);
    }
    return written;
  } finally {
    await browser.close();
    await accounts.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
