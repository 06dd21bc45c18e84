import { describe, expect, it } from "vitest";
import type { History, TotalsResult } from "../../../exporter/history/history.ts";
import { nothingKnown } from "../../../review/build/nothingKnown.ts";
import { weekOf } from "../../../review/window.ts";

const day = 86_400;
/** A Wednesday. */
const now = Date.UTC(2026, 10, 25, 9) / 1000;
const lastWeek = weekOf(now - 7 * day);

function question(answer: TotalsResult) {
  const asked: (readonly [number, number])[] = [];
  const history: History = {
    name: "a and b",
    kind: "prometheus",
    totals: async ({ from, to }) => {
      asked.push([from, to]);
      return answer;
    },
  };
  const rest = { cluster: "harbor", compare: 0, team: null, accounts: null, budgets: [], notCharged: [] };
  return { asked, question: { ...rest, days: lastWeek, now, history } };
}

function days(coveredSeconds: number, ...texts: readonly string[]): TotalsResult {
  const rows = texts.map((text) => ({ values: [text], gpuSeconds: 1, costs: {}, unpricedGpuSeconds: null }));
  return { ok: true, answer: { rows, coveredSeconds, from: lastWeek.from, to: now } };
}

describe("a window without data", () => {
  it("is too early where the data begins after it", async () => {
    const { asked, question: late } = question(days(600, "2026-11-25", "2026-11-24"));
    expect(await nothingKnown(late, false)).toEqual({
      ok: false,
      isNotYet: true,
      error: "There is no review of 2026-W47 yet: data is recorded since 2026-11-24 in a and b",
      nextStep:
        "The first review will be of 2026-W48, and can be written from Monday 2026-11-30 (UTC) on. The week that goes on can be asked for at any time: --week current, or /review.",
    });
    expect(asked).toEqual([[lastWeek.from, Date.UTC(2026, 10, 26) / 1000]]);
  });

  it("is too early where nothing is recorded at all", async () => {
    const { question: fresh } = question(days(0));
    expect(await nothingKnown(fresh, false)).toMatchObject({
      isNotYet: true,
      error: "There is no review of 2026-W47 yet: so far nothing is recorded in a and b",
    });
  });

  it.each([
    ["windows before it have data", days(600, "2026-11-24"), true],
    ["its last day is recorded, of another team for instance", days(600, "2026-11-22"), false],
    ["time is covered and has no GPUs", days(600), false],
    ["a server has nothing and may be asked in the wrong way", empty(), false],
  ])("is a failure where %s", async (_, answer, knownBefore) => {
    const found = await nothingKnown(question(answer).question, knownBefore);
    expect(found.isNotYet).toBeUndefined();
    expect(found.error).toBe("nothing of 2026-W47 is recorded in a and b; that is no data, not idle GPUs");
  });

  it("is a failure where it was long ago, without a question for each day since", async () => {
    const { asked, question: old } = question(days(600, "2026-11-24"));
    expect(await nothingKnown({ ...old, days: weekOf(now - 70 * day) }, false)).not.toHaveProperty("isNotYet");
    expect(asked).toEqual([]);
  });
});

function empty(): TotalsResult {
  return { ok: false, isEmpty: true, error: "no series", nextStep: "Look." };
}
