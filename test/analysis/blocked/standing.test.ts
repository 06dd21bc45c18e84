import { describe, expect, it } from "vitest";
import { memoryFromLedger, rememberedChanges } from "../../../exporter/accounts/rememberedMemory.ts";
import type { Blocked } from "../../../exporter/analysis/blocked/blocked.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import { now } from "../../join/clusterBuilder.ts";
import { part, type TestNode, waitingGang, waitingMoment } from "../waiting/waitingBuilder.ts";
import { blockedAt } from "./blockedWork.ts";

const half: TestNode = { allocated: [1, 1, 0, 0] };
const gang = { ...waitingGang([part(1, 4)]), kind: "Job", namespace: "research", name: "train", uid: "u" };
const key = "Job/research/train u";

/** A moment `seconds` later, with the work that waits and the nodes of that moment. */
const later = (seconds: number, since: ReadonlyMap<string, number>, nodes = [half, half]): Blocked =>
  blockedAt({ ...waitingMoment(nodes, [gang]), at: now + seconds }, since);

describe("since when work is blocked", () => {
  it("is the moment in which it was first found so, and after more than five minutes it is standing", () => {
    let blocked = later(0, new Map());
    expect(blocked.work[0]).toMatchObject({ since: now, isStanding: false });
    blocked = later(300, blocked.since);
    expect(blocked.work[0]).toMatchObject({ since: now, isStanding: false });
    blocked = later(301, blocked.since);
    expect(blocked.work[0]).toMatchObject({ since: now, isStanding: true });
    expect(blocked.since).toEqual(new Map([[key, now]]));
  });

  it("begins anew after a moment in which it was not blocked", () => {
    const first = later(0, new Map());
    const between = later(400, first.since, [half, { allocated: [0, 0, 0, 0] }]);
    expect(between).toEqual({ work: [], since: new Map() });
    expect(later(800, between.since).work[0]).toMatchObject({ since: now + 800, isStanding: false });
  });

  it("stays over a restart that is not too long", () => {
    const first = later(0, new Map());
    const memory = { ...emptyMemory, blockedSince: first.since };
    const remembered = rememberedChanges({ memory: emptyMemory, at: 0 }, { memory, at: now }).flatMap(
      ({ kind, key: of, value }) => (value === null ? [] : [{ kind, key: of, value }]),
    );
    const start = { lastInterval: { from: now - 30, to: now, seconds: 30, gap: null }, remembered };
    const started = memoryFromLedger(start, now + 600, 30);
    expect(later(600, started.blockedSince).work[0]).toMatchObject({ since: now, isStanding: true });
    const late = memoryFromLedger(start, now + 7200, 30);
    expect(later(7200, late.blockedSince).work[0]).toMatchObject({ since: now + 7200, isStanding: false });
  });

  it("is never in the future", () => {
    expect(later(0, new Map([[key, now + 50]])).work[0]?.since).toBe(now);
  });

  it("is kept for each gang by itself, and no longer for what has gone", () => {
    const both = [gang, { ...gang, uid: "v" }];
    const blocked = blockedAt(
      waitingMoment([half, half], both),
      new Map([
        ["gone", 1],
        [key, now - 9],
      ]),
    );
    expect(blocked.since).toEqual(
      new Map([
        [key, now - 9],
        ["Job/research/train v", now],
      ]),
    );
  });
});
