import { expect, test } from "vitest";
import { createWithheldLog } from "../../../exporter/advice/lifecycle/withheldLog.ts";
import type { WithheldAdvice } from "../../../exporter/model/recommendation.ts";

const start = 1_800_000_000;

const allocated = (reason: string, parts: Partial<WithheldAdvice> = {}): WithheldAdvice => ({
  kind: "scale_in",
  subject: "a100",
  why: "no-plan",
  reason,
  ...parts,
});

/** What is kept of so many cycles of five minutes. */
function keptOf(cycles: number, withheld: (cycle: number) => readonly WithheldAdvice[]) {
  const log = createWithheldLog();
  return Array.from({ length: cycles }, (_, cycle) => {
    log.note(withheld(cycle), start + cycle * 300);
    return log.takeChanges();
  }).flat();
}

test("a reason is kept once it has lasted for a quarter of an hour, and again each hour, with the words of then", () => {
  const kept = keptOf(30, (cycle) => [allocated(`${cycle} idle nodes (8 GPUs): they are reserved`)]);
  expect(kept).toMatchObject([
    { kind: "scale_in", subject: "a100", begins: start, ends: start + 900, reason: expect.stringMatching(/^3 idle/) },
    { begins: start, ends: start + 4500, reason: expect.stringMatching(/^15 idle/) },
    { begins: start, ends: start + 8100, reason: expect.stringMatching(/^27 idle/) },
  ]);
  expect(new Set(kept.map(({ id }) => id)).size).toBe(1);
});

test("its end is kept, too; what lasted for less than a quarter of an hour is not", () => {
  const kept = keptOf(40, (cycle) => [
    ...(cycle < 17 ? [allocated("they are reserved")] : []),
    ...(cycle < 3 ? [allocated("work waits")] : []),
  ]);
  expect(kept.map(({ reason, ends }) => [reason, ends])).toEqual([
    ["they are reserved", start + 900],
    ["they are reserved", start + 4500],
    ["they are reserved", start + 16 * 300],
  ]);
});

test("a short pause does not end it, and whoever waits is one of many", () => {
  const kept = keptOf(26, (cycle) =>
    cycle % 5 === 4 ? [] : [allocated(`Job ads/bidder-${["nnwcp", "9txzj"][cycle % 2]} waits`)],
  );
  expect(new Set(kept.map(({ id, begins }) => `${id} ${begins}`)).size).toBe(1);
  expect(kept.at(-1)).toMatchObject({ begins: start, ends: start + 4500 });
});

test("what is about to be advised, or is by another plan, is none", () => {
  const why = (["standing", "cool-down", "excluded"] as const).map((one) => allocated("so", { why: one }));
  expect(keptOf(30, () => why)).toEqual([]);
});

test("whatever there is: no more than 500 reasons are followed", () => {
  const kept = keptOf(14, (cycle) =>
    Array.from({ length: 600 }, (_, i) => allocated("so", { subject: `${cycle} ${i}` })),
  );
  expect(kept).toEqual([]);
  const many = keptOf(14, () => Array.from({ length: 600 }, (_, i) => allocated("so", { subject: `${i}` })));
  expect(many).toHaveLength(500);
});
