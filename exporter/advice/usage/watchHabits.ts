import type { Device, Holding, PodView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import { workloadName } from "../momentIndex.ts";
import { longTurnsOf, turnsOf } from "../turns.ts";
import { eachHolding } from "./eachHolding.ts";
import {
  forgottenSeconds,
  type Habit,
  habitKey,
  type IdleSpell,
  mostHabits,
  newHabit,
  shortestSpellSeconds,
  spellsOfCluster,
  withSpell,
} from "./habit.ts";
import { knownBefore, nextTurns, type PresentTurns, type WorkTurns } from "./workTurns.ts";

/** The present state of one workload, as far as it is watched. */
export interface WatchedWork {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** Since when everything that it holds has been idle, seconds since the epoch; `null` while it works. */
  readonly idleSince: number | null;
}

/** What is known about the habits of a cluster's work. */
export interface Habits {
  /** When it was last watched, seconds since the epoch; `null`: never. */
  readonly at: number | null;
  /** Since when there has been no gap in the watch, seconds since the epoch; `null` before it began. */
  readonly since: number | null;
  /** The habits by `habitKey`. */
  readonly known: ReadonlyMap<string, Habit>;
  /** The work in the order of the workloads of the last moment. */
  readonly work: readonly (WatchedWork | undefined)[];
  /** For each of them, the index of a device on which it worked when it was last looked at; -1: none. */
  readonly worksOn?: Int32Array;
  /** When each of them is looked at again. */
  readonly turns?: WorkTurns;
  /** The last spells of all work, oldest first. */
  readonly cluster: readonly IdleSpell[];
  /** Keys of habits that have changed since they were last written. */
  readonly changed: ReadonlySet<string>;
}

/** The habits before anything is known. */
export const nothingKnown: Habits = {
  at: null,
  since: null,
  known: new Map(),
  work: [],
  cluster: [],
  changed: new Set(),
};

const secondsPerDay = 86_400;

/** What the devices of a workload show at a moment. */
const unseen = 0;
const idle = 1;
const working = 2;
const unknown = 3;

/**
 * The habits after one more moment. Work is idle while every signal of everything that it holds is idle, and it works as soon
 * as one is not; signals that are not observed, or only estimated, show neither. Idle time from before the watch is taken from
 * what the join remembers of its devices. After a `longestGap` without a look it is unknown how a spell ended, so the spell is
 * forgotten. In large clusters work that works is looked at in turn (`turnsOf`), and work that shows neither less often
 * (`longTurnsOf`): a spell that begins and ends between two looks is not seen. Idle work is looked at in each moment.
 */
export function watchHabits(before: Habits, snapshot: Snapshot, longestGap: number): Habits {
  const { at, workloads, nodes } = snapshot;
  // While pods are not read, it is not known to whom devices belong, and which work is gone.
  if (!snapshot.coverage.objects) return before;
  const hasGap = before.at === null || at < before.at || at - before.at > longestGap;
  const last = hasGap ? [] : before.work;
  const turns = nextTurns(hasGap ? undefined : before.turns, snapshot);
  const { state, since, worksOn } = observe(snapshot, turns, before.worksOn);
  const changes = createChanges(before, at);
  const [soon, late] = [turnsOf(nodes.length), longTurnsOf(nodes.length)];
  const work = knownBefore(last, turns);
  for (const place of turns.looked) {
    const workload = workloads[place];
    if (workload === undefined) continue;
    const now = watched(workload, work[place], state[place] ?? unseen, since[place] ?? at, changes, at);
    work[place] = now;
    turns.again(place, now === undefined ? late : now.idleSince === null ? soon : 1);
  }
  endGone(last, turns, (one, idleSince) =>
    changes.end(one.key, { seconds: (before.at ?? at) - idleSince, returned: false }),
  );
  return { at, since: hasGap ? at : (before.since ?? at), work, worksOn, turns: turns.kept, ...changes.result() };
}

/** Ends the idle time of work that is gone. */
function endGone(
  last: readonly (WatchedWork | undefined)[],
  { before, kept, areSame }: PresentTurns,
  end: (one: WatchedWork, idleSince: number) => void,
): void {
  if (areSame) return;
  const isThere = new Uint8Array(last.length);
  for (const place of before) if (place >= 0) isThere[place] = 1;
  const gone = last.filter((one, place) => one?.idleSince != null && isThere[place] !== 1);
  if (gone.length === 0) return;
  const names = new Set(kept.order.map(workloadName));
  for (const one of gone)
    if (one !== undefined && one.idleSince !== null && !names.has(workloadName(one))) end(one, one.idleSince);
}

/** What one moment shows about all workloads, in their order. */
interface Observed {
  readonly state: Uint8Array;
  /** Since when the last of the idle devices of the workload has been idle, seconds since the epoch. */
  readonly since: Float64Array;
  /** Index of a device on which it works; -1: none. */
  readonly worksOn: Int32Array;
}

/**
 * Looks at the workloads whose turn it is. `last`: where each of them worked at the last moment: one that still works there
 * needs no other look.
 */
function observe(snapshot: Snapshot, turns: PresentTurns, last: Int32Array = new Int32Array()): Observed {
  const { devices, pods, workloads, at } = snapshot;
  const observed: Observed = {
    state: new Uint8Array(workloads.length),
    since: new Float64Array(workloads.length),
    worksOn: turns.areSame && last.length > 0 ? last.slice() : turns.before.map((old) => last[old] ?? -1),
  };
  const others = turns.looked.filter((place) => {
    const isThere = worksAt(devices[observed.worksOn[place] ?? -1], place, pods);
    if (isThere) observed.state[place] = working;
    else observed.worksOn[place] = -1;
    return !isThere;
  });
  eachHolding(snapshot, others, (index, device, holding, pod) => {
    addHolding(observed, device, holding, pod, at);
    if (isWorking(device, holding)) observed.worksOn[pod.workload] = index;
  });
  return observed;
}

/** Whether a workload (index) works on a device. */
function worksAt(device: Device | undefined, workload: number, pods: readonly PodView[]): boolean {
  if (device === undefined || device.idleNow !== false) return false;
  for (const { estimated, pod } of device.holders) if (!estimated && pods[pod]?.workload === workload) return true;
  return false;
}

const isWorking = ({ idleNow }: Device, { estimated }: Holding): boolean => !estimated && idleNow === false;

function addHolding(
  { state, since }: Observed,
  { idleNow }: Device,
  { estimated, idleSince }: Holding,
  { workload, boundAt, createdAt }: PodView,
  at: number,
): void {
  const now = estimated || idleNow === null ? unknown : idleNow ? idle : working;
  const known = state[workload] ?? unseen;
  // One GPU that works is enough to show work. One GPU that is not observed makes the others inconclusive.
  if (now === working || (known !== working && now > known)) state[workload] = now;
  const begin = Math.max(idleSince ?? at, Math.min(boundAt ?? createdAt ?? 0, at));
  if (begin > (since[workload] ?? 0)) since[workload] = begin;
}

function watched(
  workload: WorkloadView,
  known: WatchedWork | undefined,
  state: number,
  since: number,
  changes: Changes,
  at: number,
): WatchedWork | undefined {
  if (state === unseen || state === unknown) return known;
  const { kind, namespace, name } = workload;
  const key = known?.key ?? habitKey(workload);
  if (state === working) {
    if (known?.idleSince != null) changes.end(key, { seconds: at - known.idleSince, returned: true });
    changes.seen(key, true);
    return known?.idleSince === null ? known : { kind, namespace, name, key, idleSince: null };
  }
  changes.seen(key, false);
  if (known?.idleSince != null) return known;
  return { kind, namespace, name, key, idleSince: since };
}

/** The changes of habits in one moment; maps are copied only when something changes. */
interface Changes {
  seen(key: string, isWorking: boolean): void;
  end(key: string, spell: IdleSpell): void;
  result(): Pick<Habits, "known" | "cluster" | "changed">;
}

function createChanges(before: Habits, at: number): Changes {
  const changedNow = new Map<string, Habit>();
  const ended: IdleSpell[] = [];
  const now = (key: string): Habit => changedNow.get(key) ?? before.known.get(key) ?? newHabit(at);
  return {
    seen(key, isWorking) {
      const habit = changedNow.get(key) ?? before.known.get(key);
      if (habit !== undefined && (habit.hasWorked || !isWorking) && at - habit.seenAt < secondsPerDay) return;
      const base = habit ?? newHabit(at);
      changedNow.set(key, { ...base, seenAt: at, hasWorked: base.hasWorked || isWorking });
    },
    end(key, spell) {
      if (spell.seconds < shortestSpellSeconds) return;
      changedNow.set(key, withSpell(now(key), spell));
      ended.push(spell);
    },
    result() {
      if (changedNow.size === 0) return { known: before.known, cluster: before.cluster, changed: before.changed };
      const all = new Map([...before.known, ...changedNow]);
      const changed = new Set([...before.changed, ...changedNow.keys()]);
      for (const key of forgotten(all, at)) {
        all.delete(key);
        changed.add(key);
      }
      const cluster = ended.length === 0 ? before.cluster : [...before.cluster, ...ended].slice(-spellsOfCluster);
      return { known: all, changed, cluster };
    },
  };
}

/**
 * Keys of habits to forget: of work that has not been seen for too long; and if there are too many habits, of work that has not
 * been seen for longest.
 */
function forgotten(all: ReadonlyMap<string, Habit>, at: number): readonly string[] {
  const old = [...all].filter(([, { seenAt }]) => at - seenAt > forgottenSeconds).map(([key]) => key);
  const tooMany = all.size - old.length - mostHabits;
  if (tooMany <= 0) return old;
  const gone = new Set(old);
  const rest = [...all].filter(([key]) => !gone.has(key)).sort(([, a], [, b]) => a.seenAt - b.seenAt);
  return [...old, ...rest.slice(0, tooMany).map(([key]) => key)];
}
