import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAdviceLifecycle } from "../../../exporter/advice/lifecycle/adviceLifecycle.ts";
import type { LivingAdvice } from "../../../exporter/advice/lifecycle/lifecycleContract.ts";
import type { ReceivedAlert } from "../../../exporter/model/receivedAlert.ts";
import type { Recommendation, WithheldAdvice } from "../../../exporter/model/recommendation.ts";
import type { StoredAdvice } from "../../../exporter/model/storedAdvice.ts";
import { cycle, interval, offer, settings, start, victims } from "./offers.ts";

const newLifecycle = (stored: readonly StoredAdvice[] = []) => createAdviceLifecycle(settings, interval, stored);
const statesOf = ({ recommendations }: LivingAdvice) => recommendations.map(({ id, state }) => [id, state]);
const whyOf = ({ withheld }: LivingAdvice) => withheld.map(({ why }) => why);
const id = offer().draft.id;

/** A lifecycle with one open piece of advice, after three cycles. */
function opened() {
  const lifecycle = newLifecycle();
  for (const number of [0, 1, 2]) lifecycle.advance([offer()], cycle(number));
  return lifecycle;
}

describe("advice is shown", () => {
  test("after three cycles in a row, and not before", () => {
    const lifecycle = newLifecycle();
    for (const number of [0, 1]) {
      const seen = lifecycle.advance([offer()], cycle(number));
      expect(seen.recommendations).toEqual([]);
      expect(seen.withheld).toMatchObject([{ why: "standing", reason: expect.stringContaining("of 3 cycles") }]);
    }
    const seen = lifecycle.advance([offer()], cycle(2));
    expect(seen.recommendations).toMatchObject([
      { id, state: "open", firstSeenAt: start + 60, computedAt: start + 60, validUntil: start + 120, closedAt: null },
    ]);
    expect(seen.withheld).toEqual([]);
  });

  test("not when a cycle between found nothing", () => {
    const lifecycle = newLifecycle();
    for (const [number, offers] of [[offer()], [offer()], [], [offer()], [offer()]].entries())
      expect(lifecycle.advance(offers, cycle(number)).recommendations).toEqual([]);
  });

  test("as one record for as long as its need lasts, whatever its targets, numbers, steps and title are", () => {
    const lifecycle = opened();
    lifecycle.takeChanges();
    const { effect } = offer().draft;
    const more = offer({
      title: "24 GPUs",
      worthGpuHours: 7,
      targets: ["Job ads/other"],
      steps: [],
      effect: { ...effect, gainedGpus: { worst: 24, best: 24 } },
    });
    expect(lifecycle.advance([more], cycle(3)).recommendations).toMatchObject([
      { id, title: "24 GPUs", worthGpuHours: 7, targets: ["Job ads/other"], steps: [], firstSeenAt: start + 60 },
    ]);
    expect(lifecycle.takeChanges()).toMatchObject([
      { id, firstSeenAt: start + 60, title: "24 GPUs", gainedGpusWorst: 24 },
    ]);
  });

  test("as the same record when its need comes back within a day, and as another after that", () => {
    const lifecycle = opened();
    for (const number of [3, 4]) lifecycle.advance([], cycle(number));
    expect(statesOf(lifecycle.latest())).toEqual([[id, "expired"]]);
    lifecycle.takeChanges();
    for (const number of [10, 11, 12]) lifecycle.advance([offer()], cycle(number));
    expect(lifecycle.latest().recommendations).toMatchObject([
      { id, state: "open", firstSeenAt: start + 60, openedAt: start + 360, openings: 2, closedAt: null },
    ]);
    expect(lifecycle.takeChanges()).toMatchObject([{ id, firstSeenAt: start + 60, closedAt: null }]);
    for (const number of [13, 14]) lifecycle.advance([], cycle(number));
    const aDay = 86_400 / interval;
    for (const number of [14, 15, 16]) lifecycle.advance([offer()], cycle(aDay + number));
    expect(lifecycle.latest().recommendations).toMatchObject([
      { id, state: "open", openings: 1 },
      { id, state: "expired", openings: 2 },
    ]);
  });

  test("at once where an alert about it fires", () => {
    const lifecycle = newLifecycle();
    lifecycle.link([alert()], start);
    expect(lifecycle.advance([offer()], cycle(0)).recommendations).toMatchObject([
      { id, alerts: [{ alertname: "GpuTeamStarved", status: "firing" }] },
    ]);
  });

  test("the one with the most worth first", () => {
    const lifecycle = newLifecycle();
    const small = offer({ id: "r-small", worthGpuHours: 3, beneficiary: { kind: "queue", name: "other" } });
    for (const number of [0, 1, 2]) lifecycle.advance([small, offer()], cycle(number));
    expect(statesOf(lifecycle.latest())).toEqual([
      [id, "open"],
      ["r-small", "open"],
    ]);
  });
});

describe("advice expires", () => {
  test("two cycles after it was last found", () => {
    const lifecycle = opened();
    expect(statesOf(lifecycle.advance([], cycle(3)))).toEqual([[id, "open"]]);
    const seen = lifecycle.advance([], cycle(4));
    expect(seen.recommendations).toMatchObject([{ id, state: "expired", closedAt: start + 120, measured: null }]);
  });

  test("also when nobody could work it out again", () => {
    const lifecycle = opened();
    lifecycle.lapse(start + 119);
    expect(statesOf(lifecycle.latest())).toEqual([[id, "open"]]);
    lifecycle.lapse(start + 120);
    expect(lifecycle.latest().recommendations).toMatchObject([
      { id, state: "expired", closedBecause: "it could not be worked out again" },
    ]);
  });

  test("at once when it is found no more after the clock was set back", () => {
    const lifecycle = opened();
    expect(statesOf(lifecycle.advance([], cycle(-1000)))).toEqual([[id, "expired"]]);
  });

  test("when another plan that excludes it is better, which is shown at once; each says so of the other", () => {
    const lifecycle = opened();
    const better = offer({ kind: "fix_scheduler" });
    const seen = lifecycle.advance([better], cycle(3), [excludedBy(better.draft.id)]);
    expect(seen.recommendations).toMatchObject([
      { id: better.draft.id, state: "open", replaces: [id], replacedBy: null },
      { id, state: "expired", replacedBy: better.draft.id, closedBecause: `replaced by ${better.draft.id}` },
    ]);
    // What was replaced and is needed again is not replaced any more.
    for (const number of [4, 5, 6, 7]) lifecycle.advance([offer()], cycle(number));
    expect(lifecycle.latest().recommendations[0]).toMatchObject({ id, state: "open", replacedBy: null, openings: 2 });
  });

  test("when advice of another kind for the same has come meanwhile", () => {
    const lifecycle = opened();
    const other = offer({ kind: "change_quota", targets: ["ClusterQueue search"] });
    for (const number of [3, 4, 5]) lifecycle.advance([other], cycle(number));
    expect(lifecycle.latest().recommendations).toMatchObject([
      { id: other.draft.id, state: "open" },
      { id, state: "expired", replacedBy: null },
    ]);
    const kept = opened();
    for (const number of [3, 4, 5]) kept.advance([offer(), other], cycle(number));
    for (const number of [6, 7]) kept.advance([other], cycle(number));
    expect(kept.latest().recommendations.find((one) => one.id === id)).toMatchObject({ replacedBy: null });
    const standing = newLifecycle();
    for (const number of [1, 2]) standing.advance([offer(), other], cycle(number));
    standing.advance([offer()], cycle(3));
    for (const number of [4, 5]) standing.advance([offer(), other], cycle(number));
    standing.advance([other], cycle(6));
    expect(standing.advance([other], cycle(7)).recommendations).toMatchObject([
      { id: other.draft.id, state: "open", replaces: [id] },
      { id, state: "expired", replacedBy: other.draft.id },
    ]);
  });

  test("with the reason of the moment: why this very need is not served, and never another's", () => {
    const reasons: WithheldAdvice[] = [
      { kind: "reclaim", subject: "news", why: "guard", reason: "of another queue" },
      { kind: "reclaim", subject: "search", why: "no-plan", reason: "all that is owed fits" },
    ];
    const closedBecause = (lifecycle: ReturnType<typeof newLifecycle>) =>
      lifecycle.latest().recommendations[0]?.closedBecause;
    const lifecycle = opened();
    for (const number of [3, 4]) lifecycle.advance([], cycle(number), reasons);
    expect(closedBecause(lifecycle)).toBe("it was not found again: all that is owed fits");
    const second = opened();
    const own: WithheldAdvice = { kind: "reclaim", subject: "search", why: "worth", reason: "too little", id };
    for (const number of [3, 4]) second.advance([], cycle(number), [...reasons, own]);
    expect(closedBecause(second)).toBe("it was not found again: too little");
    const third = opened();
    for (const number of [3, 4]) third.advance([], cycle(number), reasons.slice(0, 1));
    expect(closedBecause(third)).toBe(
      "it was not found again: nothing of the kind was found for queue search any more",
    );
  });
});

describe("advice is taken", () => {
  test("not when nobody can see the objects any more", () => {
    const lifecycle = opened();
    const blind = cycle(3, []);
    const { snapshot } = blind;
    const coverage = { ...snapshot.coverage, objects: false };
    expect(statesOf(lifecycle.advance([], { ...blind, snapshot: { ...snapshot, coverage } }))).toEqual([[id, "open"]]);
    expect(statesOf(lifecycle.advance([], cycle(4, [])))).toEqual([[id, "taken"]]);
  });

  test("when pods that were made anew ask for less, though they still wait", () => {
    const lifecycle = newLifecycle();
    const shrink = offer({}, { signs: [{ kind: "request-changed", workload: "Job/ads/embed", gpusPerPod: 2 }] });
    for (const number of [0, 1, 2]) lifecycle.advance([shrink], cycle(number));
    expect(statesOf(lifecycle.advance([], cycle(3)))).toEqual([[id, "open"]]);
    const anew = cycle(4, ["embed"]);
    const pods = anew.snapshot.pods.map((one) => ({ ...one, status: "pending" as const, node: null, gpus: 2 }));
    expect(statesOf(lifecycle.advance([], { ...anew, snapshot: { ...anew.snapshot, pods } }))).toEqual([[id, "taken"]]);
  });

  test("when its pods have left their nodes; what it gained and cost is measured until nothing changes any more", () => {
    const lifecycle = opened();
    lifecycle.takeChanges();
    const seen = lifecycle.advance([], cycle(3, []));
    expect(seen.recommendations).toMatchObject([
      { id, state: "taken", closedAt: start + 90, closedBecause: "its 2 pods have left their nodes" },
    ]);
    // 16 GPUs x (30 min of work + 90 s until it was seen + 10 min to restart).
    expect(seen.recommendations[0]?.measured?.lostGpuHours).toBeCloseTo((16 * (1890 + 600)) / 3600, 9);
    expect(seen.recommendations[0]?.measured).toMatchObject({ gainedGpus: 0, isFinal: false });
    expect(lifecycle.takeChanges()).toMatchObject([{ state: "taken", measuredGpus: 0 }]);
    const later = lifecycle.advance([], cycle(5, ["rank-7"]));
    expect(later.recommendations[0]?.measured).toMatchObject({ gainedGpus: 8, isFinal: false });
    expect(lifecycle.takeChanges()).toMatchObject([{ measuredGpus: 8 }]);
    const last = lifecycle.advance([], cycle(63, ["rank-7"]));
    expect(last.recommendations[0]?.measured).toMatchObject({ gainedGpus: 8, isFinal: true });
    lifecycle.takeChanges();
    lifecycle.advance([], cycle(64, []));
    expect(lifecycle.takeChanges()).toEqual([]);
  });

  test("not when they have ended by themselves", () => {
    const lifecycle = opened();
    lifecycle.advance([], cycle(3, [], [...victims]));
    expect(statesOf(lifecycle.advance([], cycle(4, [], [...victims])))).toEqual([[id, "expired"]]);
  });

  test("in part when someone began and went no further; until then it stays, and no other plan comes between", () => {
    const lifecycle = opened();
    const other = offer({ kind: "fix_scheduler" });
    const reasons = [excludedBy(other.draft.id)];
    const seen = lifecycle.advance([other], cycle(3, ["crawl"]), reasons);
    expect(seen.recommendations).toMatchObject([{ id, state: "open", parts: { done: 1, all: 2 } }]);
    expect(seen.withheld).toMatchObject([{ why: "standing", reason: expect.stringContaining(`${id} is being`) }]);
    lifecycle.advance([other], cycle(22, ["crawl"]), reasons);
    expect(statesOf(lifecycle.latest())).toEqual([[id, "open"]]);
    expect(lifecycle.advance([other], cycle(23, ["crawl"]), reasons).recommendations).toContainEqual(
      expect.objectContaining({
        id,
        state: "taken",
        parts: { done: 1, all: 2 },
        closedBecause: "in part: 1 of 2 parts, and then nothing for ten minutes",
        // One pod of eight GPUs: 30 min of work, 11.5 min until it counted, and 10 min to restart.
        measured: expect.objectContaining({ lostGpuHours: (8 * (1800 + 690 + 600)) / 3600 }),
      }),
    );
  });

  test("does not change while someone carries it out, though another plan for the need is better now", () => {
    const lifecycle = opened();
    const better = offer({ targets: ["Job ads/other"], steps: [] }, { signs: [] });
    const [seen] = lifecycle.advance([better], cycle(3, ["crawl"])).recommendations;
    expect(seen).toMatchObject({ id, targets: offer().draft.targets, steps: offer().draft.steps });
    expect(lifecycle.advance([better], cycle(5, [])).recommendations[0]).toMatchObject({
      id,
      state: "taken",
      parts: { done: 2 },
    });
  });

  test("is what it was when someone read it: who does that a while later has carried it out", () => {
    const lifecycle = opened();
    const other = offer(
      { targets: ["Job ads/other"] },
      { signs: [{ kind: "pods-left", pods: [{ uid: "other", node: "h100-01" }] }] },
    );
    const all = [...victims, "other"];
    expect(lifecycle.advance([other], cycle(3, all)).recommendations[0]?.targets).toEqual(["Job ads/other"]);
    expect(lifecycle.advance([other], cycle(20, ["crawl", "other"])).recommendations).toMatchObject([
      { id, state: "open", parts: { done: 1, all: 2 }, targets: offer().draft.targets },
    ]);
    expect(lifecycle.advance([other], cycle(21, ["other"])).recommendations).toMatchObject([
      { id, state: "taken", targets: offer().draft.targets },
    ]);
    // What was read hours ago is nobody's plan any more.
    const late = opened();
    for (const number of [3, 300]) late.advance([other], cycle(number, all));
    expect(late.advance([other], cycle(301, ["crawl", "other"])).recommendations[0]).toMatchObject({ parts: null });
  });

  test("in part: what was done rests, and the rest goes on at once under the same id", () => {
    const lifecycle = newLifecycle();
    const both = offer({ targets: ["Job ads/crawl", "Job ads/embed"] });
    for (const number of [0, 1, 2]) lifecycle.advance([both], cycle(number));
    const rest = offer({ targets: ["Job ads/crawl"] });
    for (let number = 3; number < 23; number += 1) lifecycle.advance([rest], cycle(number, ["crawl"]));
    expect(statesOf(lifecycle.advance([rest], cycle(23, ["crawl"])))).toEqual([
      [id, "open"],
      [id, "taken"],
    ]);
    const again = newLifecycle(lifecycle.takeChanges());
    const done = offer({ kind: "defragment", targets: ["Job ads/embed"] });
    expect(whyOf(again.advance([done], cycle(24, ["crawl"])))).toEqual(["cool-down"]);
  });

  test("not when what was done is undone", () => {
    const lifecycle = opened();
    lifecycle.advance([offer()], cycle(3, ["crawl"]));
    expect(lifecycle.advance([offer()], cycle(4)).recommendations).toMatchObject([{ id, state: "open", parts: null }]);
    expect(lifecycle.advance([offer()], cycle(60)).recommendations).toMatchObject([{ id, state: "open", parts: null }]);
  });

  test("and then its targets rest", () => {
    const lifecycle = opened();
    lifecycle.advance([offer()], cycle(3, []));
    expect(whyOf(lifecycle.advance([offer()], cycle(4, [])))).toEqual(["cool-down"]);
    expect(whyOf(lifecycle.advance([offer()], cycle(62, [])))).toEqual(["cool-down"]);
    const elsewhere = offer({ targets: ["Workload ads/else"] });
    // Its need waits until the effect has shown.
    expect(whyOf(lifecycle.advance([elsewhere], cycle(10, [])))).toEqual(["cool-down"]);
    for (const number of [63, 64]) lifecycle.advance([offer()], cycle(number));
    expect(lifecycle.advance([offer()], cycle(65)).recommendations[0]).toMatchObject({ id, state: "open" });
  });
});

describe("advice is dismissed", () => {
  test("for its need, whatever the plan, and until it is more than twice as much", () => {
    const lifecycle = opened();
    lifecycle.dismiss(id, "kim", "ads has a deadline", start + 70);
    const { effect } = offer().draft;
    const of = (worst: number) =>
      offer({ targets: ["Job ads/other"], effect: { ...effect, gainedGpus: { worst, best: worst } } });
    for (const number of [3, 4, 5]) expect(whyOf(lifecycle.advance([of(32)], cycle(number)))).toEqual(["dismissed"]);
    expect(statesOf(lifecycle.advance([of(33)], cycle(100)))).toContainEqual([id, "open"]);
  });

  test("with who and why, and does not come back for two weeks", () => {
    const lifecycle = opened();
    expect(lifecycle.dismiss("r-unknown", "kim", "no", start)).toBe(false);
    expect(lifecycle.dismiss(id, "kim", "ads has a deadline", start + 70)).toBe(true);
    expect(lifecycle.dismiss(id, "kim", "again", start + 71)).toBe(false);
    expect(lifecycle.latest().recommendations).toMatchObject([
      { id, state: "dismissed", closedAt: start + 70, closedBecause: "kim: ads has a deadline" },
    ]);
    expect(whyOf(lifecycle.advance([offer()], cycle(200)))).toEqual(["dismissed"]);
    const fortnight = (14 * 86_400) / interval + 3;
    for (const number of [0, 1, 2]) lifecycle.advance([offer()], cycle(fortnight + number));
    expect(lifecycle.latest().recommendations[0]).toMatchObject({ id, state: "open" });
  });

  test("however much else closes meanwhile", () => {
    const lifecycle = createAdviceLifecycle({ ...settings, standingCycles: 1 }, interval, []);
    lifecycle.advance([offer()], cycle(2));
    lifecycle.dismiss(id, "kim", "no", start + 60);
    const passing = (number: number) =>
      offer({
        id: `r-${number}`,
        targets: [`Job ads/${number}`],
        beneficiary: { kind: "queue", name: `q${number % 7}` },
      });
    for (let number = 3; number < 203; number += 1) lifecycle.advance([offer(), passing(number)], cycle(number));
    expect(whyOf(lifecycle.latest())).toContain("dismissed");
    expect(lifecycle.latest().recommendations.filter(({ state }) => state !== "open")).toHaveLength(100);
    expect(lifecycle.latest().recommendations.find((one) => one.id === id && one.state === "open")).toBeUndefined();
  });

  test("for no longer than that, although the clock ran years ahead when it was dismissed", () => {
    const lifecycle = newLifecycle();
    const ahead = 1_000_000;
    for (const number of [0, 1, 2]) lifecycle.advance([offer()], cycle(ahead + number));
    lifecycle.dismiss(id, "kim", "no", start + (ahead + 2) * interval);
    expect(whyOf(lifecycle.advance([offer()], cycle(3)))).toEqual(["dismissed"]);
    const restarted = newLifecycle(lifecycle.takeChanges());
    const later = 4 + (settings.dismissedDays * 86_400) / interval;
    for (const number of [4, 5, later]) restarted.advance([offer()], cycle(number));
    expect(statesOf(restarted.latest())[0]).toEqual([id, "open"]);
  });
});

describe("advice that a person says is done", () => {
  test("is taken once, and is not detected or advised a second time", () => {
    const lifecycle = opened();
    expect(lifecycle.take("r-unknown", "kim", start)).toBe(false);
    expect(lifecycle.take(id, "kim", start + 70)).toBe(true);
    expect(lifecycle.take(id, "kim", start + 71)).toBe(false);
    expect(lifecycle.dismiss(id, "kim", "no", start + 71)).toBe(false);
    // The cluster does not show it yet, then it does.
    expect(whyOf(lifecycle.advance([offer()], cycle(3)))).toEqual(["cool-down"]);
    const seen = lifecycle.advance([offer()], cycle(4, [])).recommendations;
    expect(seen).toMatchObject([
      {
        id,
        state: "taken",
        closedAt: start + 70,
        closedBecause: "kim says that it is done",
        parts: { done: 2, all: 2 },
      },
    ]);
  });

  test("is measured from the first moment after that on, also what stops only then", () => {
    const lifecycle = opened();
    lifecycle.take(id, "kim", start + 70);
    expect(lifecycle.latest().recommendations[0]?.measured).toBeNull();
    expect(lifecycle.advance([], cycle(3)).recommendations[0]?.measured).toMatchObject({
      ...{ gainedGpus: 0, lostGpuHours: 0, isFinal: false, undone: null },
    });
    const after = lifecycle.advance([], cycle(4, [])).recommendations[0]?.measured;
    const restart = settings.restartMinutes / 60;
    expect(after?.lostGpuHours).toBeCloseTo(2 * 8 * ((1800 + 4 * interval) / 3600 + restart), 9);
    // Each pod stops once.
    expect(lifecycle.advance([], cycle(5, [])).recommendations[0]?.measured?.lostGpuHours).toBe(after?.lostGpuHours);
  });

  test("is measured after a restart, too", () => {
    const first = opened();
    first.takeChanges();
    first.take(id, "kim", start + 70);
    const second = newLifecycle(first.takeChanges());
    expect(second.take(id, "lee", start + 80)).toBe(false);
    expect(second.advance([], cycle(3, [])).recommendations).toMatchObject([
      { id, state: "taken", closedBecause: "kim says that it is done", measured: { isFinal: false, undone: null } },
    ]);
  });

  test("is not taken when it has expired", () => {
    const lifecycle = opened();
    for (const number of [3, 4]) lifecycle.advance([], cycle(number));
    expect(lifecycle.take(id, "kim", start + 130)).toBe(false);
    expect(statesOf(lifecycle.latest())).toEqual([[id, "expired"]]);
  });
});

describe("the ledger", () => {
  test("brings open, dismissed and taken advice back as it was", () => {
    const lifecycle = opened();
    const second = newLifecycle(lifecycle.takeChanges());
    expect(second.latest().recommendations).toEqual(lifecycle.latest().recommendations);
    // What was open is open at once.
    expect(statesOf(second.advance([offer()], cycle(10)))).toEqual([[id, "open"]]);
    second.dismiss(id, "kim", "no", start + 301);
    const third = newLifecycle(second.takeChanges());
    expect(whyOf(third.advance([offer()], cycle(11)))).toEqual(["dismissed"]);
  });

  test("gives back what is found again in the second cycle: in the first not all has been seen", () => {
    const second = newLifecycle(opened().takeChanges());
    expect(statesOf(second.advance([], cycle(20)))).toEqual([[id, "open"]]);
    expect(second.advance([offer()], cycle(21)).recommendations).toMatchObject([
      { id, state: "open", firstSeenAt: start + 60 },
    ]);
    const third = newLifecycle(opened().takeChanges());
    third.advance([], cycle(20));
    third.advance([], cycle(21));
    expect(statesOf(third.advance([], cycle(22)))).toEqual([[id, "expired"]]);
  });

  test("may hold what another version wrote: it is left out", () => {
    const [stored] = opened().takeChanges();
    if (stored === undefined) throw new Error("nothing was stored");
    for (const record of ["", "{}", "[1]", stored.record.replace('"reclaim"', '"later"')])
      expect(newLifecycle([{ ...stored, record }]).latest().recommendations).toEqual([]);
  });

  test("may hold what an older version wrote: links to it go on, and what takes its place says so", () => {
    const [stored] = opened().takeChanges();
    if (stored === undefined) throw new Error("nothing was stored");
    const old = JSON.parse(stored.record);
    for (const name of ["openedAt", "openings", "replaces", "replacedBy", "parts", "rests"]) delete old[name];
    old.title = stored.title;
    old.offer.need = "reclaim/queue/search";
    old.offer.draft.id = "r-0123456789";
    const lifecycle = newLifecycle([{ ...stored, id: "r-0123456789", record: JSON.stringify(old) }]);
    expect(lifecycle.latest().recommendations).toMatchObject([{ id: "r-0123456789", state: "open", openings: 1 }]);
    expect(lifecycle.advance([offer()], cycle(3)).recommendations).toMatchObject([
      { id, state: "open", replaces: ["r-0123456789"] },
      { id: "r-0123456789", state: "expired", replacedBy: id, firstSeenAt: start + 60 },
    ]);
    const dismissed = { ...old, state: "dismissed", closedAt: start + 70, closedBecause: "kim: no" };
    const second = newLifecycle([{ ...stored, id: "r-0123456789", record: JSON.stringify(dismissed) }]);
    for (const number of [3, 4, 5]) expect(whyOf(second.advance([offer()], cycle(number)))).toEqual(["dismissed"]);
  });

  test("keeps limits that are none", () => {
    const signs = [
      { kind: "quota-changed", queue: "kueue/ClusterQueue/a/H100", field: "limit", from: 8, to: Infinity },
    ] as const;
    const lifecycle = newLifecycle();
    for (const number of [0, 1, 2]) lifecycle.advance([offer({}, { signs })], cycle(number));
    expect(newLifecycle(lifecycle.takeChanges()).latest().recommendations).toHaveLength(1);
  });

  test("is given the changes alone", () => {
    const lifecycle = newLifecycle();
    lifecycle.advance([offer()], cycle(0));
    expect(lifecycle.takeChanges()).toEqual([]);
    lifecycle.advance([offer()], cycle(1));
    lifecycle.advance([offer()], cycle(2));
    expect(lifecycle.takeChanges()).toMatchObject([{ id, state: "open", gainedGpusWorst: 16, measuredGpus: null }]);
    lifecycle.advance([offer()], cycle(3));
    expect(lifecycle.takeChanges()).toEqual([]);
  });
});

describe("alerts", () => {
  test("are linked once, whatever is received how often, and in whatever order", () => {
    const lifecycle = opened();
    lifecycle.takeChanges();
    lifecycle.link([alert(), alert()], start + 70);
    lifecycle.link([alert()], start + 80);
    expect(lifecycle.latest().recommendations[0]?.alerts).toEqual([
      { alertname: "GpuTeamStarved", fingerprint: "f1", status: "firing", startsAt: start },
    ]);
    expect(lifecycle.takeChanges()).toHaveLength(1);
    lifecycle.link([alert({ status: "resolved", endsAt: start + 90 })], start + 90);
    lifecycle.link([alert()], start + 91);
    expect(lifecycle.latest().recommendations[0]?.alerts).toMatchObject([{ status: "resolved" }]);
  });

  test("are seen to end after the advice was taken, and no new ones are linked then", () => {
    const lifecycle = opened();
    lifecycle.link([alert()], start + 70);
    lifecycle.advance([], cycle(3, []));
    lifecycle.takeChanges();
    lifecycle.link([alert({ status: "resolved", endsAt: start + 100 }), alert({ fingerprint: "f2" })], start + 100);
    expect(lifecycle.latest().recommendations).toMatchObject([
      { state: "taken", alerts: [{ fingerprint: "f1", status: "resolved" }] },
    ]);
    expect(lifecycle.takeChanges()).toHaveLength(1);
    lifecycle.advance([], cycle(4, []));
    expect(lifecycle.latest().recommendations).toMatchObject([{ alerts: [{ status: "resolved" }] }]);
  });

  test.each([
    ["another team", { team: "vision" }],
    ["another pool", { team: "search", pool: "A100" }],
    ["another queue", { team: "search", queue: "batch" }],
    ["nobody", {}],
  ])("about %s are not", (_, labels) => {
    const lifecycle = opened();
    lifecycle.link([alert({ labels })], start + 70);
    expect(lifecycle.latest().recommendations[0]?.alerts).toEqual([]);
  });
});

test("whatever is offered: one open piece for each need, and none whose target rests", () => {
  const offers = fc.array(
    fc.record({ id: fc.constantFrom("r-1", "r-2", "r-3"), need: fc.constantFrom("a", "b"), allocated: fc.boolean() }),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(fc.array(offers, { maxLength: 30 }), (cycles) => {
      const lifecycle = newLifecycle();
      for (const [number, made] of cycles.entries()) {
        const distinct = [...new Map(made.map((one) => [one.need, one])).values()];
        const allocated = made.some((one) => !one.allocated) ? [] : victims;
        const given = distinct.map((one) => offer({ id: one.id, targets: [one.id] }, { need: one.need }));
        const { recommendations } = lifecycle.advance(given, cycle(number, allocated));
        expectRest(recommendations, start + number * interval);
      }
    }),
    { numRuns: 200, seed: 1 },
  );
});

const excludedBy = (rival: string): WithheldAdvice => ({
  kind: "reclaim",
  subject: "search",
  why: "excluded",
  reason: "another gains more",
  id,
  rival,
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
