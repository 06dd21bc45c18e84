import type { Analysis } from "../analysis/analysis.ts";
import type { UsageHistory } from "../analysis/fairness/fairness.ts";
import { inOneStep, type Steps } from "../kernel/steps.ts";
import type { EndedShape } from "../model/podShape.ts";
import type { Problem } from "../model/problem.ts";
import { type AccountedMoment, createAccountedMoments } from "./accountedMoment.ts";
import { accrueInSteps } from "./accrue.ts";
import { type AccountCells, type AccountCounters, type CounterLimits, createCounterBook } from "./counters.ts";
import { createDebtBook } from "./debtBook.ts";
import { gapProblem } from "./gapProblem.ts";
import type { Remembered } from "./ledger/ledger.ts";
import type { Account, AccruedStep, AccruedTime, GapReason, SeenEviction, StepInterval } from "./posting.ts";
import { createQueueCounterBook } from "./queueCounterBook.ts";
import { createQueueEvents } from "./queueEvents.ts";
import { openBooks, worstImbalance } from "./selfCheck.ts";
import { createUsageBook, type HistorySettings } from "./usageHistory.ts";

/** When a moment was, by both clocks. */
export interface MomentClock {
  /** Seconds since the epoch. */
  readonly wall: number;
  /** Seconds since any fixed point, on a clock that is never set. */
  readonly monotonic: number;
}

/** Which time of this process is in the books. */
export interface BookedTime {
  /** The first moment, seconds since the epoch. */
  readonly since: number;
  readonly coveredSeconds: number;
  /** The last hundred intervals that are booked nowhere, oldest first. */
  readonly gaps: readonly StepInterval[];
}

const rememberedGaps = 100;
const accountsPerStep = 2000;

/** The books of a process: what was last seen, and running totals since the start. */
export interface Books {
  /** Books the step that ends with this moment; `null` for the first one. */
  book(analysis: Analysis, clock: MomentClock): AccruedStep | null;
  /** `book` with pauses: until the last step is taken, the totals are those from before it. Never two at once. */
  bookInSteps(analysis: Analysis, clock: MomentClock): Steps<AccruedStep | null>;
  counters(): AccountCounters;
  /** What queues used of the past, for the next moment's entitlements; `null` unless it is enabled. */
  usageHistory(): UsageHistory | null;
  /** Pods with GPUs that ended in the last seven days, by shape; `null` while nothing is known of them. */
  endedShapes(): readonly EndedShape[] | null;
  /** `null` before the first moment. */
  bookedTime(): BookedTime | null;
  /** What is wrong with the books now. */
  problems(): readonly Problem[];
}

export interface BooksOptions {
  /** Seconds between two cycles by configuration. */
  readonly intervalSeconds: number;
  readonly limits: CounterLimits;
  /** Settings `queues`: half-lives of the decayed deviations, seconds; and what counts as past use. */
  readonly queues?: { readonly halfLives: readonly number[]; readonly history: HistorySettings };
  /** What a ledger remembers; absent where there is none. */
  readonly remembered?: readonly Remembered[];
}

/** As in the configuration's defaults. */
const defaultQueues: NonNullable<BooksOptions["queues"]> = {
  halfLives: [3600, 86_400, 604_800],
  history: { enabled: false, halfLifeSeconds: 3600, windowSeconds: 7200, kValue: 1 },
};

/** Opens the books of a process: all totals stand at 0, as Prometheus expects after a restart. */
export function createBooks({ intervalSeconds, limits, queues = defaultQueues, remembered }: BooksOptions): Books {
  const moments = createAccountedMoments();
  const counters = createCounterBook(limits);
  const queueCounters = createQueueCounterBook(limits.series, counters.team);
  const events = createQueueEvents();
  const debts = createDebtBook(queues.halfLives, remembered ?? null);
  const usage = createUsageBook(queues.history, remembered ?? null);
  /** Evictions of the first moment, which go with the first step. */
  let firstEvictions: readonly SeenEviction[] = [];
  const uncovered: Record<GapReason, number> = { "too-long": 0, "clock-jump": 0, "stale-objects": 0 };
  let covered = 0;
  let earlier: { readonly analysis: Analysis; readonly clock: MomentClock } | null = null;
  let foldedAccounts = 0;
  let since: number | null = null;
  let gaps: readonly StepInterval[] = [];
  let problems: readonly Problem[] = [];

  /** Adds a step to all totals, at once; `cells` are those of its postings. */
  function commit(step: AccruedTime, cells: readonly AccountCells[]): void {
    const { gap, seconds } = step.interval;
    if (gap === null) covered += seconds;
    else {
      uncovered[gap] += seconds;
      gaps = [...gaps, step.interval].slice(-rememberedGaps);
    }
    for (const [i, { account, gpuSeconds, energyJoules }] of step.postings.entries()) {
      const found = cells[i] ?? counters.account(account);
      found.gpuSeconds.value += gpuSeconds;
      if (energyJoules !== null) (found.energy ?? counters.energy(account)).value += energyJoules;
    }
    for (const nodeTime of step.nodeTimes) counters.nodeSeconds(nodeTime).value += nodeTime.nodeSeconds;
    for (const { pool, gpuSeconds } of step.imbalances) counters.imbalance(pool).value += gpuSeconds;
  }

  /**
   * Every label set that the next step can add to is there with its value before it: else its first step is lost to
   * `increase`. Answers how many of the moment's accounts share their series.
   */
  function* announce(analysis: Analysis): Steps<number> {
    const moment = yield* moments.ofInSteps(analysis);
    yield;
    const unknown = moment.accounts.filter((account) => !counters.isKnown(account));
    yield;
    for (const [i, account] of (yield* largestFirst(unknown, moment)).entries()) {
      if (i % accountsPerStep === 0) yield;
      counters.account(account);
    }
    yield;
    const cells = moment.accounts.map((account) => counters.account(account));
    yield;
    const unmetered = cells.map(({ energy }) => energy === null);
    for (const account of meteredAccounts(analysis, moment, unmetered)) counters.energy(account);
    for (const node of moment.nodeCounts) counters.nodeSeconds(node);
    for (const { pool } of analysis.pools) counters.imbalance(pool);
    yield* queueCounters.announce(analysis);
    return cells.reduce((sum, { folded }) => sum + (folded ? 1 : 0), 0);
  }

  function* bookInSteps(analysis: Analysis, clock: MomentClock): Steps<AccruedStep | null> {
    const before = earlier;
    earlier = { analysis, clock };
    const step =
      before === null
        ? null
        : yield* accrueInSteps(
            before.analysis,
            analysis,
            {
              from: before.clock.wall,
              to: clock.wall,
              seconds: clock.monotonic - before.clock.monotonic,
              intervalSeconds,
            },
            moments,
          );
    yield;
    const cells = step === null ? [] : step.postings.map(({ account }) => counters.account(account));
    yield;
    const commitQueues = step === null ? null : yield* queueCounters.prepare(step);
    const nextDebts =
      before === null || step === null
        ? null
        : yield* debts.prepare(before.analysis, step.interval.seconds, step.interval.gap === null, clock.wall);
    const open = step === null ? [] : [...gapProblem(step.interval), ...openBooks(step)];
    yield;
    const folded = yield* announce(analysis);
    yield;
    const different = worstImbalance(analysis.snapshot);
    yield;
    since ??= clock.wall;
    foldedAccounts = folded;
    problems = [...open, ...different];
    const { waits, evictions } = events.see(analysis.snapshot.queueing, clock.wall);
    queueCounters.count({ waits, evictions });
    if (before === null || step === null) {
      debts.begin(clock.wall);
      usage.begin(clock);
      firstEvictions = evictions;
      return null;
    }
    commit(step, cells);
    commitQueues?.();
    nextDebts?.commit();
    if (step.interval.gap === null) usage.add(before.analysis, step.interval.seconds, clock);
    const complete = {
      ...step,
      waits,
      evictions: [...firstEvictions, ...evictions],
      remembered: [...(nextDebts?.changes ?? []), ...usage.changes(clock)],
    };
    firstEvictions = [];
    return complete;
  }

  return {
    book: (analysis, clock) => inOneStep(bookInSteps(analysis, clock)),
    bookInSteps,
    counters: () => ({
      ...counters.totals(),
      coveredSeconds: covered,
      uncoveredSeconds: { ...uncovered },
      foldedAccounts,
      queues: { ...queueCounters.totals(), debts: debts.debts() },
    }),
    usageHistory: usage.history,
    endedShapes: () => null,
    bookedTime: () => (since === null ? null : { since, coveredSeconds: covered, gaps }),
    problems: () => [...problems, ...foldedSeries(foldedAccounts, limits)],
  };
}

/** Accounts in the order in which the budget of series is given out: those with most GPUs first. */
function* largestFirst(accounts: readonly Account[], { lines, gpus }: AccountedMoment): Steps<readonly Account[]> {
  if (accounts.length === 0) return [];
  const sums = new Map<Account, number>(accounts.map((account) => [account, 0] as const));
  for (const [i, { account }] of lines.entries()) {
    const sum = sums.get(account);
    if (sum !== undefined) sums.set(account, sum + (gpus[i] ?? 0));
  }
  yield;
  const ranked: { readonly account: Account; readonly sum: number; readonly name: string }[] = [];
  for (const [account, sum] of sums) {
    if (ranked.length % accountsPerStep === 0) yield;
    ranked.push({ account, sum, name: JSON.stringify(account) });
  }
  yield;
  return ranked.sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1)).map(({ account }) => account);
}

/** Of the accounts that are `wanted`, by index, those with a device that reports energy or power. */
function meteredAccounts(
  { bookings, snapshot }: Analysis,
  { lines, accounts, lineOf, activeLineOf, underusedLineOf }: AccountedMoment,
  wanted: boolean[],
): readonly Account[] {
  const found: Account[] = [];
  const indexOf = (line: number | undefined): number => lines[line ?? -1]?.accountIndex ?? -1;
  if (!wanted.includes(true)) return found;
  for (let i = 0; i < bookings.length; i++) {
    const indices = [indexOf(lineOf[i]), indexOf(activeLineOf[i]), indexOf(underusedLineOf[i])];
    if (!indices.some((index) => wanted[index] === true)) continue;
    const reading = snapshot.devices[bookings[i]?.device ?? -1]?.reading;
    if (reading == null || (reading.energyJoules === null && reading.powerWatts === null)) continue;
    for (const index of indices) {
      const account = accounts[index];
      if (account === undefined || wanted[index] !== true) continue;
      wanted[index] = false;
      found.push(account);
    }
  }
  return found;
}

function foldedSeries(accounts: number, limits: CounterLimits): readonly Problem[] {
  if (accounts === 0) return [];
  return [
    {
      source: "accounts",
      code: "gpu-time-folded",
      severity: "info",
      subject: "/metrics",
      message: `${accounts} accounts of GPU time share the label value "other"; the budget is ${limits.teams} teams and ${limits.series} series, and a series that was given out is kept until the restart.`,
      nextStep: "Raise limits.teams or limits.series, or assign namespaces to fewer teams with the rules in teams.",
    },
  ];
}
