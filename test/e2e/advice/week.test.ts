import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { playWeek } from "../../../cli/demo/simulatedWeek.ts";

/**
 * A day on which work is blocked and a queue is starved: on others neither is, and a day shows nothing of it. What is claimed
 * rests on the whole weeks of the report, whose seeds were not played while scenarios and advice were made.
 */
const seed = 1;
/** Half of it is enough for all that is compared. */
const days = 0.5;

describe("half a day of the simulated week", () => {
  it("wastes less when advice is followed after an hour", async () => {
    const without = await playWeek({ seed, days, followAfter: null });
    const followed = await playWeek({ seed, days, followAfter: 3600 });
    for (const { books } of [without, followed]) expect(books.coveredHours).toBeCloseTo(24 * days, 6);
    expect(followed.books.heldIdle).toBeLessThan(without.books.heldIdle);
    expect(followed.books.idleNodes).toBeLessThan(without.books.idleNodes);
    expect(followed.books.blocked).toBeLessThan(without.books.blocked);
    expect(followed.books.unfair).toBeLessThan(without.books.unfair);
    expect(followed.books.cost).toBeLessThan(without.books.cost);
    expect(followed.truth.idle).toBeLessThan(without.truth.idle);
    expect(followed.truth.blocked).toBeLessThan(without.truth.blocked);
    expect(followed.truth.unfair).toBeLessThan(without.truth.unfair);
    expect(followed.truth.nodeHours).toBeLessThan(without.truth.nodeHours);
    expect(followed.truth.busy).toBeGreaterThan(without.truth.busy);
    // The two books of the same day agree on what is unfair, to a cycle.
    expect(Math.abs(without.books.unfair - without.truth.unfair)).toBeLessThan(
      0.1 * Math.max(10, without.truth.unfair),
    );
    expect([...followed.begun.keys()]).toEqual(expect.arrayContaining(["release_idle", "scale_in"]));
    expect(without.requests.sent).toBe(0);
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

  it("says of every seed that idle, blocked and unfair GPU-hours and the cost went down", () => {
    const rows = report.split("\n").filter((line) => /^\| (?:held and idle|idle|blocked|unfair|cost|nodes)/.test(line));
    expect(rows).toHaveLength(10);
    for (const row of rows)
      for (const [cell, before, after] of row.matchAll(/([\d,]+) → ([\d,]+)/g))
        expect(numberOf(after), `${row}: ${cell}`).toBeLessThan(numberOf(before));
  });

  it("is what other pages quote", () => {
    const all = report.split("\n").flatMap((line) => /\(([+-]?\d+) %\) \|$/.exec(line)?.[1] ?? []);
    const quotes = ["README.md", "docs/recommendations.md"]
      .flatMap((name) => read(name).split("\n\n"))
      .flatMap((text) => (text.includes("simulated-week.md") ? [...text.matchAll(/(\d+) %/g)] : []))
      .map(([, percent]) => Number(percent));
    expect(quotes.length).toBeGreaterThanOrEqual(4);
    const known = all.map((percent) => Math.abs(Number(percent)));
    for (const percent of quotes) expect(known, `${percent} %`).toContain(percent);
  });
});
