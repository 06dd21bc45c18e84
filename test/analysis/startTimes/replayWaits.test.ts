import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EndedLook, firstLookSeconds, replayWaits } from "../../../exporter/analysis/startTimes/replayWaits.ts";
import type { LineWork, PastStart } from "../../../exporter/analysis/startTimes/startTimes.ts";
import { createRandomStream } from "../../../simulator/random.ts";

const hour = 3600;

/** Work of one queue that came at `since` and waited for so many seconds. */
const started = (since: number, waited: number, parts: Partial<PastStart> = {}): PastStart => ({
  queue: "train",
  domain: "H100",
  since,
  startedAt: since + waited,
  gpus: 1,
  priority: 0,
  ...parts,
});

const waiting = (since: number, parts: Partial<LineWork> = {}): LineWork => ({
  queue: "train",
  domain: "H100",
  since,
  gpus: 1,
  priority: 0,
  ...parts,
});

/** One start an hour, each of which waited for 10 to 30 minutes. */
const regular = (hours: number): PastStart[] =>
  Array.from({ length: hours }, (_, i) => started(i * hour, 600 + ((i * 7) % 20) * 60));

const startTimeOf = (past: readonly PastStart[], work: LineWork, now: number) =>
  replayWaits(past, [work], now).startTimes[0];

describe("when waiting work will start", () => {
  it("is p10, p50 and p90 of work like it, counted from the last look", () => {
    const now = 200 * hour + 60;
    const time = startTimeOf(regular(200), waiting(200 * hour), now);
    if (time === undefined || "unknownBecause" in time) throw new Error(`${time?.unknownBecause}`);
    expect(time.lookedAt).toBe(now);
    const [from, half, to] = [time.from, time.half, time.to].map((at) => (at - 200 * hour) / 60);
    expect(from).toBeGreaterThan(9);
    expect(half).toBeGreaterThan(16);
    expect(half).toBeLessThan(24);
    expect(to).toBeLessThan(31);
    expect(time.calibration.held / time.calibration.intervals).toBeGreaterThan(0.7);
  });

  it("is later for work that is behind more in the line", () => {
    const line = [0, 1, 2, 3].map((i) => waiting(200 * hour + i));
    const times = replayWaits(regular(200), line, 200 * hour + 40).startTimes;
    const halves = times.map((time) => ("unknownBecause" in time ? Number.NaN : time.half));
    expect(halves).toEqual(halves.toSorted((a, b) => a - b));
    expect(new Set(halves).size).toBe(4);
  });

  it("does not count for the past what happened later", () => {
    const work = fc.record({
      since: fc.integer({ min: 0, max: 100 * hour }),
      waited: fc.integer({ min: 1, max: 10 * hour }),
      gpus: fc.constantFrom(1, 2, 8),
      queue: fc.constantFrom("train", "serve"),
      priority: fc.constantFrom(0, 1),
    });
    fc.assert(
      fc.property(fc.array(work, { maxLength: 200 }), fc.integer({ min: 1, max: 100 * hour }), (works, cut) => {
        const all = works.map(({ since, waited, ...rest }, i) => started(since + i / 1000, waited, rest));
        const before = all.filter(({ startedAt }) => startedAt <= cut);
        const notYet = all.filter(({ startedAt, since }) => startedAt > cut && since <= cut);
        const looksUntil = (past: readonly PastStart[], line: readonly LineWork[]): readonly EndedLook[] => {
          const looks: EndedLook[] = [];
          replayWaits(past, line, cut, { onEnded: (look) => looks.push(look) });
          return looks.filter(({ work: { startedAt } }) => startedAt <= cut);
        };
        expect(looksUntil(before, notYet)).toEqual(looksUntil(all, []));
      }),
      { numRuns: 50 },
    );
  });

  it("holds 80 % of the starts of a queue whose work comes and runs at random, of those that it has not seen", () => {
    let [intervals, held] = [0, 0];
    for (const seed of [1, 2, 3, 4]) {
      const past = singleServer(seed, 2000);
      const half = past[1000]?.since ?? 0;
      const onEnded = (look: EndedLook): void => {
        if (look.lookedAt < half || look.interval === null) return;
        if (look.lookedAt - look.work.since > firstLookSeconds + 1) return;
        intervals += 1;
        held += look.held ? 1 : 0;
      };
      replayWaits(past, [], Infinity, { onEnded });
    }
    expect(intervals).toBeGreaterThan(1500);
    expect(held / intervals).toBeGreaterThan(0.75);
    expect(held / intervals).toBeLessThan(0.85);
  });
});

describe("when it will start is unknown", () => {
  const unknown = (past: readonly PastStart[], work: LineWork, now: number) => {
    const time = startTimeOf(past, work, now);
    return time !== undefined && "unknownBecause" in time ? time.unknownBecause : null;
  };

  it("for work that has just come", () => {
    expect(unknown(regular(200), waiting(200 * hour), 200 * hour + firstLookSeconds - 1)).toBe("just-came");
    expect(unknown(regular(200), waiting(200 * hour), 200 * hour + firstLookSeconds)).toBeNull();
  });

  it("without a history, after few starts, and in a queue that others' starts do not speak for", () => {
    expect(unknown([], waiting(0), 60)).toBe("short-history");
    expect(unknown(regular(19), waiting(20 * hour), 20 * hour + 60)).toBe("short-history");
    expect(unknown(regular(200), waiting(200 * hour, { queue: "new" }), 200 * hour + 60)).toBe("short-history");
  });

  it("after an array of a thousand jobs, which is one case and not a thousand", () => {
    const array = Array.from({ length: 1000 }, (_, i) => started(i / 10, 600 + 30 * i));
    expect(unknown(array, waiting(20 * hour), 20 * hour + 60)).toBe("short-history");
  });

  it("for work that waits longer than nine of ten like it", () => {
    const past = regular(200).map((one, i) => (i % 2 === 0 ? one : started(one.since, 9000 + (i % 10))));
    expect(unknown(past, waiting(200 * hour), 200 * hour + 4 * hour - 60)).toBe("overdue");
  });

  it("where fewer than half of the last intervals have held", () => {
    // Each wait is twenty times as long as the one before, or as short again: nothing of the past says anything.
    const past = Array.from({ length: 400 }, (_, i) =>
      started(i * 50 * hour, i < 60 ? 100 : 40 * hour * (1 + i / 400)),
    );
    const { calibrations } = replayWaits(past.slice(0, 140), [], Infinity);
    const [one] = calibrations;
    if (one === undefined) throw new Error("no interval was counted");
    expect(one.held / one.intervals).toBeLessThan(0.5);
    expect(unknown(past.slice(0, 140), waiting(140 * 50 * hour), 140 * 50 * hour + 60)).toBe("not-calibrated");
  });
});

/** Work of one GPU that comes at random to a queue with one GPU, and runs for about an hour. */
function singleServer(seed: number, jobs: number): readonly PastStart[] {
  const random = createRandomStream(seed);
  const exponential = (mean: number): number => -mean * Math.log(1 - random.next());
  let [since, free] = [0, 0];
  return Array.from({ length: jobs }, () => {
    since += exponential(1.25 * hour);
    const startedAt = Math.max(since, free);
    free = startedAt + exponential(hour);
    return started(since, startedAt - since);
  });
}
