import type { FilledCluster } from "./fill.ts";
import { milliOf } from "./openbTrace.ts";
import { copyPacking, fits, type Packing, put, type Task, takeOff } from "./packing.ts";
import type { Policy } from "./policies.ts";

/** What moving tasks came to. */
export interface Tally {
  /** Tasks that were evicted. */
  moves: number;
  /** Evicted tasks that found no other place and wait since then. */
  displaced: number;
  /** GPU-hours of work that is done again: since the start for best-effort work, a restart of ten minutes for all. */
  doneAgainGpuHours: number;
}

/** A full cluster in which tasks can be moved, with the scheduler that filled it. */
export interface LiveCluster {
  readonly packing: Packing;
  readonly tasks: ReadonlyMap<number, Task>;
  /** Who waits, the longest first. */
  readonly waiting: Task[];
  readonly tally: Tally;
  /** When a task last got or lost its place, seconds since the epoch; absent: before the replay began. */
  readonly since: ReadonlyMap<number, number>;
  setCordon(node: number, isCordoned: boolean): void;
  /**
   * Evicts a task as the Eviction API and a ReplicaSet do: the new pod is placed while the old one still has its GPUs, else it
   * waits behind all others.
   */
  evict(id: number, at: number): void;
  /** Takes tasks off first and places them again afterwards, as the paper's own descheduler does. */
  replaceAll(ids: readonly number[], at: number): void;
  /** Lets those that wait try the nodes on which something changed, in their order. */
  serveWaiting(at: number): void;
}

/** Hours that a restart takes for all GPUs of a task. */
const restartHours = 10 / 60;

/** Makes a copy of a filled cluster that can be changed. */
export function liveCluster(filled: FilledCluster, all: readonly Task[], policy: Policy): LiveCluster {
  const packing = copyPacking(filled.packing);
  const tasks = new Map(all.map((task) => [task.id, task] as const));
  const waiting = [...filled.waiting];
  const tally: Tally = { moves: 0, displaced: 0, doneAgainGpuHours: 0 };
  const changed = new Set<number>();
  const since = new Map<number, number>();

  function leave(task: Task, at: number): void {
    changed.add(packing.places.get(task.id)?.node ?? -1);
    takeOff(packing, task);
    tally.moves += 1;
    tally.doneAgainGpuHours += undoneGpuHours(task);
    since.set(task.id, at);
  }

  function queue(task: Task): void {
    waiting.push(task);
    tally.displaced += 1;
  }

  return {
    packing,
    tasks,
    waiting,
    tally,
    since,
    setCordon(node, isCordoned) {
      const found = packing.nodes[node];
      if (found === undefined) return;
      found.isCordoned = isCordoned;
      changed.add(node);
    },
    evict(id, at) {
      const task = tasks.get(id);
      if (task === undefined || !packing.places.has(id)) return;
      const place = policy(packing, task);
      leave(task, at);
      if (place === null) queue(task);
      else put(packing, task, place);
    },
    replaceAll(ids, at) {
      const evicted = ids.flatMap((id) => tasks.get(id) ?? []);
      for (const task of evicted) leave(task, at);
      for (const task of evicted) {
        const place = policy(packing, task);
        if (place === null) queue(task);
        else put(packing, task, place);
      }
    },
    serveWaiting(at) {
      const open = [...changed].flatMap((node) => packing.nodes[node] ?? []).filter(({ isCordoned }) => !isCordoned);
      changed.clear();
      const left = waiting.filter((task) => {
        const place = open.some((node) => fits(node, task)) ? policy(packing, task) : null;
        if (place !== null) {
          put(packing, task, place);
          since.set(task.id, at);
        }
        return place === null;
      });
      waiting.splice(0, waiting.length, ...left);
    },
  };
}

/** GPU-hours that a task must repeat if it is stopped now. Serving work (`LS`) has nothing to repeat. */
export const undoneGpuHours = (task: Task): number =>
  (milliOf(task) / 1000) * (restartHours + (task.qos === "LS" ? 0 : task.ageSeconds / 3600));
