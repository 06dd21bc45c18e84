import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAdviceLife, type LivingAdvice } from "../../../exporter/advice/life/adviceLife.ts";
import type { ReceivedAlert } from "../../../exporter/model/receivedAlert.ts";
import type { Recommendation } from "../../../exporter/model/recommendation.ts";
import type { StoredAdvice } from "../../../exporter/model/storedAdvice.ts";
import { cycle, interval, offer, settings, start, victims } from "./offers.ts";

const newLife = (stored: readonly StoredAdvice[] = []) => createAdviceLife(settings, interval, stored);
const statesOf = ({ recommendations }: LivingAdvice) => recommendations.map(({ id, state }) => [id, state]);
const whyOf = ({ withheld }: LivingAdvice) => withheld.map(({ why }) => why);
const id = offer().draft.id;

/** A life with one open piece of advice, after three cycles. */
function opened() {
  const life = newLife();
  for (const number of [0, 1, 2]) life.advance([offer()], cycle(number));
  return life;
}

describe("advice is shown", () => {
  test("after three cycles in a row, and not before", () => {
    const life = newLife();
    for (const number of [0, 1]) {
      const seen = life.advance([offer()], cycle(number));
      expect(seen.recommendations).toEqual([]);
      expect(seen.withheld).toMatchObject([{ why: "standing", reason: expect.stringContaining("of 3 cycles") }]);
    }
    const seen = life.advance([offer()], cycle(2));
    expect(seen.recommendations).toMatchObject([
      { id, state: "open", firstSeenAt: start + 60, computedAt: start + 60, validUntil: start + 120, closedAt: null },
    ]);
    expect(seen.withheld).toEqual([]);
  });

  test("not when a cycle between found nothing", () => {
    const life = newLife();
    for (const [number, offers] of [[offer()], [offer()], [], [offer()], [offer()]].entries())
      expect(life.advance(offers, cycle(number)).recommendations).toEqual([]);
  });

  test("with the title under which it was first seen, and the numbers of now", () => {
    const life = opened();
    const [seen] = life.advance([offer({ title: "otherwise", worthGpuHours: 7 })], cycle(3)).recommendations;
    expect(seen).toMatchObject({ title: offer().draft.title, worthGpuHours: 7, firstSeenAt: start + 60 });
  });

  test("as another life when the planned number of GPUs is another, for the title says it", () => {
    const life = opened();
    const { effect } = offer().draft;
    const more = offer({ title: "24 GPUs", effect: { ...effect, gainedGpus: { worst: 24, best: 24 } } });
    expect(life.advance([more], cycle(3)).recommendations).toMatchObject([
      { id, state: "open", title: "24 GPUs", firstSeenAt: start + 90 },
      { id, state: "expired", title: offer().draft.title, closedBecause: "it is about 24 GPUs now" },
    ]);
  });

  test("at once where an alert about it fires", () => {
    const life = newLife();
    life.link([alert()], start);
    expect(life.advance([offer()], cycle(0)).recommendations).toMatchObject([
      { id, alerts: [{ alertname: "GpuTeamStarved", status: "firing" }] },
    ]);
  });

  test("the one with the most worth first", () => {
    const life = newLife();
    const small = offer({ id: "r-small", worthGpuHours: 3, beneficiary: { kind: "queue", name: "other" } });
    for (const number of [0, 1, 2]) life.advance([small, offer()], cycle(number));
    expect(statesOf(life.latest())).toEqual([
      [id, "open"],
      ["r-small", "open"],
    ]);
  });
});

describe("advice expires", () => {
  test("two cycles after it was last found", () => {
    const life = opened();
    expect(statesOf(life.advance([], cycle(3)))).toEqual([[id, "open"]]);
    const seen = life.advance([], cycle(4));
    expect(seen.recommendations).toMatchObject([{ id, state: "expired", closedAt: start + 120, measured: null }]);
  });

  test("also when nobody could work it out again", () => {
    const life = opened();
    life.lapse(start + 119);
    expect(statesOf(life.latest())).toEqual([[id, "open"]]);
    life.lapse(start + 120);
    expect(life.latest().recommendations).toMatchObject([
      { id, state: "expired", closedBecause: "it could not be worked out again" },
    ]);
  });

  test("at once when it is found no more after the clock was set back", () => {
    const life = opened();
    expect(statesOf(life.advance([], cycle(-1000)))).toEqual([[id, "expired"]]);
  });

  test("when another plan for the same need is better, which is shown at once", () => {
    const life = opened();
    const seen = life.advance([offer({ id: "r-better" })], cycle(3));
    expect(statesOf(seen)).toEqual([
      ["r-better", "open"],
      [id, "expired"],
    ]);
  });
});

describe("advice is taken", () => {
  test("not when nobody can see the objects any more", () => {
    const life = opened();
    const blind = cycle(3, []);
    const { snapshot } = blind;
    const coverage = { ...snapshot.coverage, objects: false };
    expect(statesOf(life.advance([], { ...blind, snapshot: { ...snapshot, coverage } }))).toEqual([[id, "open"]]);
    expect(statesOf(life.advance([], cycle(4, [])))).toEqual([[id, "taken"]]);
  });

  test("when pods that were made anew ask for less, though they still wait", () => {
    const life = newLife();
    const shrink = offer({}, { signs: [{ kind: "request-changed", workload: "Job/ads/embed", gpusPerPod: 2 }] });
    for (const number of [0, 1, 2]) life.advance([shrink], cycle(number));
    expect(statesOf(life.advance([], cycle(3)))).toEqual([[id, "open"]]);
    const anew = cycle(4, ["embed"]);
    const pods = anew.snapshot.pods.map((one) => ({ ...one, status: "pending" as const, node: null, gpus: 2 }));
    expect(statesOf(life.advance([], { ...anew, snapshot: { ...anew.snapshot, pods } }))).toEqual([[id, "taken"]]);
  });

  test("when its pods have left their nodes; what it gained and cost is measured until nothing changes any more", () => {
    const life = opened();
    life.takeChanges();
    const seen = life.advance([], cycle(3, []));
    expect(seen.recommendations).toMatchObject([
      { id, state: "taken", closedAt: start + 90, closedBecause: "its 2 pods have left their nodes" },
    ]);
    // 16 GPUs x (30 min of work + 90 s until it was seen + 10 min to restart).
    expect(seen.recommendations[0]?.measured?.lostGpuHours).toBeCloseTo((16 * (1890 + 600)) / 3600, 9);
    expect(seen.recommendations[0]?.measured).toMatchObject({ gainedGpus: 0, isFinal: false });
    expect(life.takeChanges()).toMatchObject([{ state: "taken", measuredGpus: 0 }]);
    const later = life.advance([], cycle(5, ["rank-7"]));
    expect(later.recommendations[0]?.measured).toMatchObject({ gainedGpus: 8, isFinal: false });
    expect(life.takeChanges()).toMatchObject([{ measuredGpus: 8 }]);
    const last = life.advance([], cycle(63, ["rank-7"]));
    expect(last.recommendations[0]?.measured).toMatchObject({ gainedGpus: 8, isFinal: true });
    life.takeChanges();
    life.advance([], cycle(64, []));
    expect(life.takeChanges()).toEqual([]);
  });

  test("not when they have ended by themselves", () => {
    const life = opened();
    life.advance([], cycle(3, [], [...victims]));
    expect(statesOf(life.advance([], cycle(4, [], [...victims])))).toEqual([[id, "expired"]]);
  });

  test("in part when somebody began and went no further; until then it stays, and no other plan comes between", () => {
    const life = opened();
    const other = offer({ id: "r-other" });
    const seen = life.advance([other], cycle(3, ["crawl"]));
    expect(statesOf(seen)).toEqual([[id, "open"]]);
    expect(seen.withheld).toMatchObject([{ why: "standing", reason: expect.stringContaining(`${id} is being`) }]);
    life.advance([other], cycle(22, ["crawl"]));
    expect(statesOf(life.latest())).toEqual([[id, "open"]]);
    expect(life.advance([other], cycle(23, ["crawl"])).recommendations).toMatchObject([
      { id, state: "taken", closedBecause: expect.stringContaining("in part") },
    ]);
  });

  test("and then its targets rest", () => {
    const life = opened();
    life.advance([offer()], cycle(3, []));
    expect(whyOf(life.advance([offer()], cycle(4, [])))).toEqual(["cool-down"]);
    expect(whyOf(life.advance([offer()], cycle(62, [])))).toEqual(["cool-down"]);
    const elsewhere = offer({ id: "r-else", targets: ["Workload ads/else"] });
    // Its need waits until the effect has shown.
    expect(whyOf(life.advance([elsewhere], cycle(10, [])))).toEqual(["cool-down"]);
    for (const number of [63, 64]) life.advance([offer()], cycle(number));
    expect(life.advance([offer()], cycle(65)).recommendations[0]).toMatchObject({ id, state: "open" });
  });
});

describe("advice is dismissed", () => {
  test("with who and why, and does not come back for two weeks", () => {
    const life = opened();
    expect(life.dismiss("r-unknown", "kim", "no", start)).toBe(false);
    expect(life.dismiss(id, "kim", "ads has a deadline", start + 70)).toBe(true);
    expect(life.dismiss(id, "kim", "again", start + 71)).toBe(false);
    expect(life.latest().recommendations).toMatchObject([
      { id, state: "dismissed", closedAt: start + 70, closedBecause: "kim: ads has a deadline" },
    ]);
    expect(whyOf(life.advance([offer()], cycle(200)))).toEqual(["dismissed"]);
    const fortnight = (14 * 86_400) / interval + 3;
    for (const number of [0, 1, 2]) life.advance([offer()], cycle(fortnight + number));
    expect(life.latest().recommendations[0]).toMatchObject({ id, state: "open" });
  });

  test("however much else closes meanwhile", () => {
    const life = createAdviceLife({ ...settings, standingCycles: 1 }, interval, []);
    life.advance([offer()], cycle(2));
    life.dismiss(id, "kim", "no", start + 60);
    const passing = (number: number) =>
      offer({
        id: `r-${number}`,
        targets: [`Job ads/${number}`],
        beneficiary: { kind: "queue", name: `q${number % 7}` },
      });
    for (let number = 3; number < 203; number += 1) life.advance([offer(), passing(number)], cycle(number));
    expect(whyOf(life.latest())).toContain("dismissed");
    expect(life.latest().recommendations.filter(({ state }) => state !== "open")).toHaveLength(100);
    expect(life.latest().recommendations.find((one) => one.id === id && one.state === "open")).toBeUndefined();
  });

  test("for no longer than that, although the clock ran years ahead when it was dismissed", () => {
    const life = newLife();
    const ahead = 1_000_000;
    for (const number of [0, 1, 2]) life.advance([offer()], cycle(ahead + number));
    life.dismiss(id, "kim", "no", start + (ahead + 2) * interval);
    expect(whyOf(life.advance([offer()], cycle(3)))).toEqual(["dismissed"]);
    const restarted = newLife(life.takeChanges());
    const later = 4 + (settings.dismissedDays * 86_400) / interval;
    for (const number of [4, 5, later]) restarted.advance([offer()], cycle(number));
    expect(statesOf(restarted.latest())[0]).toEqual([id, "open"]);
  });
});

describe("the ledger", () => {
  test("brings open, dismissed and taken advice back as it was", () => {
    const life = opened();
    const second = newLife(life.takeChanges());
    expect(second.latest().recommendations).toEqual(life.latest().recommendations);
    // What stood need not stand again.
    expect(statesOf(second.advance([offer()], cycle(10)))).toEqual([[id, "open"]]);
    second.dismiss(id, "kim", "no", start + 301);
    const third = newLife(second.takeChanges());
    expect(whyOf(third.advance([offer()], cycle(11)))).toEqual(["dismissed"]);
  });

  test("gives back what is found again in the second cycle: in the first not all has been seen", () => {
    const second = newLife(opened().takeChanges());
    expect(statesOf(second.advance([], cycle(20)))).toEqual([[id, "open"]]);
    expect(second.advance([offer()], cycle(21)).recommendations).toMatchObject([
      { id, state: "open", firstSeenAt: start + 60 },
    ]);
    const third = newLife(opened().takeChanges());
    third.advance([], cycle(20));
    third.advance([], cycle(21));
    expect(statesOf(third.advance([], cycle(22)))).toEqual([[id, "expired"]]);
  });

  test("may hold what another version wrote: it is left out", () => {
    const [stored] = opened().takeChanges();
    if (stored === undefined) throw new Error("nothing was stored");
    for (const record of ["", "{}", "[1]", stored.record.replace('"reclaim"', '"later"')])
      expect(newLife([{ ...stored, record }]).latest().recommendations).toEqual([]);
  });

  test("keeps limits that are none", () => {
    const signs = [
      { kind: "quota-changed", queue: "kueue/ClusterQueue/a/H100", field: "limit", from: 8, to: Infinity },
    ] as const;
    const life = newLife();
    for (const number of [0, 1, 2]) life.advance([offer({}, { signs })], cycle(number));
    expect(newLife(life.takeChanges()).latest().recommendations).toHaveLength(1);
  });

  test("is told of changes alone", () => {
    const life = newLife();
    life.advance([offer()], cycle(0));
    expect(life.takeChanges()).toEqual([]);
    life.advance([offer()], cycle(1));
    life.advance([offer()], cycle(2));
    expect(life.takeChanges()).toMatchObject([{ id, state: "open", gainedGpusWorst: 16, measuredGpus: null }]);
    life.advance([offer()], cycle(3));
    expect(life.takeChanges()).toEqual([]);
  });
});

describe("alerts", () => {
  test("are linked once, whatever is told how often, and in whatever order", () => {
    const life = opened();
    life.takeChanges();
    life.link([alert(), alert()], start + 70);
    life.link([alert()], start + 80);
    expect(life.latest().recommendations[0]?.alerts).toEqual([
      { alertname: "GpuTeamStarved", fingerprint: "f1", status: "firing", startsAt: start },
    ]);
    expect(life.takeChanges()).toHaveLength(1);
    life.link([alert({ status: "resolved", endsAt: start + 90 })], start + 90);
    life.link([alert()], start + 91);
    expect(life.latest().recommendations[0]?.alerts).toMatchObject([{ status: "resolved" }]);
  });

  test("are seen to end after the advice was taken, and no new ones are linked then", () => {
    const life = opened();
    life.link([alert()], start + 70);
    life.advance([], cycle(3, []));
    life.takeChanges();
    life.link([alert({ status: "resolved", endsAt: start + 100 }), alert({ fingerprint: "f2" })], start + 100);
    expect(life.latest().recommendations).toMatchObject([
      { state: "taken", alerts: [{ fingerprint: "f1", status: "resolved" }] },
    ]);
    expect(life.takeChanges()).toHaveLength(1);
    life.advance([], cycle(4, []));
    expect(life.latest().recommendations).toMatchObject([{ alerts: [{ status: "resolved" }] }]);
  });

  test.each([
    ["another team", { team: "vision" }],
    ["another pool", { team: "search", pool: "A100" }],
    ["another queue", { team: "search", queue: "batch" }],
    ["nobody", {}],
  ])("about %s are not", (_, labels) => {
    const life = opened();
    life.link([alert({ labels })], start + 70);
    expect(life.latest().recommendations[0]?.alerts).toEqual([]);
  });
});

test("whatever is offered: one open piece for each need, none of which a target rests", () => {
  const offers = fc.array(
    fc.record({ id: fc.constantFrom("r-1", "r-2", "r-3"), need: fc.constantFrom("a", "b"), held: fc.boolean() }),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(fc.array(offers, { maxLength: 30 }), (cycles) => {
      const life = newLife();
      for (const [number, made] of cycles.entries()) {
        const distinct = [...new Map(made.map((one) => [one.need, one])).values()];
        const held = made.some((one) => !one.held) ? [] : victims;
        const given = distinct.map((one) => offer({ id: one.id, targets: [one.id] }, { need: one.need }));
        const { recommendations } = life.advance(given, cycle(number, held));
        expectRest(recommendations, start + number * interval);
      }
    }),
    { numRuns: 200, seed: 1 },
  );
});

/** No two open ones are the same, and none acts on what was acted on lately. */
function expectRest(recommendations: readonly Recommendation[], at: number): void {
  const open = recommendations.filter(({ state }) => state === "open");
  expect(new Set(open.map((one) => one.id)).size).toBe(open.length);
  const resting = recommendations.filter(
    ({ state, closedAt }) => state === "taken" && at - (closedAt ?? at) < settings.coolDownMinutes * 60,
  );
  for (const { targets, closedAt } of resting)
    for (const one of open)
      if (one.firstSeenAt > (closedAt ?? at))
        expect(one.targets.some((target) => targets.includes(target))).toBe(false);
}

function alert(parts: Partial<ReceivedAlert> = {}): ReceivedAlert {
  return {
    fingerprint: "f1",
    status: "firing",
    alertname: "GpuTeamStarved",
    labels: { team: "search", pool: "H100" },
    startsAt: start,
    endsAt: null,
    ...parts,
  };
}
