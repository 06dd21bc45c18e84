import { describe, expect, test } from "vitest";
import { createAdviceLifecycle } from "../../../exporter/advice/lifecycle/adviceLifecycle.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { gangView } from "../../queues/queueView.ts";
import { cycle, interval, offer, settings } from "./offers.ts";

const boosted = offer(
  {},
  {
    signs: [{ kind: "priority-changed", work: "uid-small", from: 10, ahead: "uid-head" }],
    measuredBy: { kind: "work-started", work: ["Job/ads/small"] },
    disrupted: [],
  },
);
const head = gangView({ uid: "uid-head", priority: 10 });
const small = gangView({ uid: "uid-small", priority: 10 });

/** A moment in which these wait, and the small one holds its GPUs or not. */
function moment(number: number, gangs: readonly WaitingGang[], isAllocated = false): Analysis {
  const base = cycle(number, isAllocated ? ["small"] : []);
  const { snapshot } = base;
  const workloads = snapshot.workloads.map((one) => ({ ...one, ownerUids: ["uid-small"] }));
  return { ...base, snapshot: { ...snapshot, workloads, queueing: { ...snapshot.queueing, gangs } } };
}

/** What becomes of the advice when this is seen after three cycles. */
function stateAfter(gangs: readonly WaitingGang[], isAllocated = false) {
  const lifecycle = createAdviceLifecycle(settings, interval, []);
  for (const number of [0, 1, 2]) lifecycle.advance([boosted], moment(number, [head, small]));
  const again = createAdviceLifecycle(settings, interval, lifecycle.takeChanges());
  const [seen] = again.advance([], moment(3, gangs, isAllocated)).recommendations;
  return { state: seen?.state, because: seen?.closedBecause, gained: seen?.measured?.gainedGpus };
}

describe("a boost of priority is seen", () => {
  test("in the priority of what still waits", () => {
    const seen = stateAfter([head, { ...small, priority: 11 }]);
    expect(seen).toMatchObject({ state: "taken", because: expect.stringContaining("its priority was boosted") });
  });

  test("where it was admitted before the head, boost or no boost by then", () => {
    expect(stateAfter([head, { ...small, reservedAt: 1 }]).state).toBe("taken");
    expect(stateAfter([head], true)).toMatchObject({ state: "taken", gained: 8 });
  });

  test.each([
    ["it waits as before", [head, small], false],
    ["it has gone", [head], false],
    ["the head was served first", [small], false],
    ["both were admitted, in their order perhaps", [{ ...head, reservedAt: 1 }], true],
    ["its priority is lower", [head, { ...small, priority: 9 }], false],
  ])("not where %s", (_what, gangs, isAllocated) => {
    expect(stateAfter(gangs, isAllocated).state).not.toBe("taken");
  });
});
