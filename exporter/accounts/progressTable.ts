import type { WorkloadView } from "../join/snapshot.ts";
import type { WorkloadKey } from "./posting.ts";
import { type Progress, progressRowKey } from "./rememberedProgress.ts";

/** A workload of the account. */
export interface Tracked {
  readonly progress: Progress;
  /** In the ledger's `remembered`. */
  readonly rowKey: string;
  team: string;
  /** What it reports at the present moment; `null` if it does not exist or reports nothing. */
  reported: number | null;
  /** What it reported last; `null` if nothing since then counts. */
  units: number | null;
  /** Some of its GPUs had no price in the last step. */
  isUnpriced: boolean;
  /** The ledger does not have its row as it is. */
  isChanged: boolean;
}

/** A bounded number of workloads by name. */
export interface ProgressTable {
  size(): number;
  all(): Iterable<Tracked>;
  find(workload: WorkloadKey): Tracked | undefined;
  /** Takes over what an earlier process knew; returns the row keys of what is too old, or too much. */
  fill(known: readonly Progress[], now: number): readonly string[];
  /** The workloads that report their progress at a moment: their reports, new workloads, and which rows are dropped. */
  see(reporting: readonly WorkloadView[], now: number): Seen;
}

interface Seen {
  readonly dropped: readonly string[];
  /** Workloads for which there was no place. */
  readonly leftOut: number;
}

/** A workload that has gone is forgotten after a day: one that was evicted may come back. */
const keptSeconds = 86_400;

/** Creates an empty table. */
export function createProgressTable(most: number): ProgressTable {
  /** By namespace, name and kind. */
  const byName = new Map<string, Tracked>();
  const tracked = new Set<Tracked>();

  const find = (workload: WorkloadKey): Tracked | undefined => byName.get(nameOf(workload));

  function add(progress: Progress, rowKey: string, team: string): Tracked {
    const added = { progress, rowKey, team, reported: null, units: null, isUnpriced: false, isChanged: true };
    byName.set(nameOf(progress.key), added);
    tracked.add(added);
    return added;
  }

  function remove(gone: Tracked): void {
    byName.delete(nameOf(gone.progress.key));
    tracked.delete(gone);
  }

  /** `null`: all are there. */
  function longestGone(): Tracked | null {
    let oldest: Tracked | null = null;
    for (const one of tracked) {
      if (one.reported === null && (oldest === null || one.progress.seenAt < oldest.progress.seenAt)) oldest = one;
    }
    return oldest;
  }

  /** Returns the row keys of what has been gone for too long. */
  function forgetOld(now: number): string[] {
    const dropped: string[] = [];
    for (const one of tracked) {
      if (now - one.progress.seenAt <= keptSeconds) continue;
      remove(one);
      dropped.push(one.rowKey);
    }
    return dropped;
  }

  /** Workloads that still report keep their place; returns those that have none. */
  function reportKnown(reporting: readonly WorkloadView[], now: number): readonly WorkloadView[] {
    const others: WorkloadView[] = [];
    for (const view of reporting) {
      const known = find(view);
      if (known === undefined || known.progress.key.uid !== uidOf(view)) {
        others.push(view);
        continue;
      }
      // Pods of one workload may count for different teams.
      if (known.reported === null) known.team = view.team;
      known.reported = Math.max(known.reported ?? 0, view.progressUnits ?? 0);
      known.progress.seenAt = now;
      known.isChanged = true;
    }
    return others;
  }

  /** Returns the key of the row that it replaces, if any; `null`: there is no place for it. */
  function takeIn(view: WorkloadView, now: number): string | null {
    const known = find(view);
    if (known !== undefined && known.reported !== null) {
      // Two of the same name at once: the one that was there first stays.
      if (known.progress.key.uid === uidOf(view)) known.reported = Math.max(known.reported, view.progressUnits ?? 0);
      return "";
    }
    const { kind, namespace, name, progressUnits } = view;
    const key = { kind, namespace, name, uid: uidOf(view) };
    const rowKey = progressRowKey(key);
    if (rowKey === null) return null;
    const gone = known ?? (tracked.size < most ? undefined : longestGone());
    if (gone === null) return null;
    if (gone !== undefined) remove(gone);
    add({ key, costs: new Map(), madeUnits: 0, seenAt: now }, rowKey, view.team).reported = progressUnits;
    return gone?.rowKey ?? "";
  }

  return {
    size: () => tracked.size,
    all: () => tracked,
    find,
    fill(known, now) {
      const dropped: string[] = [];
      for (const progress of [...known].sort((a, b) => b.seenAt - a.seenAt)) {
        const rowKey = progressRowKey(progress.key);
        if (rowKey === null) continue;
        const isTooMuch = tracked.size >= most || find(progress.key) !== undefined;
        if (isTooMuch || now - progress.seenAt > keptSeconds) dropped.push(rowKey);
        else add(progress, rowKey, "").isChanged = false;
      }
      return dropped;
    },
    see(reporting, now) {
      for (const one of tracked) one.reported = null;
      const others = reportKnown(reporting, now);
      const dropped = forgetOld(now);
      let leftOut = 0;
      let absent = 0;
      for (const { reported } of tracked) if (reported === null) absent += 1;
      for (const view of others) {
        const isFull = absent === 0 && tracked.size >= most && find(view) === undefined;
        const taken = isFull ? null : takeIn(view, now);
        if (taken === null) leftOut += 1;
        else if (taken !== "") {
          absent -= 1;
          dropped.push(taken);
        }
      }
      return { dropped, leftOut };
    },
  };
}

function uidOf({ ownerUids }: WorkloadView): string {
  return ownerUids.at(-1) ?? "";
}

/** Lengths separate the names: these are untrusted, and could contain any separator. */
function nameOf({ namespace, name, kind }: WorkloadKey): string {
  return `${namespace.length} ${name.length} ${namespace} ${name} ${kind}`;
}
