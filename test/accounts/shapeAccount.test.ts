import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import {
  createShapeAccount,
  type EndedOnDay,
  endedBetween,
  type ShapeAccount,
} from "../../exporter/accounts/shapeAccount.ts";
import { shapeIn, shapeText } from "../../exporter/accounts/shapeText.ts";
import type { PodView, Snapshot } from "../../exporter/join/snapshot.ts";
import type { EndedShape } from "../../exporter/model/podShape.ts";
import type { PodNeeds } from "../../exporter/model/queues/podNeeds.ts";
import { moment, podView } from "../analysis/momentBuilder.ts";
import { now } from "../join/clusterBuilder.ts";
import { analysed } from "../join/outcomes.ts";

const day = 86_400;
const today = Math.floor(now / day);

function needs(cpu: number): PodNeeds {
  return { requests: { cpu, "nvidia.com/gpu": 1 }, nodeSelector: {}, nodeAffinity: [], tolerations: [] };
}

const small = needs(4);
const large = needs(32);
const pod = (uid: string, parts: Partial<PodView> = {}) => podView({ uid, name: uid, needs: small, ...parts });

/** Looks at moments with these pods, 30 s after each other; what ended in the last step. */
function look(account: ShapeAccount, moments: readonly (readonly PodView[])[], from = now): readonly EndedShape[] {
  let last: readonly EndedShape[] = [];
  for (const [i, pods] of moments.entries()) last = see(account, moment({ pods }), from + 30 * i);
  return last;
}

function see(account: ShapeAccount, snapshot: Snapshot, at: number, isCovered = true): readonly EndedShape[] {
  const step = account.prepare(snapshot, at, isCovered);
  step.commit();
  return step.endedPods;
}

describe("a pod has ended", () => {
  test("when it is not there any more, with what it asked for", () => {
    const account = createShapeAccount(null);
    expect(account.ended()).toBeNull();
    const ended = look(account, [[pod("a"), pod("b", { gpus: 8, needs: large }), pod("c")], [pod("c")]]);
    expect(ended).toEqual([
      { gpus: 1, needs: small, pods: 1 },
      { gpus: 8, needs: large, pods: 1 },
    ]);
    expect(account.ended()).toEqual(ended);
  });

  test.each([
    ["waits again", { status: "pending", node: null } as const],
    ["is named by telemetry alone", { uid: null, needs: null } as const],
  ])("when it %s", (_what, parts) => {
    expect(look(createShapeAccount(null), [[pod("a")], [pod("a", parts)]])).toEqual([
      { gpus: 1, needs: small, pods: 1 },
    ]);
  });

  test("though another one of its name has come", () => {
    expect(look(createShapeAccount(null), [[pod("a", { name: "w-0" })], [pod("b", { name: "w-0" })]])).toHaveLength(1);
  });
});

describe("no pod has ended", () => {
  test.each<[string, readonly PodView[], readonly PodView[]]>([
    ["that is there", [pod("a")], [pod("a")]],
    ["whose view is new", [pod("a", { starting: true }), pod("b")], [pod("b", { workload: 4 }), pod("a")]],
    ["that had not begun", [pod("a", { status: "pending", node: null })], []],
    ["whose requests nothing says", [pod("a", { needs: null })], []],
    ["whose GPUs are unknown", [pod("a", { gpus: null })], []],
    ["that telemetry alone had named", [pod("a", { uid: null, needs: null })], []],
  ])("%s", (_what, before, after) => {
    expect(look(createShapeAccount(null), [before, after])).toEqual([]);
  });

  test("while the objects are not known; the first moment that knows them counts", () => {
    const account = createShapeAccount(null);
    const unknown = moment({ pods: [], coverage: { objects: false, telemetry: true, uncountedNodes: [] } });
    see(account, moment({ pods: [pod("a"), pod("b")] }), now);
    expect(see(account, unknown, now + 30)).toEqual([]);
    expect(see(account, moment({ pods: [pod("b")] }), now + 60)).toEqual([{ gpus: 1, needs: small, pods: 1 }]);
    expect(account.ended()).toEqual([{ gpus: 1, needs: small, pods: 1 }]);
  });

  test("in a step that was worked out and thrown away; the next one has it", () => {
    const account = createShapeAccount(null);
    see(account, moment({ pods: [pod("a")] }), now);
    expect(account.prepare(moment({ pods: [] }), now + 30, true).endedPods).toHaveLength(1);
    expect(account.ended()).toEqual([]);
    expect(see(account, moment({ pods: [] }), now + 60)).toHaveLength(1);
  });
});

test("ended pods are those of the earlier list that the later one does not hold, in any order of lists", () => {
  const anyPods = fc.uniqueArray(
    fc.record({
      uid: fc.integer({ min: 0, max: 300 }).map((n) => `u${n}`),
      status: fc.constantFrom("allocated", "allocated", "allocated", "pending"),
      gpus: fc.constantFrom(1, 1, 8, null),
      needs: fc.constantFrom(small, small, large, null),
    }),
    { maxLength: 250, selector: ({ uid }) => uid },
  );
  fc.assert(
    fc.property(anyPods, anyPods, fc.boolean(), (first, second, isSorted) => {
      const order = (a: { uid: string }, b: { uid: string }) => (a.uid < b.uid ? -1 : 1);
      const before = (isSorted ? first.toSorted(order) : first).map((parts) => pod(parts.uid, parts));
      const kept = new Map(before.map((view) => [JSON.stringify(view), view] as const));
      const after = (isSorted ? second.toSorted(order) : second)
        .map((parts) => pod(parts.uid, parts))
        .map((view) => kept.get(JSON.stringify(view)) ?? view);
      const allocated = new Set(
        after.filter((p) => p.status === "allocated" && p.needs !== null).map(({ uid }) => uid),
      );
      const expected = before.filter(
        (p) => p.status === "allocated" && p.needs !== null && p.gpus !== null && !allocated.has(p.uid),
      );
      const found = endedBetween(before, after).map(({ uid }) => uid);
      expect(found.toSorted()).toEqual(expected.map(({ uid }) => uid).toSorted());
    }),
    { numRuns: 400, seed: 20_261_201 },
  );
});

describe("the account", () => {
  /** One pod of a shape runs for a cycle and ends. */
  function runOnce(account: ShapeAccount, at: number, shape: PodNeeds): void {
    look(account, [[pod(`u${at}`, { needs: shape })], []], at);
  }

  test("counts equal shapes as one, whatever the order of their keys and whichever object says it", () => {
    const account = createShapeAccount(null);
    const turned: PodNeeds = { ...small, requests: { "nvidia.com/gpu": 1, cpu: 4 } };
    look(account, [[pod("a"), pod("b", { needs: turned }), pod("c", { needs: needs(4) })], []]);
    expect(account.ended()).toEqual([{ gpus: 1, needs: small, pods: 3 }]);
  });

  test("says the same list until a pod ends or a day begins", () => {
    const account = createShapeAccount(null);
    runOnce(account, now, small);
    const list = account.ended();
    look(account, [[pod("x")], [pod("x")]], now + 60);
    expect(account.ended()).toBe(list);
    runOnce(account, now + 120, small);
    expect(account.ended()).toEqual([{ gpus: 1, needs: small, pods: 3 }]);
  });

  test("keeps a pod for the seven days after the one on which it ended", () => {
    const account = createShapeAccount(null);
    const morning = today * day + 60;
    runOnce(account, morning, small);
    runOnce(account, morning + 3 * day, large);
    look(account, [[]], morning + 7 * day);
    expect(account.ended()?.map(({ pods }) => pods)).toEqual([1, 1]);
    look(account, [[]], morning + 8 * day);
    expect(account.ended()).toEqual([{ gpus: 1, needs: large, pods: 1 }]);
  });

  test("does not forget because a clock was wrong for a moment", () => {
    const account = createShapeAccount(null);
    runOnce(account, now, small);
    see(account, moment({ pods: [] }), now + 400 * day, false);
    look(account, [[]], now + 60);
    expect(account.ended()).toEqual([{ gpus: 1, needs: small, pods: 1 }]);
  });

  test("goes on with what a ledger remembers, without the days that are past", () => {
    const remembered: readonly EndedOnDay[] = [
      { day: today, gpus: 1, needs: small, pods: 5 },
      { day: today - 7, gpus: 1, needs: needs(4), pods: 2 },
      { day: today - 8, gpus: 1, needs: large, pods: 9 },
    ];
    const account = createShapeAccount(remembered);
    expect(account.ended()).toHaveLength(2);
    look(account, [[pod("a")], []]);
    expect(account.ended()).toEqual([{ gpus: 1, needs: small, pods: 8 }]);
  });

  test("drops the rarest of thousands of shapes, and is never larger than its bound", () => {
    const account = createShapeAccount(null);
    runOnce(account, now, small);
    runOnce(account, now + 60, small);
    const crowd = Array.from({ length: 10_000 }, (_, i) => pod(`p${i}`, { needs: needs(100 + i) }));
    look(account, [crowd, []], now + 120);
    expect(account.ended()?.length).toBeLessThanOrEqual(3000);
    expect(account.ended()).toContainEqual({ gpus: 1, needs: small, pods: 2 });
  });

  test("leaves out a shape that is absurdly long", () => {
    const long: PodNeeds = { ...small, nodeSelector: { key: "x".repeat(100_000) } };
    expect(look(createShapeAccount(null), [[pod("a", { needs: long }), pod("b")], []])).toEqual([
      { gpus: 1, needs: small, pods: 1 },
    ]);
  });
});

describe("the accounting of a process", () => {
  const limits = { teams: 1000, series: 50_000 };
  const at = (...pods: readonly PodView[]) => analysed(moment({ pods }));

  test("says which pods ended in each step, in a gap as well", () => {
    const accounts = createAccounting({ intervalSeconds: 30, limits });
    expect(accounts.endedShapes()).toBeNull();
    expect(accounts.account(at(pod("a"), pod("b")), { wall: now, monotonic: 0 })).toBeNull();
    expect(accounts.endedShapes()).toEqual([]);
    const step = accounts.account(at(pod("b")), { wall: now + 30, monotonic: 30 });
    expect(step).toMatchObject({ interval: { gap: null }, endedPods: [{ gpus: 1, pods: 1 }] });
    const gap = accounts.account(at(), { wall: now + 3600, monotonic: 3600 });
    expect(gap).toMatchObject({ interval: { gap: "too-long" }, endedPods: [{ gpus: 1, pods: 1 }] });
    expect(accounts.endedShapes()).toEqual([{ gpus: 1, needs: small, pods: 2 }]);
  });

  test("goes on with a ledger's shapes", () => {
    const endedShapes = [{ day: today, gpus: 1, needs: small, pods: 5 }];
    const accounts = createAccounting({ intervalSeconds: 30, limits, endedShapes });
    expect(accounts.endedShapes()).toEqual([{ gpus: 1, needs: small, pods: 5 }]);
  });
});

describe("the text of a shape", () => {
  const anyText = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "cpu"));
  const anyNeeds = fc.record({
    requests: fc.dictionary(anyText, fc.nat()),
    nodeSelector: fc.dictionary(anyText, anyText),
    nodeAffinity: fc.array(
      fc.array(fc.record({ key: anyText, operator: anyText, values: fc.array(anyText, { maxLength: 3 }) })),
      { maxLength: 3 },
    ),
    tolerations: fc.array(
      fc.record({
        key: anyText,
        operator: fc.constantFrom("Exists" as const, "Equal" as const),
        value: anyText,
        effect: fc.option(anyText),
      }),
      { maxLength: 4 },
    ),
  });

  test("says all of it", () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 0.25, 1 / 7, 8), anyNeeds, (gpus, anyOf) => {
        const text = shapeText({ gpus, needs: anyOf });
        fc.pre(text !== null);
        const found = shapeIn(text);
        expect(found?.gpus).toBe(gpus);
        expect(new Map(Object.entries(found?.needs.requests ?? {}))).toEqual(new Map(Object.entries(anyOf.requests)));
        expect(new Map(Object.entries(found?.needs.nodeSelector ?? {}))).toEqual(
          new Map(Object.entries(anyOf.nodeSelector)),
        );
        expect(found?.needs.nodeAffinity).toEqual(anyOf.nodeAffinity);
        expect(found?.needs.tolerations).toEqual(anyOf.tolerations);
        expect(shapeText(found ?? { gpus: -1, needs: small })).toBe(text);
      }),
      { numRuns: 300, seed: 20_261_202 },
    );
  });

  test.each(["", "{", "[]", "null", "[1]", "[1,[[],[],[]]]", "[-1,[[],[],[],[]]]", '[1,[[["cpu","4"]],[],[],[]]]'])(
    "is not %j",
    (text) => {
      expect(shapeIn(text)).toBeNull();
    },
  );
});
