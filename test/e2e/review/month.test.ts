import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Review } from "../../../review/document/review.ts";
import type { Days } from "../../../review/window.ts";
import { playMonth } from "../../cli/demo/simulatedMonth.ts";
import type { MonthTruth } from "../../simulator/truthRecord/monthTruth.ts";
import {
  demandDifferences,
  expectWithin,
  nodeDifferences,
  reportDifferences,
  reviewOfMonth,
  teamDifferences,
  waterfallDifferences,
} from "./compareMonth.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-month-"));
const ledgerPath = path.join(folder, "ledger.db");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const from = Date.UTC(2026, 9, 1) / 1000;
const firstDay: Days = { kind: "span", label: "2026-10-01", from, to: from + 86_400 };

/** One day has few changes, which may each be counted up to a cycle late: the whole month is among the tests of servers. */
const ratio = 0.02;

describe("the review of the first day of the simulated month", () => {
  let truth: MonthTruth;
  let review: Review;
  beforeAll(async () => {
    truth = await playMonth({ seed: 7, from, days: 1, ledgerPath });
    review = await reviewOfMonth(ledgerPath, firstDay);
  });

  it("has the truth beside its ledger", () => {
    expect(existsSync(`${ledgerPath}.truth.json`)).toBe(true);
    expect(JSON.parse(readFileSync(`${ledgerPath}.truth.json`, "utf8"))).toEqual(JSON.parse(JSON.stringify(truth)));
  });

  it.each([
    ["the waterfall", waterfallDifferences, 14],
    ["what teams allocated and pay", teamDifferences, 18],
    ["hours of nodes that nobody used", nodeDifferences, 3],
    ["demand and capacity", demandDifferences, 8],
  ])("agrees with it on %s", (_, differencesOf, least) => {
    const differences = differencesOf(review, truth);
    reportDifferences(differences);
    expect(differences.length).toBeGreaterThanOrEqual(least);
    // Three cycles of the largest gang, at the dearest price.
    const late = ({ what }: { readonly what: string }): number => (what.endsWith("USD") ? 32 : 8);
    for (const one of differences) expectWithin([one], ratio, late(one));
  });
});
