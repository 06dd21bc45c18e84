import type { PodView, Snapshot } from "../join/snapshot.ts";
import type { EndedShape, PodShape } from "../model/podShape.ts";
import type { PodNeeds } from "../model/queues/podNeeds.ts";
import { shapeText } from "./shapeText.ts";

/** Pods of one shape that ended on one day. */
export interface EndedOnDay extends EndedShape {
  /** Days since the epoch, UTC. */
  readonly day: number;
}

/** A step that has been computed; the account does not contain it before `commit`. */
export interface PreparedShapes {
  /** Pods that ended in the step, by shape. */
  readonly endedPods: readonly EndedShape[];
  commit(): void;
}

/**
 * The pods with GPUs that ended lately, by shape, so that placement is judged for what the cluster usually runs. The account is
 * bounded: at most `maxShapes` shapes are kept, and the rarest are dropped first; shapes of an extreme length (shapeText.ts)
 * are not kept.
 */
export interface ShapeAccount {
  /** Looks at the next moment, which ends a step at `now` (seconds since the epoch). */
  prepare(snapshot: Snapshot, now: number, isCovered: boolean): PreparedShapes;
  /**
   * Pods that ended in the last seven days and the current one, by shape; the same list until something changes. `null` if this
   * is not known.
   */
  ended(): readonly EndedShape[] | null;
}

const keptDays = 7;
const secondsPerDay = 86_400;
const maxShapes = 3000;
/** The number of shapes that are dropped at once, so that the next pod does not cause it again. */
const shapesForgottenAtOnce = 500;

interface KnownShape {
  readonly shape: PodShape;
  readonly podsByDay: Map<number, number>;
}

/** Creates an account. `remembered` holds the rows of the ledger; `null` if there is none. */
export function createShapeAccount(remembered: readonly EndedOnDay[] | null): ShapeAccount {
  const known = new Map<string, KnownShape>();
  let pods: readonly PodView[] | null = null;
  let today: number | null = null;
  let isKnown = remembered !== null;
  let list: readonly EndedShape[] | null = null;

  function add(shape: PodShape, count: number, day: number): void {
    const text = shapeText(shape);
    if (text === null) return;
    const entry = known.get(text) ?? { shape: { gpus: shape.gpus, needs: shape.needs }, podsByDay: new Map() };
    entry.podsByDay.set(day, (entry.podsByDay.get(day) ?? 0) + count);
    known.set(text, entry);
  }

  function dropRarest(): void {
    if (known.size <= maxShapes) return;
    const rarest = [...known].map(([text, entry]) => ({ text, pods: podsOf(entry) })).sort((a, b) => a.pods - b.pods);
    for (const { text } of rarest.slice(0, known.size - maxShapes + shapesForgottenAtOnce)) known.delete(text);
  }

  /** Forgets days that are too old. Days after tomorrow are forgotten, too: they were written before the clock was set back. */
  function forget(now: number): void {
    for (const [text, { podsByDay }] of known) {
      for (const day of podsByDay.keys()) if (day < now - keptDays || day > now + 1) podsByDay.delete(day);
      if (podsByDay.size === 0) known.delete(text);
    }
  }

  for (const { day, pods: count, ...shape } of remembered ?? []) add(shape, count, day);
  dropRarest();

  return {
    prepare(snapshot, now, isCovered) {
      // Without objects, no pod is known to have ended: the pods of the last moment with objects are compared with the
      // next such moment.
      if (!snapshot.coverage.objects) return nothingEnded;
      const endedPods = pods === null ? [] : byShape(endedBetween(pods, snapshot.pods));
      return {
        endedPods,
        commit() {
          const day = Math.floor(now / secondsPerDay);
          pods = snapshot.pods;
          // A clock that is wrong for a moment must not make the account forget; the first moment decides what day it is.
          const isNewDay = day !== today && (isCovered || today === null);
          if (isKnown && endedPods.length === 0 && !isNewDay) return;
          isKnown = true;
          for (const shape of endedPods) add(shape, shape.pods, day);
          if (isNewDay) {
            forget(day);
            today = day;
          }
          dropRarest();
          list = null;
        },
      };
    },
    ended() {
      if (!isKnown) return null;
      list ??= [...known.values()].map((entry) => ({ ...entry.shape, pods: podsOf(entry) }));
      return list;
    },
  };
}

/** A pod whose end counts: it had GPUs, and its object shows how many and on which nodes it may run. */
type CountedPod = PodView & { readonly uid: string } & Pick<EndedShape, "gpus" | "needs">;

/**
 * A pod is searched for at its own place and at this many places after it, because moments list their pods in the same order.
 */
const reach = 64;

/** After this many pods in a row that were not found, the lists are too different to search beyond a pod's own place. */
const patience = 16;

/**
 * Pods that allocated GPUs at an earlier moment and hold none at a later one; the objects must be known at both. Pods are
 * compared by uid: a later pod of the same name is another one.
 */
export function endedBetween(earlier: readonly PodView[], later: readonly PodView[]): readonly CountedPod[] {
  if (earlier === later) return [];
  const missed: CountedPod[] = [];
  /** Ranges of later pods that are at no earlier pod's place: start and end of each range, one after the other. */
  const strangers: number[] = [];
  let at = 0;
  let failures = 0;

  /** Searches for the pod at its place and soon after it. A pod that is not found there, or no longer holds GPUs, is missed. */
  function take(pod: CountedPod): void {
    const found = placeOf(pod.uid, later, at, failures < patience ? reach : 1);
    failures = found < 0 ? failures + 1 : 0;
    if (found < 0 || !isAllocated(later[found])) missed.push(pod);
    if (found < 0) return;
    if (found > at) strangers.push(at, found);
    at = found + 1;
  }

  /** Whether another pod has its place, and the next pod is where it was: no further search is needed then. */
  const isReplaced = ({ uid }: CountedPod, index: number): boolean => {
    const next = earlier[index + 1]?.uid ?? null;
    return later[at]?.uid !== uid && next !== null && next === later[at + 1]?.uid;
  };

  for (let i = 0; i < earlier.length; i++) {
    const pod = earlier[i];
    if (pod === undefined) continue;
    if (pod === later[at]) at += 1;
    else if (!isCounted(pod)) continue;
    else if (isReplaced(pod, i)) {
      missed.push(pod);
      strangers.push(at, at + 1);
      at += 1;
    } else take(pod);
  }
  if (missed.length === 0) return missed;
  strangers.push(at, later.length);
  const allocated = allocatedIn(later, strangers);
  return missed.filter((pod) => !allocated.has(pod.uid));
}

function isCounted(pod: PodView): pod is CountedPod {
  return pod.uid !== null && isAllocated(pod) && pod.gpus !== null && pod.gpus > 0;
}

/** Whether the pod exists and holds GPUs. A pod that only telemetry names is no longer an object. */
function isAllocated(pod: PodView | undefined): boolean {
  return pod !== undefined && pod.status === "allocated" && pod.needs !== null;
}

function placeOf(uid: string, pods: readonly PodView[], from: number, count: number): number {
  const to = Math.min(pods.length, from + count);
  for (let i = from; i < to; i++) if (pods[i]?.uid === uid) return i;
  return -1;
}

function allocatedIn(pods: readonly PodView[], ranges: readonly number[]): ReadonlySet<string> {
  const allocated = new Set<string>();
  for (let range = 0; range < ranges.length; range += 2) {
    const to = ranges[range + 1] ?? 0;
    for (let i = ranges[range] ?? 0; i < to; i++) {
      const pod = pods[i];
      if (pod?.uid != null && isAllocated(pod)) allocated.add(pod.uid);
    }
  }
  return allocated;
}

const nothingEnded: PreparedShapes = { endedPods: [], commit: () => {} };

function podsOf({ podsByDay }: KnownShape): number {
  let pods = 0;
  for (const count of podsByDay.values()) pods += count;
  return pods;
}

/** The pods by shape. Pods that ask for the same mostly share one object, so that few texts are compared. */
function byShape(ended: readonly PodShape[]): readonly EndedShape[] {
  const byNeeds = new Map<PodNeeds, Map<number, number>>();
  for (const { gpus, needs } of ended) {
    const counts = byNeeds.get(needs) ?? new Map<number, number>();
    counts.set(gpus, (counts.get(gpus) ?? 0) + 1);
    byNeeds.set(needs, counts);
  }
  const shapes = new Map<string, EndedShape>();
  for (const [needs, counts] of byNeeds) {
    for (const [gpus, pods] of counts) {
      const text = shapeText({ gpus, needs });
      if (text !== null) shapes.set(text, { gpus, needs, pods: pods + (shapes.get(text)?.pods ?? 0) });
    }
  }
  return [...shapes.values()];
}
