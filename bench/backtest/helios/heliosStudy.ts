import type { Engine } from "../engine.ts";
import { estimate, rounded } from "../intervals.ts";
import { type FollowedQuota, followQuota } from "./followQuota.ts";
import type { HeliosResult } from "./heliosResult.ts";
import { countsOf, type TeamSeries } from "./heliosTrace.ts";
import { type InferredJob, inferJobs } from "./inferJobs.ts";
import { type LendingOutcome, type LendingRule, lendGpus } from "./lendGpus.ts";

/** How much is replayed. */
export interface HeliosOptions {
  readonly seeds: number;
  readonly engine: () => Engine;
  readonly progress: (text: string) => void;
}

const reclaim: LendingRule = { limitOf: () => Infinity, isReclaimed: true, isSpread: true, knowsFuture: false };
const rules: readonly (readonly [string, LendingRule])[] = [
  ["static quotas (as recorded)", { ...reclaim, limitOf: () => 0 }],
  ["borrowing with reclaim", reclaim],
  ["the same, one lender for each job", { ...reclaim, isSpread: false }],
  ["borrowing, nothing taken back", { ...reclaim, isReclaimed: false }],
];
const oracle: readonly [string, LendingRule] = [
  "oracle: borrows only what stays idle",
  { ...reclaim, knowsFuture: true },
];
const advised = "advice, all followed after 5 minutes";

type Play = readonly [string, readonly (LendingOutcome & { readonly offered?: number })[]];

/** Plays every rule on the trace. The same options give the same result. */
export function heliosStudy(teams: readonly TeamSeries[], { seeds, engine, progress }: HeliosOptions): HeliosResult {
  const jobs = inferJobs(teams, { order: "first", runFactor: 1 });
  const follow = (
    of: readonly InferredJob[],
    obedience: number,
    delayMinutes: number,
    count: number,
  ): FollowedQuota[] =>
    Array.from({ length: count }, (_, i) => {
      progress(`advice, ${obedience * 100} % followed: seed ${i + 1} of ${count}`);
      return followQuota(teams, of, engine(), { obedience, seed: i + 1, delayMinutes });
    });
  const plays: readonly Play[] = [
    ...rules.map(([name, rule]): Play => [name, [lendGpus(teams, jobs, rule)]]),
    ["advice, 20 % followed after 5 minutes", follow(jobs, 0.2, 5, seeds)],
    ["advice, 50 % followed after 5 minutes", follow(jobs, 0.5, 5, seeds)],
    [advised, follow(jobs, 1, 5, 1)],
    ["advice, all followed after 4 hours", follow(jobs, 1, 240, 1)],
    [oracle[0], [lendGpus(teams, jobs, oracle[1])]],
  ];
  const { gpus, allocated, runningHours, idleHours, pendingHours, onlyElsewhere } = countsOf(teams);
  return {
    trace: "helios",
    counts: {
      gpus: rounded(gpus),
      allocated: rounded(allocated),
      runningHours: rounded(runningHours),
      idleHours: rounded(idleHours),
      pendingHours: rounded(pendingHours),
      onlyElsewhere: rounded(onlyElsewhere),
    },
    teams: teams.length,
    seeds,
    jobs: jobs.length,
    rows: plays.map(([rule, outcomes]) => rowOf(rule, outcomes)),
    sensitivity: sensitivity(teams, (of) => follow(of, 1, 5, 1)),
  };
}

function rowOf(rule: string, outcomes: Play[1]): HeliosResult["rows"][number] {
  const mean = (of: (one: LendingOutcome) => number): number => estimate(outcomes.map(of)).mean;
  const offered = outcomes.flatMap((one) => one.offered ?? []);
  return {
    rule,
    earlierHours: estimate(outcomes.map((one) => one.earlierHours)),
    savedHours: estimate(outcomes.map((one) => one.savedHours)),
    lostHours: mean((one) => one.lostHours),
    evictions: mean((one) => one.evictions),
    lenderShortHours: mean((one) => one.lenderShortHours),
    meanWaitHours: mean((one) => one.meanWaitHours),
    p95WaitHours: mean((one) => one.p95WaitHours),
    offered: offered.length === 0 ? null : estimate(offered).mean,
  };
}

/** The same with other ways to infer jobs: who starts first, and runs of a quarter and four times the mean. */
function sensitivity(
  teams: readonly TeamSeries[],
  follow: (jobs: readonly InferredJob[]) => readonly LendingOutcome[],
): HeliosResult["sensitivity"] {
  return (["first", "last"] as const).flatMap((order) =>
    [0.25, 1, 4].flatMap((runFactor) => {
      const jobs = inferJobs(teams, { order, runFactor });
      const inference = `${order} come, first served; runs x ${runFactor}`;
      const plays: readonly Play[] = [
        ["borrowing with reclaim", [lendGpus(teams, jobs, reclaim)]],
        [advised, follow(jobs)],
      ];
      return plays.map(([rule, [outcome]]) => ({
        inference,
        rule,
        jobs: jobs.length,
        earlierHours: rounded(outcome?.earlierHours ?? 0),
        savedHours: rounded(outcome?.savedHours ?? 0),
        lostHours: rounded(outcome?.lostHours ?? 0),
      }));
    }),
  );
}
