import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { playPair, type WeekPair, weekReport } from "../../../cli/demo/weekReport.ts";

/** Six hours are enough to begin plans of several kinds; what is claimed rests on the whole weeks of the report. */
const hours = 6;
const seed = 1;

describe("six hours of the simulated week", () => {
  const played: Promise<readonly WeekPair[]> = Promise.all([playPair(seed, hours)]);

  it("are the same bytes when they are played again", async () => {
    expect(weekReport([await playPair(seed, hours)], hours)).toBe(weekReport(await played, hours));
  });

  it("are another play of another seed", async () => {
    const other = await playPair(seed + 1, 1);
    const [pair] = await played;
    expect(other.without.truth).not.toEqual(pair?.without.truth);
  });

  it("are reported by Fairlead as they really are", async () => {
    for (const { without, followed } of await played) {
      for (const { accounts, truth } of [without, followed]) {
        expect(accounts.coveredHours).toBeCloseTo(hours, 6);
        // What was busy when it was looked at, and what is counted until the next look, differ by a cycle.
        expect(accounts.active / truth.busy).toBeGreaterThan(0.9);
        expect(accounts.active / truth.busy).toBeLessThan(1.1);
        expect(accounts.notActive / truth.paidNotBusy).toBeGreaterThan(0.9);
        expect(accounts.notActive / truth.paidNotBusy).toBeLessThan(1.1);
      }
      // Nobody stops anything where no advice is followed.
      expect([without.requests.sent, without.truth.foundStopped, without.truth.waitedHours]).toEqual([0, 0, 0]);
      expect(followed.begun.size).toBeGreaterThan(0);
    }
  });
});

const read = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");

describe("docs/simulated-week.md", () => {
  const report = read("docs/simulated-week.md");
  const cells = [...report.matchAll(/([\d,]+) → ([\d,]+) \(([+-]?\d+) %\)/g)];
  const numberOf = (text = ""): number => Number(text.replaceAll(",", ""));

  it("has changes that follow from its own numbers", () => {
    expect(cells.length).toBeGreaterThan(40);
    for (const [cell, before, after, percent] of cells)
      expect(Math.round((numberOf(after) / numberOf(before) - 1) * 100), cell).toBe(Number(percent));
  });

  it("is what other pages quote", () => {
    const all = report.split("\n").flatMap((line) => /\(([+-]?\d+) %\) \|$/.exec(line)?.[1] ?? []);
    const quotes = ["docs/overview.md", "docs/recommendations.md"]
      .flatMap((name) => read(name).split("\n\n"))
      .flatMap((text) => (text.includes("simulated-week.md") ? [...text.matchAll(/(\d+) %/g)] : []))
      .map(([, percent]) => Number(percent));
    expect(quotes.length).toBeGreaterThanOrEqual(4);
    const known = all.map((percent) => Math.abs(Number(percent)));
    for (const percent of quotes) expect(known, `${percent} %`).toContain(percent);
  });
});
