import { describe, expect, it } from "vitest";
import { waitBuckets } from "../../exporter/analysis/waiting/waiting.ts";
import { gangView } from "../queues/queueView.ts";
import { a, accounts, clock, evicted, play, start, work } from "./queueLifecycle.ts";
import { queueMoment } from "./queueMoments.ts";

const anyNeeds = { requests: {}, nodeSelector: {}, nodeAffinity: [], tolerations: [] };

describe("ended waits", () => {
  it("count once, however often they are seen, in cumulative buckets of both phases", () => {
    const account = accounts();
    const started = [work()];
    const steps = play(account, [{ leaves: [a] }, { leaves: [a], started }, { leaves: [a], started }, { leaves: [a] }]);
    const wait = { queue: "a", team: "a", priorityClass: "high", gpus: 8 };
    expect(steps.map((step) => step?.waits)).toEqual([
      undefined,
      [
        { ...wait, phase: "admission", seconds: 610, endedAt: start + 10 },
        { ...wait, phase: "start", seconds: 15, endedAt: start + 25 },
        { ...wait, phase: "total", seconds: 625, endedAt: start + 25 },
      ],
      [],
      [],
    ]);
    const { waits } = account.counters().queues;
    expect(waits.map(({ phase, sumSeconds, count }) => [phase, sumSeconds, count])).toEqual([
      ["admission", 610, 1],
      ["start", 15, 1],
    ]);
    expect(waits[0]?.buckets).toEqual([...waitBuckets.map((bound) => (bound >= 610 ? 1 : 0)), 1]);
  });

  it("of work without reservation have one phase, from the begin", () => {
    const account = accounts();
    const step = play(account, [{}, { started: [work({ reservedAt: null, queue: null })] }, {}])[1];
    expect(step?.waits).toMatchObject([
      { phase: "start", seconds: 625, queue: null },
      { phase: "total", seconds: 625, queue: null },
    ]);
    expect(account.counters().queues.waits).toMatchObject([{ queue: "", phase: "start", count: 1 }]);
  });

  it("that ended before the first moment do not count, nor in the next process what the last one counted", () => {
    const first = accounts();
    play(first, [{ started: [work({ startedAt: start - 5 })] }, { started: [work({ startedAt: start - 5 })] }]);
    expect(first.counters().queues.waits).toEqual([]);
    const started = [work({ startedAt: start + 40 })];
    play(first, [{ started }, {}], 60);
    const second = accounts();
    play(
      second,
      [{ started }, { started }, { started: [...started, work({ uid: "u2", startedAt: start + 100 })] }, {}],
      70,
    );
    expect(first.counters().queues.waits.map(({ count }) => count)).toEqual([1, 1]);
    expect(second.counters().queues.waits.map(({ count }) => count)).toEqual([1, 1]);
  });

  it("count again when the same work began again", () => {
    const account = accounts();
    play(account, [{}, { started: [work()] }, { started: [work(), work({ startedAt: start + 55 })] }]);
    expect(account.counters().queues.waits.map(({ count }) => count)).toEqual([2, 2]);
  });

  it("are events: those of a step that is not covered count as well", () => {
    const account = accounts();
    play(account, [{}]);
    const step = account.account(queueMoment({ started: [work()], evicted: [evicted()] }), clock(300));
    expect(step).toMatchObject({ interval: { gap: "too-long" }, waits: [{}, {}, {}], evictions: [{}] });
  });

  it("come up at 0 where nobody saw them coming, and count with the next moment", () => {
    const account = accounts();
    const events = { started: [work(), work({ uid: "u2" })], evicted: [evicted(), evicted({ key: "u2@2" })] };
    const counts = [{}, events, {}].map((parts, i) => {
      play(account, [parts], 30 * i);
      const { waits, evictions } = account.counters().queues;
      return [...waits.map(({ count }) => count), ...evictions.map((cell) => cell.evictions)];
    });
    expect(counts).toEqual([[], [0, 0, 0], [2, 2, 2]]);
  });

  it("announce the queues and priorities that wait now", () => {
    const account = accounts();
    const moment = queueMoment({ leaves: [a] });
    // By the leaf in which it waits: a name that its pods only write down has none.
    const gang = gangView({ team: "a", queue: "made-up", priorityClass: "high" });
    const queue = moment.snapshot.queueing.queues.findIndex(({ name }) => name === "a");
    const parts = [{ queue, domain: 0, pods: 1, createdPods: 1, gpusPerPod: 1, needs: anyNeeds }];
    const queueing = { ...moment.snapshot.queueing, gangs: [{ ...gang, parts }] };
    account.account({ ...moment, snapshot: { ...moment.snapshot, queueing } }, clock(0));
    expect(account.counters().queues.waits).toMatchObject([
      { queue: "a", priorityClass: "high", phase: "admission", count: 0 },
      { queue: "a", priorityClass: "high", phase: "start", count: 0 },
    ]);
  });
});

describe("evictions", () => {
  it("count once for each key; those from before the first moment are for the ledger alone", () => {
    const account = accounts();
    const old = evicted({ key: "old", at: start - 100 });
    const seen = { evicted: [old, evicted(), evicted({ key: "u2@2", lostGpuSeconds: null, preemptor: null })] };
    const steps = play(account, [{ evicted: [old] }, seen, seen]);
    expect(steps.map((step) => step?.evictions.map(({ eviction, isEarlier }) => [eviction.key, isEarlier]))).toEqual([
      undefined,
      [
        ["old", true],
        ["u1@1", false],
        ["u2@2", false],
      ],
      [],
    ]);
    expect(account.counters().queues.evictions).toEqual([
      { queue: "a", team: "a", reason: "InCohortReclamation", preemptorQueue: "b", evictions: 1, lostGpuSeconds: 1000 },
      { queue: "a", team: "a", reason: "InCohortReclamation", preemptorQueue: "", evictions: 1, lostGpuSeconds: 0 },
    ]);
  });

  it("that are no news any more stay so, although what was seen is forgotten", () => {
    const account = accounts();
    play(account, [{}, { evicted: [evicted()] }]);
    const day = 86_400;
    account.account(queueMoment({}), clock(day + 60));
    const step = account.account(queueMoment({ evicted: [evicted()] }), clock(day + 90));
    expect(step?.evictions).toEqual([]);
    expect(account.counters().queues.evictions).toMatchObject([{ evictions: 1 }]);
  });
});
