import { describe, expect, it } from "vitest";
import { findStartTimes } from "../../../exporter/analysis/startTimes/findStartTimes.ts";
import type { PastStart } from "../../../exporter/analysis/startTimes/startTimes.ts";
import { noQueueing, type QueueView, type WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { gangView, queueView, quotaDomain } from "../../queues/queueView.ts";

const hour = 3600;
const at = 300 * hour;

const inQueue = (queue: number | null, domain = 0) => ({
  queue,
  domain,
  pods: 1,
  createdPods: 0,
  gpusPerPod: 1,
  needs: { requests: {}, nodeSelector: {}, nodeAffinity: [], tolerations: [] },
});

/** A gang that has waited for ten minutes in the first queue. */
const gang = (parts: Partial<WaitingGang> = {}): WaitingGang =>
  gangView({ since: at - 600, parts: [inQueue(0)], ...parts });

const views: readonly QueueView[] = [
  queueView({ name: "train" }),
  queueView({ name: "serve" }),
  queueView({ name: "train", domain: 1 }),
];

const moment = (gangs: readonly WaitingGang[]) => ({
  at,
  queueing: {
    ...noQueueing,
    domains: [quotaDomain(), quotaDomain({ name: "A100", pools: ["A100"] })],
    queues: views,
    gangs,
  },
});

/** One start an hour in a queue, each after waiting for 20 to 80 minutes. */
const past = (queue = "train", domain = "H100", gpus = 1): readonly PastStart[] =>
  Array.from({ length: 250 }, (_, i) => {
    const since = i * hour;
    return { queue, domain, since, startedAt: since + 1200 + ((i * 7) % 60) * 60, gpus, priority: 0 };
  });

const reasonOf = (work: WaitingGang, history: readonly PastStart[] = past()) => {
  const time = findStartTimes(moment([work]), history, [0]).get(0);
  return time !== undefined && "unknownBecause" in time ? time.unknownBecause : null;
};

describe("when gangs of a moment will start", () => {
  it("is known for a gang whose queue has a history in its domain", () => {
    const time = findStartTimes(moment([gang()]), past(), [0]).get(0);
    if (time === undefined || "unknownBecause" in time) throw new Error("it is unknown");
    expect(time.from).toBeLessThan(time.half);
    expect(time.half).toBeLessThan(time.to);
    expect(time.to).toBeGreaterThan(at);
    expect(time.calibration).toMatchObject({ queue: "train", sizeClass: "1" });
  });

  it("is unknown, with its reason, where it cannot be known", () => {
    expect(reasonOf(gang({ never: "paused" }))).toBe("cannot-start");
    expect(reasonOf(gang({ since: null }))).toBe("no-line");
    expect(reasonOf(gang({ parts: [inQueue(null)] }))).toBe("no-line");
    expect(reasonOf(gang({ parts: [] }))).toBe("no-line");
    expect(reasonOf(gang({ gpus: null }))).toBe("no-size");
    expect(reasonOf(gang({ since: at - 10 }))).toBe("just-came");
    expect(reasonOf(gang(), [])).toBe("short-history");
    expect(reasonOf(gang({ parts: [inQueue(1)] }))).toBe("short-history");
  });

  it("does not rest on the queue of the same name in another domain", () => {
    expect(reasonOf(gang(), past("train", "A100"))).toBe("short-history");
    expect(reasonOf(gang({ parts: [inQueue(2, 1)] }), past("train", "A100"))).toBeNull();
  });

  it("is later the more waits before it, also of gangs that nobody asks about; paused ones are in no line", () => {
    const halfOf = (others: readonly WaitingGang[]): number => {
      const time = findStartTimes(moment([gang(), ...others]), past(), [0]).get(0);
      return time === undefined || "unknownBecause" in time ? Number.NaN : time.half;
    };
    const alone = halfOf([]);
    const before = gang({ uid: "before", since: at - 700, gpus: 4 });
    expect(halfOf([before])).toBeGreaterThan(alone);
    expect(halfOf([{ ...before, since: at - 500 }])).toBe(alone);
    expect(halfOf([{ ...before, since: at - 500, priority: 10 }])).toBeGreaterThan(alone);
    expect(halfOf([{ ...before, never: "paused" }])).toBe(alone);
  });

  it("answers exactly what is asked", () => {
    const gangs = [gang(), gang({ never: "paused" }), gang({ uid: "third", since: at - 900 })];
    expect([...findStartTimes(moment(gangs), past(), [2, 1]).keys()].sort()).toEqual([1, 2]);
    expect(findStartTimes(moment(gangs), past(), []).size).toBe(0);
    const both = findStartTimes(moment(gangs), past(), [0, 2]);
    expect(both.get(0)).toEqual(findStartTimes(moment(gangs), past(), [0]).get(0));
  });
});
