import type { WorkloadView } from "../join/snapshot.ts";
import type { WorkloadKey } from "./posting.ts";
import { type Progress, progressRowKey } from "./rememberedProgress.ts";

/** A workload of the account. */
export interface Tracked {
  readonly progress: Progress;
  /** The key of its row in the ledger's table `remembered`. */
  readonly rowKey: string;
  team: string;
  /** The units that it reports at the present moment; `null` if it does not exist or reports nothing. */
  reported: number | null;
  /** The units that it reported last; `null` if nothing since then counts. */
  units: number | null;
  /** Whether some of its GPUs had no price in the last step. */
  isUnpriced: boolean;
  /** Whether its row in the ledger is out of date. */
  isChanged: boolean;
}

/** A bounded number of workloads by name. */
export interface ProgressTable {
  size(): number;
  all(): Iterable<Tracked>;
  find(workload: WorkloadKey): Tracked | undefined;
  /** Adds what an earlier process knew; returns the row keys of workloads that are too old, or for which there is no place. */
  fill(known: readonly Progress[], now: number): readonly string[];
  /**
   * Updates the table for the workloads that report their progress at a moment: it takes in their reports and new workloads.
   * Returns the rows that are dropped.
   */
  see(reporting: readonly WorkloadView[], now: number): Seen;
}

interface Seen {
  readonly dropped: readonly string[];
  /** Workloads for which there was no place. */
  readonly leftOut: number;
}

/** Seconds after which a workload that has gone is forgotten; until then it may come back, as after an eviction. */
const keptSeconds = 86_400;

/** Creates an empty table. */
export function createProgressTable(most: number): ProgressTable {
  /** The workloads by namespace, name and kind. */
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

  /** The workload that has been gone for longest; `null` if all are there. */
  function longestGone(): Tracked | null {
    let oldest: Tracked | null = null;
    for (const one of tracked) {
      if (one.reported === null && (oldest === null || one.progress.seenAt < oldest.progress.seenAt)) oldest = one;
    }
    return oldest;
  }

  /** Forgets the workloads that have been gone for too long; returns their row keys. */
  function forgetOld(now: number): string[] {
    const dropped: string[] = [];
    for (const one of tracked) {
      if (now - one.progress.seenAt <= keptSeconds) continue;
      remove(one);
      dropped.push(one.rowKey);
    }
    return dropped;
  }

  /** Takes in the reports of workloads that have a place; returns the workloads that have none. */
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

  /**
   * Gives a workload a place. Returns the key of the row that it replaces, the empty text if it replaces none, or `null` if
   * there is no place for it.
   */
  function takeIn(view: WorkloadView, now: number): string | null {
    const known = find(view);
    if (known !== undefined && known.reported !== null) {
      // If two workloads of the same name exist at once, the one that was there first stays.
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

/**
 * The text that identifies a workload. Lengths separate the names, because these are untrusted and could contain any separator.
 */
function nameOf({ namespace, name, kind }: WorkloadKey): string {
  return `${namespace.length} ${name.length} ${namespace} ${name} ${kind}`;
}
