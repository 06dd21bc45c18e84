import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GangView } from "../../../exporter/join/gangView.ts";
import type { ServerMemory } from "../../../exporter/join/serving/serverMemory.ts";
import { servingViews } from "../../../exporter/join/serving/servingViews.ts";
import type { PodView } from "../../../exporter/join/snapshot.ts";
import type { ServingPage } from "../../../exporter/model/serving.ts";
import { podView } from "../../analysis/momentBuilder.ts";

const page = (pod: string, receivedAt: number, changes: Partial<ServingPage> = {}): ServingPage => ({
  pod,
  receivedAt,
  servers: ["vllm"],
  running: 0,
  waiting: 0,
  isEmpty: true,
  finished: 5,
  promptTokens: 100,
  generatedTokens: 200,
  isAsleep: false,
  ...changes,
});

const pod = (uid: string, changes: Partial<PodView> = {}): PodView => podView({ uid, name: uid, ...changes });
const gang = (id: string): GangView => ({ id, min: 2, bound: 2, partialSince: null });

/** What is found when these pages come one after the other. */
function shownBy(
  pods: readonly PodView[],
  rounds: readonly (readonly ServingPage[])[],
  start = new Map<string, ServerMemory>(),
) {
  let memory: ReadonlyMap<string, ServerMemory> = start;
  let found = servingViews({ pages: [], pods, knowsPods: true, memory });
  for (const pages of rounds) {
    found = servingViews({ pages, pods, knowsPods: true, memory });
    memory = found.servers;
  }
  return found;
}

const since = (rounds: readonly (readonly ServingPage[])[], pods = [pod("a")], index = 0) =>
  shownBy(pods, rounds).views.get(index)?.noRequestsSince;

describe("since when no request came", () => {
  test("the first page with these counters and empty gauges", () => {
    expect(since([[page("a", 100)], [page("a", 130)], [page("a", 160)]])).toBe(100);
  });

  test.each([
    ["a request has ended", { finished: 6 }],
    ["tokens were read", { promptTokens: 101 }],
    ["tokens were written", { generatedTokens: 201 }],
    ["the server was restarted", { finished: 0, promptTokens: 0, generatedTokens: 0 }],
  ])("begins again when %s", (_case, changes) => {
    expect(since([[page("a", 100)], [page("a", 130, changes)]])).toBe(130);
  });

  test.each([
    ["a request runs", { running: 1, isEmpty: false }],
    ["requests run and nothing moves: the engine died with them inside", { running: 32, waiting: 66, isEmpty: false }],
    ["a gauge is missing", { waiting: null, isEmpty: null }],
    ["no counter says how many requests have ended: gauges alone prove nothing", { finished: null }],
  ])("is not known when %s", (_case, changes) => {
    expect(since([[page("a", 100, changes)], [page("a", 130, changes)]])).toBeNull();
  });

  test("begins again after a request that was inside has left without being counted", () => {
    const inside = { running: 1, isEmpty: false } as const;
    expect(since([[page("a", 100)], [page("a", 130, inside)], [page("a", 160)]])).toBe(160);
  });

  test("a page that is lost meanwhile changes nothing, because the counters say the same as before", () => {
    expect(since([[page("a", 100)], [], [], [page("a", 5000)]])).toBe(100);
    expect(since([[page("a", 100)], [], [page("a", 5000, { finished: 6 })]])).toBe(5000);
  });

  test("counters of 0 prove nothing about time in which nobody looked: the server may have been restarted", () => {
    const zero = { finished: 0, promptTokens: 0, generatedTokens: 0 } as const;
    expect(since([[page("a", 100, zero)], [page("a", 130, zero)]])).toBe(100);
    expect(since([[page("a", 100, zero)], [], [page("a", 5000, zero)]])).toBe(5000);
  });

  test("without a page nothing is said", () => {
    expect(shownBy([pod("a")], [[page("a", 100)], []]).views.get(0)).toBeUndefined();
  });
});

describe("whom a page speaks for", () => {
  test("its own pod, and no other", () => {
    const found = shownBy([pod("a"), pod("b")], [[page("a", 100)]]);
    expect([...found.views.keys()]).toEqual([0]);
  });

  const worker = (uid: string, at: number, group = "g"): PodView =>
    pod(uid, { gang: gang(group), labels: { "leaderworkerset.sigs.k8s.io/worker-index": `${at}` } });

  test("the workers of a leader, which have no page of their own: a server on two nodes", () => {
    const pods = [worker("leader", 0), worker("worker", 1), worker("other", 1, "h")];
    const found = shownBy(pods, [[page("leader", 100)]]);
    expect(found.views.get(1)).toMatchObject({ page: 0, noRequestsSince: 100, served: null });
    expect(found.views.get(2)).toBeUndefined();
  });

  test("no other pod of a gang of another kind: it may be a server whose page cannot be got", () => {
    const pods = [pod("a", { gang: gang("g") }), pod("b", { gang: gang("g") })];
    expect([...shownBy(pods, [[page("a", 100)]]).views.keys()]).toEqual([0]);
  });

  test("nobody while a pod of its gang that had a page has none: that one may have requests", () => {
    const pods = [worker("leader", 0), worker("worker", 1)];
    const found = shownBy(pods, [[page("leader", 100), page("worker", 100)], [page("leader", 130)]]);
    expect(found.views.get(0)?.noRequestsSince).toBeNull();
    expect(found.views.get(1)?.noRequestsSince).toBeNull();
  });

  test("a gang of which one page has requests has some", () => {
    const pods = [pod("a", { gang: gang("g") }), pod("b", { gang: gang("g") })];
    const busy = page("b", 130, { running: 1, isEmpty: false });
    expect(shownBy(pods, [[page("a", 100), busy]]).views.get(0)?.noRequestsSince).toBeNull();
    const quiet = page("b", 130);
    expect(shownBy(pods, [[page("a", 100), quiet]]).views.get(0)?.noRequestsSince).toBe(130);
  });

  test("a gang sleeps only if all its pages do", () => {
    const pods = [pod("a", { gang: gang("g") }), pod("b", { gang: gang("g") })];
    const asleep = page("a", 100, { isAsleep: true });
    expect(shownBy(pods, [[asleep, page("b", 100)]]).views.get(0)?.isAsleep).toBe(false);
    expect(shownBy(pods, [[asleep, page("b", 100, { isAsleep: true })]]).views.get(0)?.isAsleep).toBe(true);
  });

  test("a page of a pod that is not there, or that waits, is nobody's", () => {
    const found = shownBy([pod("a", { status: "pending", node: null })], [[page("a", 100), page("ghost", 100)]]);
    expect(found.views.size).toBe(0);
    expect(found.servers.size).toBe(0);
  });
});

describe("what is remembered", () => {
  test("nothing of pods that are gone; everything while pods are not known", () => {
    const before = shownBy([pod("a")], [[page("a", 100)]]);
    expect(shownBy([], [[]], new Map(before.servers)).servers.size).toBe(0);
    const unknown = servingViews({ pages: [], pods: [], knowsPods: false, memory: before.servers });
    expect(unknown).toEqual({ views: new Map(), servers: before.servers });
  });

  test("the same map while nothing changes, so that nothing is written", () => {
    const before = shownBy([pod("a")], [[page("a", 100)]]);
    const again = servingViews({ pages: [page("a", 130)], pods: [pod("a")], knowsPods: true, memory: before.servers });
    expect(again.servers).toBe(before.servers);
  });
});

describe("what was done since the look before", () => {
  const served = (changes: Partial<ServingPage>) =>
    shownBy([pod("a")], [[page("a", 100)], [page("a", 130, changes)]]).views.get(0)?.served;

  test("is the increase of the counters", () => {
    expect(served({ finished: 8, promptTokens: 150, generatedTokens: 700 })).toEqual({
      requests: 3,
      promptTokens: 50,
      generatedTokens: 500,
    });
  });

  test("of a server that was restarted is what it does from then on", () => {
    const restarted = { finished: 2, promptTokens: 10, generatedTokens: 20 };
    expect(served(restarted)).toEqual({ requests: 0, promptTokens: 0, generatedTokens: 0 });
    const later = { finished: 3, promptTokens: 15, generatedTokens: 27 };
    const rounds = [[page("a", 100)], [page("a", 130, restarted)], [page("a", 160, later)]];
    const done = { requests: 1, promptTokens: 5, generatedTokens: 7 };
    expect(shownBy([pod("a")], rounds).views.get(0)?.served).toEqual(done);
  });

  test("is the first increase of a counter, too, that appeared at 0 while nothing moved", () => {
    const ended = (stop: number, abort: number | null): Partial<ServingPage> => ({
      finished: stop + (abort ?? 0),
      counters: [
        { counts: "requests", key: "stop", value: stop },
        ...(abort === null ? [] : [{ counts: "requests", key: "abort", value: abort } as const]),
      ],
    });
    const rounds = [ended(5, null), ended(5, 0), ended(5, 3)].map((changes, i) => [page("a", 100 + 30 * i, changes)]);
    expect(shownBy([pod("a")], rounds).views.get(0)?.served?.requests).toBe(3);
    const still = [ended(5, null), ended(5, 0)].map((changes, i) => [page("a", 100 + 30 * i, changes)]);
    expect(shownBy([pod("a")], still).views.get(0)?.noRequestsSince).toBe(100);
  });

  test("is not known at the first look, and of what is not counted", () => {
    expect(shownBy([pod("a")], [[page("a", 100)]]).views.get(0)?.served).toBeNull();
    expect(served({ finished: 8, generatedTokens: null })).toEqual({
      requests: 3,
      promptTokens: 0,
      generatedTokens: null,
    });
  });
});

test("whatever the pages, a server is without requests only while its counters stood still and it was empty", () => {
  const round = fc.record({
    finished: fc.integer({ min: 1, max: 3 }),
    running: fc.integer({ min: 0, max: 1 }),
    isLost: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(round, { minLength: 1, maxLength: 12 }), (rounds) => {
      const pages = rounds.map(({ finished, running, isLost }, i) =>
        isLost ? [] : [page("a", i, { finished, running, isEmpty: running === 0 })],
      );
      const found = shownBy([pod("a")], pages).views.get(0);
      if (found === undefined) return;
      let expected: number | null = null;
      let last: number | null = null;
      for (const [i, { finished, running, isLost }] of rounds.entries()) {
        if (isLost) continue;
        if (running > 0) expected = null;
        else if (expected === null || last !== finished) expected = i;
        last = finished;
      }
      expect(found.noRequestsSince).toBe(expected);
    }),
  );
});
