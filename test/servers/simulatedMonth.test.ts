import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Review } from "../../review/document/review.ts";
import type { Days } from "../../review/window.ts";
import { playMonth } from "../cli/demo/simulatedMonth.ts";
import {
  bucketsApart,
  demandDifferences,
  expectWithin,
  nodeDifferences,
  reportDifferences,
  reviewOfMonth,
  teamDifferences,
  waitsOf,
  waterfallDifferences,
} from "../e2e/review/compareMonth.ts";
import type { MonthTruth } from "../simulator/truthRecord/monthTruth.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-month-"));
const ledgerPath = path.join(folder, "ledger.db");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const from = Date.UTC(2026, 9, 1) / 1000;
const days = 16;
const window: Days = { kind: "span", label: "2026-10-01 to 2026-10-16", from, to: from + days * 86_400 };

describe("the review of a simulated month", () => {
  let truth: MonthTruth;
  let review: Review;

  beforeAll(async () => {
    truth = await playMonth({ seed: 7, from, days, ledgerPath });
    review = await reviewOfMonth(ledgerPath, window);
  }, 1_200_000);

  it("covers all of it", () => {
    expect(review.coverage.ratio).toBeCloseTo(1, 9);
    expect(review.unpricedGpuHours).toBe(0);
  });

  it("has the waterfall that the simulator wrote down", () => {
    const differences = waterfallDifferences(review, truth);
    reportDifferences(differences);
    // What lasts two minutes at a time (containers that start) is seen by every fifth cycle: it has the whole's tolerance.
    const capacity = (unit: string): number => differences.find(({ what }) => what === `capacity, ${unit}`)?.truth ?? 0;
    for (const unit of ["GPU-hours", "USD"]) {
      const ofUnit = differences.filter(({ what }) => what.endsWith(unit));
      expectWithin(ofUnit, 0.005, 0.0005 * capacity(unit));
      const large = ofUnit.filter(({ truth: real }) => real >= 0.01 * capacity(unit));
      expect(large.length).toBeGreaterThanOrEqual(9);
      expectWithin(large, 0.005);
    }
  });

  it("has what each team held, left idle, and pays", () => {
    const differences = teamDifferences(review, truth);
    reportDifferences(differences);
    expect(differences.length).toBe(18);
    expectWithin(differences, 0.005);
  });

  it("has the hours of nodes that nobody used, or could use", () => {
    const differences = nodeDifferences(review, truth);
    reportDifferences(differences);
    expect(differences.length).toBeGreaterThanOrEqual(5);
    // Of states that lasted some tens of hours in all, one cycle is more than half a percent.
    expectWithin(differences, 0.005, 1);
    expectWithin(
      differences.filter(({ what }) => what.startsWith("nodes idle")),
      0.005,
    );
  });

  it("has the demand and the capacity of each model", () => {
    const differences = demandDifferences(review, truth);
    reportDifferences(differences);
    expect(differences.length).toBe(8);
    expectWithin(differences, 0.005, 0.5);
  });

  it("has the waits of queues and sizes, within a bucket", async () => {
    const byQueue = await waitsOf(ledgerPath, window, "queue");
    const queues = truth.waits.byQueue.filter(({ of }) => of !== null);
    expect(queues.length).toBe(6);
    const bySize = await waitsOf(ledgerPath, window, "sizeClass");
    const sizes = truth.waits.bySize;
    expect(sizes.length).toBeGreaterThanOrEqual(9);
    const pairs = [
      ...queues.map((real) => [byQueue.find((row) => row.of === real.of && row.phase === real.phase), real] as const),
      ...sizes.map((real) => [bySize.find((row) => row.of === real.of && row.phase === real.phase), real] as const),
    ];
    // What the page shows is the whole wait, from creation to start.
    const shown = queues
      .filter(({ phase }) => phase === "total")
      .map((real) => {
        const row = review.waits?.byQueue.find(({ queue }) => queue === real.of);
        return [row === undefined ? undefined : { ...row, of: real.of ?? "", phase: real.phase }, real] as const;
      });
    for (const [found, real] of [...pairs, ...shown]) {
      const differences = bucketsApart(found, real);
      reportDifferences(differences);
      expectWithin(differences, 0, 1);
      // Work that is evicted at once may be seen to start by one of the two alone.
      expect(Math.abs((found?.count ?? 0) - real.count)).toBeLessThanOrEqual(Math.max(2, 0.01 * real.count));
    }
  });
});
