import type { Analysis } from "../analysis/analysis.ts";
import type { UsageHistory } from "../analysis/fairness/fairness.ts";
import type { PastStart } from "../analysis/startTimes/startTimes.ts";
import type { GapReason } from "../model/gapReasons.ts";
import type { EndedShape } from "../model/podShape.ts";
import type { Problem } from "../model/problem.ts";
import { createAccountedMoments, largestFirst, meteredAccounts } from "./accountedMoment.ts";
import { accrue } from "./accrue.ts";
import { createApplicationErrors } from "./applicationErrors.ts";
import { type AccountCells, type AccountCounters, type CounterLimits, createCounterAccount } from "./counters.ts";
import { createDebtAccount } from "./debtAccount.ts";
import { createFailureAccount, type SeenFailure } from "./failureAccount.ts";
import { foldedSeries } from "./foldedLabels.ts";
import { healthGroups } from "./healthTime.ts";
import { lastCovered, type PastIdleTime } from "./idleHours.ts";
import { createIdleNodeAccount } from "./idleNodeAccount.ts";
import type { Remembered } from "./ledger/ledger.ts";
import { createNodeStreakAccount } from "./nodeStreakAccount.ts";
import { createOutageAccount } from "./outageAccount.ts";
import type { AccruedStep, AccruedTime, SeenEviction, StepInterval } from "./posting.ts";
import { createPriceUse } from "./priceUse.ts";
import { createProgressAccount } from "./progressAccount.ts";
import { createQueueCounterAccount } from "./queueCounterAccount.ts";
import { createQueueEvents } from "./queueEvents.ts";
import { openAccounts, openCosts, worstImbalance } from "./selfCheck.ts";
import type { ServedWork } from "./servedWork.ts";
import { createServingAccount } from "./servingAccount.ts";
import { createShapeAccount, type EndedOnDay } from "./shapeAccount.ts";
import { createStartAccount } from "./startAccount.ts";
import { gapProblem } from "./stepTime.ts";
import { createUsageAccount, type HistorySettings } from "./usageHistory.ts";

/** The time of a moment, by both clocks. */
export interface MomentClock {
  /** Seconds since the epoch. */
  readonly wall: number;
  /** Seconds since any fixed point, on a clock that is never set. */
  readonly monotonic: number;
}

/** The time of this process that has been counted. */
export interface AccountedTime {
  /** The first moment, seconds since the epoch. */
  readonly since: number;
  readonly coveredSeconds: number;
  /** The last hundred intervals that are not counted, oldest first. */
  readonly gaps: readonly StepInterval[];
}

const rememberedGaps = 100;

/** The accounts of a process: what was last seen, and running totals since the process started. */
export interface Accounting {
  /** Accounts for the step that ends with this moment; `null` for the first one. */
  account(analysis: Analysis, clock: MomentClock): AccruedStep | null;
  counters(): AccountCounters;
  /** Past use of the queues, for the next moment's entitlements; `null` unless past use is enabled. */
  usageHistory(): UsageHistory | null;
  /** Pods with GPUs that ended in the last seven days, by shape; `null` while nothing is known about them. */
  endedShapes(): readonly EndedShape[] | null;
  /** The time that has been counted; `null` before the first moment. */
  accountedTime(): AccountedTime | null;
  /** What workloads have served since they were first seen; the workload with the most generated tokens comes first. */
  servedWork(): readonly ServedWork[];
  /** Waits that have ended because the work started, the oldest first. */
  pastStarts(): readonly PastStart[];
  /** What is wrong with the accounts now. */
  problems(): readonly Problem[];
}

export interface AccountingOptions {
  /** Seconds between two cycles, as configured. */
  readonly intervalSeconds: number;
  readonly limits: CounterLimits;
  /** Settings `queues`: half-lives of the decayed deviations, in seconds, and what counts as past use. */
  readonly queues?: { readonly halfLives: readonly number[]; readonly history: HistorySettings };
  /** Setting `cost.co2GramsPerKwh`; if it is absent, no CO2 is reported. */
  readonly co2GramsPerKwh?: number | undefined;
  /** What a ledger remembers; absent where there is none. */
  readonly remembered?: readonly Remembered[];
  /** The time of idle nodes in the last days, as a ledger has it; absent where there is none. */
  readonly idleTime?: PastIdleTime;
  /** Pods that ended lately, as a ledger has them; absent where there is none. */
  readonly endedShapes?: readonly EndedOnDay[];
}

/** A moment and its time. */
interface Seen {
  readonly analysis: Analysis;
  readonly clock: MomentClock;
}

/** These are the defaults of the configuration. */
const defaultQueues: NonNullable<AccountingOptions["queues"]> = {
  halfLives: [3600, 86_400, 604_800],
  history: { enabled: false, halfLifeSeconds: 3600, windowSeconds: 7200, kValue: 1 },
};

/** Opens the accounts of a process: all totals are at 0, as Prometheus expects after a restart. */
export function createAccounting(options: AccountingOptions): Accounting {
  const { intervalSeconds, limits, queues = defaultQueues, remembered, co2GramsPerKwh = null } = options;
  const moments = createAccountedMoments();
  const counters = createCounterAccount(limits);
  const queueCounters = createQueueCounterAccount(limits.series, counters.team);
  const serving = createServingAccount(limits.series, counters.team, remembered ?? null);
  const idleNodes = createIdleNodeAccount(limits.series, options.idleTime ?? null);
  const nodeStreaks = createNodeStreakAccount(remembered, lastCovered(options.idleTime ?? null));
  const outageAccount = createOutageAccount(remembered, lastCovered(options.idleTime ?? null));
  const applicationErrors = createApplicationErrors(limits.series, counters.team);
  const failureAccount = createFailureAccount(limits.series, counters.team);
  const events = createQueueEvents();
  const priceUse = createPriceUse();
  const debts = createDebtAccount(queues.halfLives, remembered ?? null);
  const usage = createUsageAccount(queues.history, remembered ?? null);
  const shapes = createShapeAccount(options.endedShapes ?? null);
  const progress = createProgressAccount(remembered ?? null);
  const starts = createStartAccount(remembered ?? null);
  /** Evictions and failures of the first moment, which are counted with the first step. */
  let firstEvictions: readonly SeenEviction[] = [];
  let firstFailures: readonly SeenFailure[] = [];
  const uncovered: Record<GapReason, number> = { "too-long": 0, "clock-jump": 0, "stale-objects": 0 };
  let covered = 0;
  let earlier: Seen | null = null;
  let foldedAccounts = 0;
  let since: number | null = null;
  let gaps: readonly StepInterval[] = [];
  let problems: readonly Problem[] = [];

  /** Adds a step to all totals at once; `cells` holds the cells of each of its postings, in the same order. */
  function commit(step: AccruedTime, cells: readonly AccountCells[]): void {
    const { gap, seconds } = step.interval;
    if (gap === null) covered += seconds;
    else {
      uncovered[gap] += seconds;
      gaps = [...gaps, step.interval].slice(-rememberedGaps);
    }
    for (const [i, { account, gpuSeconds, energyJoules, cost }] of step.postings.entries()) {
      const found = cells[i] ?? counters.account(account);
      found.gpuSeconds.value += gpuSeconds;
      if (cost === null) found.unpriced.value += gpuSeconds;
      else {
        if (found.cost !== null) found.cost.value += cost;
        if (found.namespaceCost !== null) found.namespaceCost.value += cost;
      }
      if (energyJoules !== null) (found.energy ?? counters.energy(account)).value += energyJoules;
    }
    for (const nodeTime of step.nodeTimes) counters.nodeSeconds(nodeTime).value += nodeTime.nodeSeconds;
    for (const time of step.healthTimes) counters.health(time).value += time.gpuSeconds;
    idleNodes.add(step);
    for (const { pool, gpuSeconds } of step.imbalances) counters.imbalance(pool).value += gpuSeconds;
  }

  /**
   * Publishes every label set that the next step can add to, with its value before that step: otherwise `increase` would miss
   * its first step. Returns how many of the moment's accounts share their series with others.
   */
  function announce(analysis: Analysis): number {
    const moment = moments.of(analysis);
    const known = moment.accounts.filter((account) => counters.isKnown(account));
    const unknown = moment.accounts.filter((account) => !counters.isKnown(account));
    counters.begin(analysis.snapshot.at);
    // Accounts that already exist keep their series; new ones get a place afterwards.
    for (const account of known) counters.announce(account);
    for (const account of largestFirst(unknown, moment)) {
      counters.announce(account);
    }
    const cells = moment.accounts.map((account) => counters.account(account));
    const unmetered = cells.map(({ energy }) => energy === null);
    for (const account of meteredAccounts(analysis, moment, unmetered)) counters.energy(account);
    for (const node of moment.nodeCounts) counters.nodeSeconds(node);
    for (const group of healthGroups(analysis)) counters.health(group);
    applicationErrors.announce(analysis.snapshot, moment.accounts);
    idleNodes.announce(moment.nodeCounts);
    for (const { pool } of analysis.pools) counters.imbalance(pool);
    queueCounters.announce(analysis);
    serving.announce(analysis);
    return cells.reduce((sum, { folded }) => sum + (folded ? 1 : 0), 0);
  }

  /** Works out what a step changes besides the totals of its accounts. Nothing is counted before `commit`. */
  function prepare({ analysis, clock }: Seen, step: AccruedTime, now: number) {
    const isCovered = step.interval.gap === null;
    const commitQueues = queueCounters.prepare(step);
    const nextDebts = debts.prepare(analysis, step.interval.seconds, isCovered, now);
    const open = [
      ...gapProblem(step.interval),
      ...openAccounts(step),
      ...openCosts(step, analysis.snapshot, analysis.prices),
    ];
    const nextPrices = isCovered ? priceUse.prepare(analysis.prices, clock.wall) : null;
    return {
      open,
      prices: nextPrices?.inUse ?? null,
      remembered: nextDebts.changes,
      commit(): void {
        commitQueues();
        nextDebts.commit();
        nextPrices?.commit();
      },
    };
  }

  function account(analysis: Analysis, clock: MomentClock): AccruedStep | null {
    const before = earlier;
    earlier = { analysis, clock };
    const step =
      before === null
        ? null
        : accrue(
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
    const cells = step === null ? [] : step.postings.map(({ account }) => counters.account(account));
    const prepared = before === null || step === null ? null : prepare(before, step, clock.wall);
    const isCovered = step !== null && step.interval.gap === null;
    const nextShapes = shapes.prepare(analysis.snapshot, clock.wall, isCovered);
    const nextProgress = progress.prepare(analysis.snapshot, step, clock.wall);
    const folded = announce(analysis);
    const different = worstImbalance(analysis.snapshot);
    since ??= clock.wall;
    foldedAccounts = folded;
    problems = [...(prepared?.open ?? []), ...different];
    nextShapes.commit();
    nextProgress.commit();
    const { waits, evictions, starts: ended } = events.see(analysis.snapshot.queueing, clock.wall);
    queueCounters.count({ waits, evictions });
    starts.add(ended);
    nodeStreaks.see(analysis, clock.wall);
    outageAccount.see(analysis, clock.wall);
    applicationErrors.see(analysis.snapshot);
    const failures = [...firstFailures, ...failureAccount.see(analysis.snapshot, applicationErrors.errorOf)];
    if (before === null || step === null || prepared === null) {
      debts.begin(clock.wall);
      usage.begin(clock);
      firstEvictions = evictions;
      firstFailures = failures;
      return null;
    }
    commit(step, cells);
    const servedTimes = serving.add(before.analysis, analysis, step);
    prepared.commit();
    if (step.interval.gap === null) usage.add(before.analysis, step.interval.seconds, clock);
    const streaks = nodeStreaks.takeChanges();
    const outages = outageAccount.takeChanges();
    const complete = {
      ...step,
      waits,
      evictions: [...firstEvictions, ...evictions],
      failures,
      prices: prepared.prices,
      endedPods: nextShapes.endedPods,
      nodeStreaks: streaks.nodeStreaks,
      outages: outages.outages,
      servedTimes,
      remembered: [
        ...prepared.remembered,
        ...usage.changes(clock),
        ...progress.changes(clock),
        ...serving.changes(clock),
        ...streaks.remembered,
        ...outages.remembered,
        ...starts.takeChanges(),
      ],
    };
    firstEvictions = [];
    firstFailures = [];
    return complete;
  }

  return {
    account,
    counters: () => ({
      ...counters.totals(),
      co2GramsPerKwh,
      coveredSeconds: covered,
      uncoveredSeconds: { ...uncovered },
      foldedAccounts,
      progress: progress.costs(),
      applicationErrors: applicationErrors.totals(),
      failures: failureAccount.totals(),
      queues: { ...queueCounters.totals(), debts: debts.debts() },
      idleNodes: idleNodes.counters(earlier?.clock.wall ?? null),
      serving: serving.counters(),
    }),
    usageHistory: usage.history,
    endedShapes: shapes.ended,
    servedWork: serving.work,
    pastStarts: starts.past,
    accountedTime: () => (since === null ? null : { since, coveredSeconds: covered, gaps }),
    problems: () => [...problems, ...foldedSeries(foldedAccounts, limits), ...progress.problems()],
  };
}
