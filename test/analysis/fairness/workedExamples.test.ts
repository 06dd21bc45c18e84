import { describe, expect, it } from "vitest";
import { kaiExamples } from "./kaiExamples.ts";
import { kueueExamples } from "./kueueExamples.ts";
import { volcanoExamples } from "./volcanoExamples.ts";
import { entitledIn, type WorkedExample } from "./workedTree.ts";

function compare({ capacity, queues, published, ours, because }: WorkedExample): void {
  const entitled = entitledIn(capacity, queues);
  const named = (expected: object): object => Object.fromEntries(Object.keys(expected).map((n) => [n, entitled[n]]));
  expect(named(published)).toEqual(ours ?? published);
  expect(ours === undefined).toBe(because === undefined);
  if (ours !== undefined) expect(ours).not.toEqual(published);
  // Rounding moves less than one unit.
  if (because === "integer rounding")
    for (const [name, amount] of Object.entries(published))
      expect(Math.abs((ours?.[name] ?? 0) - amount)).toBeLessThan(1);
}

describe("what others have published", () => {
  describe("Kueue", () => {
    it.each(kueueExamples)("$name", compare);
  });
  describe("KAI", () => {
    it.each(kaiExamples)("$name", compare);
  });
  describe("Volcano", () => {
    it.each(volcanoExamples)("$name", compare);
  });
});
