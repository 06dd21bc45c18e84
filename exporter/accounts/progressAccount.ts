import type { Snapshot, WorkloadView } from "../join/snapshot.ts";
import type { Problem } from "../model/problem.ts";
import type { MomentClock } from "./accounting.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import type { AccruedTime, Posting } from "./posting.ts";
import { createProgressTable, type Tracked } from "./progressTable.ts";
import { mostCurrencies, progressIn, progressKind, progressRow } from "./rememberedProgress.ts";

/** The cost of a workload that reports its progress, in one currency, and how much it made in that time. */
export interface ProgressCost extends Pick<WorkloadView, "team" | "kind" | "namespace" | "name"> {
  readonly currency: string;
  readonly cost: number;
  /** Units of progress, above 0. */
  readonly madeUnits: number;
}

/** A moment that has been computed; the account does not contain it before `commit`. */
export interface PreparedProgress {
  commit(): void;
}

/**
 * Cost and progress of the workloads that report their progress, since they were first seen. Both grow together: time that is
 * not covered, or in which any of the workload's GPUs has no price, counts for neither.
 */
export interface ProgressAccount {
  /** Prepares the moment with which a step ends, at `now` (seconds since the epoch); `step` is `null` for the first moment. */
  prepare(snapshot: Snapshot, step: Pick<AccruedTime, "interval" | "postings"> | null, now: number): PreparedProgress;
  /** The changes that must be remembered now; the list is empty unless a minute has passed since the last changes. */
  changes(now: MomentClock): readonly RememberedChange[];
  /** The workloads that exist, report their progress and have made any; the most expensive one comes first. */
  costs(): readonly ProgressCost[];
  problems(): readonly Problem[];
}

/** Seconds between two writes. A crash loses cost and progress of at most this time. */
const writeSeconds = 60;

/** The cost of one workload in a step, by currency. */
interface StepCost {
  readonly costs: Map<string, number>;
  isUnpriced: boolean;
}

/**
 * Creates an account of at most `most` workloads. `remembered` holds the rows of the ledger; `null` if there is no ledger to
 * write to.
 */
export function createProgressAccount(remembered: readonly Remembered[] | null, most = 1000): ProgressAccount {
  const table = createProgressTable(most);
  const dropped = new Set<string>();
  let hasBegun = false;
  let leftOut = 0;
  let writtenAt = Number.NEGATIVE_INFINITY;

  function begin(now: number): void {
    hasBegun = true;
    const { known, unreadable } = progressIn(remembered ?? []);
    for (const key of [...unreadable, ...table.fill(known, now)]) dropped.add(key);
  }

  function costsOf(postings: readonly Posting[]): ReadonlyMap<Tracked, StepCost> {
    const sums = new Map<Tracked, StepCost>();
    if (table.size() === 0) return sums;
    let lastWorkload: Posting["workload"] = null;
    let last: Tracked | undefined;
    for (const { workload, account, cost } of postings) {
      if (workload === null) continue;
      if (workload !== lastWorkload) {
        lastWorkload = workload;
        last = table.find(workload);
      }
      if (last === undefined) continue;
      const sum = sums.get(last) ?? { costs: new Map<string, number>(), isUnpriced: false };
      sums.set(last, sum);
      addCost(sum, account.currency, cost);
    }
    return sums;
  }

  /**
   * The workloads that report progress: those that are in the account, and as many others as it could hold. `rest` is the
   * number of those left out.
   */
  function reportingIn({ workloads }: Snapshot): { reporting: readonly WorkloadView[]; rest: number } {
    const reporting: WorkloadView[] = [];
    let others = 0;
    for (let i = 0; i < workloads.length; i++) {
      const workload = workloads[i];
      if (workload === undefined || workload.progressUnits === null) continue;
      if (table.find(workload) === undefined) {
        others += 1;
        if (others > most) continue;
      }
      reporting.push(workload);
    }
    return { reporting, rest: Math.max(0, others - most) };
  }

  return {
    prepare(snapshot, step, now) {
      if (!hasBegun) begin(now);
      const isCovered = step !== null && step.interval.gap === null;
      const sums = costsOf(isCovered ? step.postings : []);
      const { reporting, rest } = reportingIn(snapshot);
      return {
        commit() {
          const reported = table.see(reporting, now);
          for (const tracked of table.all()) {
            const sum = sums.get(tracked);
            if (isCovered) tracked.isUnpriced = sum !== undefined && isPartlyUnpriced(tracked, sum);
            account(tracked, isCovered && !tracked.isUnpriced ? (sum?.costs ?? noCosts) : null);
          }
          leftOut = reported.leftOut + rest;
          for (const key of reported.dropped) dropped.add(key);
        },
      };
    },
    changes({ monotonic }) {
      if (remembered === null || monotonic - writtenAt < writeSeconds) return [];
      writtenAt = monotonic;
      const changes: RememberedChange[] = [];
      for (const tracked of table.all()) {
        dropped.delete(tracked.rowKey);
        if (tracked.isChanged) changes.push(progressRow(tracked.rowKey, tracked.progress));
        tracked.isChanged = false;
      }
      for (const key of dropped) changes.push({ kind: progressKind, key, value: null });
      dropped.clear();
      return changes;
    },
    costs() {
      const found: ProgressCost[] = [];
      for (const { progress, team, reported, isUnpriced } of table.all()) {
        const { key, costs, madeUnits } = progress;
        if (reported === null || isUnpriced || !(madeUnits > 0)) continue;
        const { kind, namespace, name } = key;
        for (const [currency, cost] of costs) found.push({ team, kind, namespace, name, currency, cost, madeUnits });
      }
      return found.sort((a, b) => b.cost - a.cost);
    },
    problems: () => leftOutProblem(leftOut, most),
  };
}

function addCost(sum: StepCost, currency: string | null, cost: number | null): void {
  if (currency === null || cost === null) sum.isUnpriced = true;
  else sum.costs.set(currency, (sum.costs.get(currency) ?? 0) + cost);
}

const noCosts: ReadonlyMap<string, number> = new Map();

/** Whether some of its cost is unknown. The cost of a workload in more currencies than are kept cannot be shown. */
function isPartlyUnpriced({ progress }: Tracked, { costs, isUnpriced }: StepCost): boolean {
  return isUnpriced || new Set([...progress.costs.keys(), ...costs.keys()]).size > mostCurrencies;
}

/**
 * Adds the cost and the progress of a step. If `costs` is `null`, this time does not count, and progress then starts from the
 * next report.
 */
function account(tracked: Tracked, costs: ReadonlyMap<string, number> | null): void {
  const { progress, reported, units } = tracked;
  if (costs === null) {
    tracked.units = reported;
    return;
  }
  for (const [currency, cost] of costs) progress.costs.set(currency, (progress.costs.get(currency) ?? 0) + cost);
  if (costs.size > 0) tracked.isChanged = true;
  if (reported === null) return;
  // Lost work is subtracted again, but none of the work that was made before the workload was first seen.
  if (units !== null) progress.madeUnits = Math.max(0, progress.madeUnits + reported - units);
  tracked.units = reported;
}

function leftOutProblem(leftOut: number, most: number): readonly Problem[] {
  if (leftOut === 0) return [];
  return [
    {
      source: "accounts",
      code: "progress-left-out",
      severity: "info",
      subject: "fairlead_workload_cost_per_progress_unit",
      message: `${leftOut} workloads say their progress and have no cost per unit: it is kept of ${most} workloads at most.`,
      nextStep: "Remove the annotation fairlead.dev/progress-units from workloads that need no cost per unit.",
    },
  ];
}
