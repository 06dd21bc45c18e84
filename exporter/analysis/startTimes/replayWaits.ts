import { innerMap } from "../../kernel/innerMap.ts";
import { type SizeClass, sizeClassOf } from "../../model/sizeClass.ts";
import { type AlikeStarts, createAlikeStarts, type Expected, ownCases, type StartSeconds } from "./alikeStarts.ts";
import type { LineWork, PastStart, StartCalibration, StartTime } from "./startTimes.ts";
import { createWaitingLine, type WaitingLine } from "./waitingLine.ts";

/** Waiting work is looked at when it has waited for half a minute, and again each time it has waited for twice as long. */
export const firstLookSeconds = 30;

/** Intervals of the last starts that count as calibration, of which so many are needed to judge, and the parts that may hold. */
const countedIntervals = 500;
const judgedIntervals = 50;
const leastHeld = 0.5;

/** From so many intervals on, what is left out at their ends is corrected, within these bounds. */
const correctedIntervals = 100;
const leastTail = 0.06;
const mostTail = 0.15;

/** An interval whose end is known; `interval` is `null` where there was none, because too little was known then. */
export interface EndedLook {
  readonly work: PastStart;
  /** When the work was looked at, seconds since the epoch. */
  readonly lookedAt: number;
  readonly interval: StartSeconds | null;
  readonly held: boolean;
  /** Whether it would have been shown: enough of the intervals before it had held. */
  readonly isShown: boolean;
}

/** What a replay is for. */
export interface ReplayOptions {
  /** Receives every interval whose end is known. */
  readonly onEnded?: (look: EndedLook) => void;
  /** The queues whose work is looked at, while that of all others is only in the line; `null`: all. */
  readonly queues?: ReadonlySet<string> | null;
}

/** What a replay of past waits found. */
export interface ReplayedWaits {
  /** When each of the waiting works will start, in their order. */
  readonly startTimes: readonly StartTime[];
  readonly calibrations: readonly StartCalibration[];
}

/** A work on its way through the replay. */
interface Entry {
  readonly work: LineWork;
  readonly started: PastStart | null;
  readonly counter: HeldCounter;
  readonly ofQueue: Place;
  readonly ofDomain: Place;
  readonly looks: OpenLook[];
}

interface Place {
  readonly line: WaitingLine;
  readonly place: number;
}

/** A look at work whose start is not known yet. */
interface OpenLook {
  readonly lookedAt: number;
  readonly expected: Expected | null;
  readonly alike: Alike;
  readonly interval: StartSeconds | null;
  readonly isShown: boolean;
}

/** The starts of its queue, and of its shape in that queue. */
interface Alike {
  readonly inQueue: AlikeStarts;
  readonly ofShape: AlikeStarts;
}

interface Event {
  readonly time: number;
  /** 0: it comes, 1: it starts, from 2 on: looks. Those of one moment happen in this order. */
  readonly order: number;
  readonly entry: Entry;
}

/**
 * Plays the waits that are known again, moment after moment: at each look the line is as it was then, and an interval rests only
 * on starts before it. So every interval of the past can be held against the start that followed (`onEnded`), and the last look
 * at each waiting work is its answer. Pure; the order of the lists does not matter where times differ.
 */
export function replayWaits(
  started: readonly PastStart[],
  waiting: readonly LineWork[],
  now: number,
  { onEnded = () => undefined, queues = null }: ReplayOptions = {},
): ReplayedWaits {
  const counters = createCounters();
  const entries = entriesOf(started, waiting, counters);
  const alikeOf = createAlikeTable();
  for (const { order, time, entry } of eventsOf(entries, now, queues)) {
    const { work, ofQueue, ofDomain } = entry;
    if (order === 0) {
      for (const { line, place } of [ofQueue, ofDomain]) line.enter(place, work.gpus, time);
    } else if (order === 1) {
      const counts = time - work.since > firstLookSeconds;
      for (const { line, place } of [ofQueue, ofDomain]) line.leave(place, work.gpus, time, counts);
      endLooks(entry, onEnded);
    } else {
      entry.looks.push(lookAt(entry, time, alikeOf(work, order - 2)));
    }
  }
  return {
    startTimes: entries.slice(started.length).map((entry) => startTimeOf(entry, now)),
    calibrations: counters.all(),
  };
}

function entriesOf(started: readonly PastStart[], waiting: readonly LineWork[], counters: Counters): readonly Entry[] {
  const works = [
    ...started.map((one) => ({ work: one, started: one })),
    ...waiting.map((work) => ({ work, started: null })),
  ];
  const order = [...works.keys()].sort((a, b) => {
    const [one, other] = [works[a]?.work, works[b]?.work];
    if (one === undefined || other === undefined) return 0;
    return other.priority - one.priority || one.since - other.since || a - b;
  });
  const placeOf = (of: (work: LineWork) => string) => placesIn(order, (index) => of(works[index]?.work ?? never));
  const [queues, domains] = [placeOf(({ queue }) => queue), placeOf(({ domain }) => domain)];
  return works.flatMap(({ work, started: start }, index) => {
    const [ofQueue, ofDomain] = [queues[index], domains[index]];
    if (ofQueue === undefined || ofDomain === undefined) return [];
    const counter = counters.of(work.queue, sizeClassOf(work.gpus));
    return [{ work, started: start, counter, ofQueue, ofDomain, looks: [] }];
  });
}

const never: LineWork = { queue: "", domain: "", since: 0, gpus: 0, priority: 0 };

/** The place of each work in the line of its name; `order` is the order in which all of them are served. */
function placesIn(order: readonly number[], nameOf: (index: number) => string): readonly Place[] {
  const groups = Map.groupBy(order, nameOf);
  const places: Place[] = [];
  for (const group of groups.values()) {
    const line = createWaitingLine(group.length);
    for (const [place, index] of group.entries()) places[index] = { line, place };
  }
  return places;
}

function eventsOf(entries: readonly Entry[], now: number, queues: ReadonlySet<string> | null): readonly Event[] {
  const events: Event[] = [];
  for (const entry of entries) {
    const { work, started } = entry;
    const end = started?.startedAt ?? Infinity;
    events.push({ time: work.since, order: 0, entry });
    let order = 2;
    const last = queues === null || queues.has(work.queue) ? now : Number.NEGATIVE_INFINITY;
    for (let age = firstLookSeconds; work.since + age < end && work.since + age <= last; age *= 2) {
      events.push({ time: work.since + age, order, entry });
      order += 1;
    }
    if (started !== null) events.push({ time: end, order: 1, entry });
  }
  return events.sort((a, b) => a.time - b.time || a.order - b.order);
}

function lookAt({ counter, ofQueue, ofDomain }: Entry, at: number, alike: Alike): OpenLook {
  const own = ofQueue.line.expectedSeconds(ofQueue.place, at);
  const all = ofDomain.line.expectedSeconds(ofDomain.place, at);
  const expected = own === null || all === null ? null : ([own, all] as const);
  const { inQueue, ofShape } = alike;
  const interval =
    expected === null ? null : (ofShape.cases() < ownCases ? inQueue : ofShape).interval(expected, counter.tail());
  return { lookedAt: at, expected, alike, interval, isShown: interval !== null && counter.isTrusted() };
}

function endLooks({ started, counter, looks }: Entry, onEnded: (look: EndedLook) => void): void {
  if (started === null) return;
  for (const { lookedAt, expected, alike, interval, isShown } of looks) {
    const seconds = started.startedAt - lookedAt;
    if (expected !== null) for (const one of [alike.inQueue, alike.ofShape]) one.add(lookedAt, expected, seconds);
    const held = interval !== null && seconds >= interval.from && seconds <= interval.to;
    if (interval !== null) counter.add(held);
    onEnded({ work: started, lookedAt, interval, held, isShown });
  }
}

function startTimeOf({ counter, looks }: Entry, now: number): StartTime {
  const last = looks.at(-1);
  if (last === undefined) return { unknownBecause: "just-came" };
  const { interval, lookedAt } = last;
  if (interval === null || counter.calibration().intervals === 0) return { unknownBecause: "short-history" };
  if (!counter.isTrusted()) return { unknownBecause: "not-calibrated" };
  const [from, half, to] = [lookedAt + interval.from, lookedAt + interval.half, lookedAt + interval.to];
  return to < now ? { unknownBecause: "overdue" } : { from, half, to, lookedAt, calibration: counter.calibration() };
}

/** The starts that are alike at each look, which are numbered by how long the work has waited. */
function createAlikeTable(): (work: LineWork, look: number) => Alike {
  const tables = new Map<string, Map<SizeClass | null, AlikeStarts[]>>();
  const alike = (queue: string, shape: SizeClass | null, look: number): AlikeStarts => {
    const ofQueue = innerMap(tables, queue);
    const looks = ofQueue.get(shape) ?? [];
    ofQueue.set(shape, looks);
    const known = looks[look] ?? createAlikeStarts();
    looks[look] = known;
    return known;
  };
  return ({ queue, gpus }, look) => ({
    inQueue: alike(queue, null, look),
    ofShape: alike(queue, sizeClassOf(gpus), look),
  });
}

/** Counts which of the latest intervals of one queue and size class have held. */
interface HeldCounter {
  add(held: boolean): void;
  /**
   * The part that is left out at each end of an interval. A tenth, and more where more than 80 % of the latest intervals have
   * held, less where fewer have: a weak form of adaptive conformal inference (Gibbs and Candès, NeurIPS 2021).
   */
  tail(): number;
  /** Whether enough have held; true while there are too few to judge. */
  isTrusted(): boolean;
  calibration(): StartCalibration;
}

interface Counters {
  of(queue: string, sizeClass: SizeClass): HeldCounter;
  all(): readonly StartCalibration[];
}

function createCounters(): Counters {
  const counters = new Map<string, Map<SizeClass, HeldCounter>>();
  return {
    of(queue, sizeClass) {
      const ofQueue = innerMap(counters, queue);
      const counter = ofQueue.get(sizeClass) ?? createHeldCounter(queue, sizeClass);
      ofQueue.set(sizeClass, counter);
      return counter;
    },
    all: () =>
      [...counters.values()]
        .flatMap((ofQueue) => [...ofQueue.values()].map((counter) => counter.calibration()))
        .filter(({ intervals }) => intervals > 0),
  };
}

function createHeldCounter(queue: string, sizeClass: SizeClass): HeldCounter {
  const latest = new Uint8Array(countedIntervals);
  let [all, held] = [0, 0];
  const intervals = (): number => Math.min(all, countedIntervals);
  return {
    add(isHeld) {
      const slot = all % countedIntervals;
      if (all >= countedIntervals) held -= latest[slot] ?? 0;
      latest[slot] = isHeld ? 1 : 0;
      held += isHeld ? 1 : 0;
      all += 1;
    },
    tail() {
      if (intervals() < correctedIntervals) return 0.1;
      return Math.min(mostTail, Math.max(leastTail, 0.1 + (held / intervals() - 0.8) / 3));
    },
    isTrusted: () => intervals() < judgedIntervals || held >= leastHeld * intervals(),
    calibration: () => ({ queue, sizeClass, intervals: intervals(), held }),
  };
}
