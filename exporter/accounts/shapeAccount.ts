import type { PodView, Snapshot } from "../join/snapshot.ts";
import type { EndedShape, PodShape } from "../model/podShape.ts";
import type { PodNeeds } from "../model/queues/podNeeds.ts";
import { endedBetween } from "./endedPods.ts";
import { shapeText } from "./shapeText.ts";

/** Pods of one shape that ended on one day. */
export interface EndedOnDay extends EndedShape {
  /** Days since the epoch, UTC. */
  readonly day: number;
}

/** A step that is worked out; nothing of it is in the book before `commit`. */
export interface PreparedShapes {
  /** Pods that ended in it, by shape. */
  readonly endedPods: readonly EndedShape[];
  commit(): void;
}

/**
 * Which pods with GPUs ended lately, by shape, so that placement is judged for what the cluster usually runs. Bounded:
 * at most `maxShapes` shapes are kept, the rarest are dropped first; shapes of an extreme length (shapeText.ts) are not kept.
 */
export interface ShapeAccount {
  /** Looks at the next moment, which ends a step at `now` (seconds since the epoch). */
  prepare(snapshot: Snapshot, now: number, isCovered: boolean): PreparedShapes;
  /** By shape, of the last seven days and the one that has begun; the same list until something changes. `null`: not known. */
  ended(): readonly EndedShape[] | null;
}

const keptDays = 7;
const secondsPerDay = 86_400;
const maxShapes = 3000;
/** Dropped at once beyond that, so that it is not done again with the next pod. */
const freeCapacityMadeForShapes = 500;

interface KnownShape {
  readonly shape: PodShape;
  readonly podsByDay: Map<number, number>;
}

/** Creates a book. `remembered` is what a ledger holds; `null`: there is none. */
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
    for (const { text } of rarest.slice(0, known.size - maxShapes + freeCapacityMadeForShapes)) known.delete(text);
  }

  /** Days after tomorrow are of a clock that has been set back since. */
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
      // Without objects nothing is known to have ended: the pods of the last moment with them are compared with the next.
      if (!snapshot.coverage.objects) return nothingEnded;
      const endedPods = pods === null ? [] : byShape(endedBetween(pods, snapshot.pods));
      return {
        endedPods,
        commit() {
          const day = Math.floor(now / secondsPerDay);
          pods = snapshot.pods;
          // A clock that is wrong for a moment must not make the book forget; the first moment says what day it is.
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

const nothingEnded: PreparedShapes = { endedPods: [], commit: () => {} };

function podsOf({ podsByDay }: KnownShape): number {
  let pods = 0;
  for (const count of podsByDay.values()) pods += count;
  return pods;
}

/** Pods that ask alike mostly share one object, so that few texts are compared. */
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
