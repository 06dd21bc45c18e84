import type { Engine } from "../engine.ts";
import { estimate, rounded } from "../intervals.ts";
import { followScaleIn } from "./followScaleIn.ts";
import { keepAll, type NodesOn, rankRule, savingRule } from "./nodeRules.ts";
import { type NodeSeries, stepMinutes } from "./nodeSeries.ts";
import type { PhillyResult } from "./phillyResult.ts";

/** What is replayed. */
export interface PhillyOptions {
  readonly seeds: number;
  readonly whole: { readonly minutes: number; readonly mean: number };
  readonly from: string;
  readonly until: string;
  readonly engine: () => Engine;
  readonly progress: (text: string) => void;
}

const stepsPerHour = 60 / stepMinutes;
const stepsPerDay = 24 * stepsPerHour;

/** Plays every rule on the series. The same options give the same result. */
export function phillyStudy(series: NodeSeries, options: PhillyOptions): PhillyResult {
  const { active, total } = series;
  const followed = (obedience: number, delayMinutes: number, seeds: number): readonly NodesOn[] =>
    Array.from({ length: seeds }, (_, i) => {
      options.progress(`advice, ${obedience * 100} % followed: seed ${i + 1} of ${seeds}`);
      const delaySteps = Math.max(1, Math.round(delayMinutes / stepMinutes));
      return followScaleIn(series, options.engine(), { obedience, seed: i + 1, delaySteps });
    });
  const dayAgo = (step: number): number => active[step - stepsPerDay] ?? active[step] ?? 0;
  const rules: readonly (readonly [string, readonly NodesOn[]])[] = [
    ["nothing", [keepAll(series)]],
    ["an autoscaler: off after 10 minutes", [rankRule(series, { goesAfter: () => 1, comesBefore: 0 })]],
    ["CES, forecast: as now", [savingRule(series, (_, from) => active[from] ?? 0)]],
    ["CES, forecast: as a day ago", [savingRule(series, dayAgo)]],
    ["CES, forecast: perfect", [savingRule(series, (step) => active[step] ?? 0)]],
    ["advice, 20 % of looks followed after 10 minutes", followed(0.2, 10, options.seeds)],
    ["advice, 50 % of looks followed after 10 minutes", followed(0.5, 10, options.seeds)],
    ["advice, all followed after 10 minutes", followed(1, 10, 1)],
    ["advice, all followed after 4 hours", followed(1, 240, 1)],
    [
      "oracle: off in idle times of an hour and more, back in time",
      [rankRule(series, { goesAfter: (idle) => (idle >= stepsPerHour ? 0 : null), comesBefore: 1 })],
    ],
  ];
  return {
    trace: "philly",
    minutes: options.whole.minutes,
    meanUse: rounded(options.whole.mean),
    from: options.from,
    until: options.until,
    steps: active.length,
    seeds: options.seeds,
    totalNodeHours: rounded(hours(total)),
    activeNodeHours: rounded(hours(active)),
    rows: rules.map(([rule, plays]) => rowOf(rule, series, plays)),
  };
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const hours = (nodes: readonly number[]): number => sum(nodes) / stepsPerHour;

function rowOf(rule: string, { active, total }: NodeSeries, plays: readonly NodesOn[]): PhillyResult["rows"][number] {
  const days = active.length / stepsPerDay;
  const mean = (of: (play: NodesOn) => number): number => estimate(plays.map(of)).mean;
  return {
    rule,
    savedNodeHours: estimate(plays.map(({ on }) => hours(total) - hours(on))),
    use: mean(({ on }) => sum(active.map((needed, i) => needed / Math.max(1, on[i] ?? 0))) / active.length),
    wakeUpsPerDay: mean(({ started }) => started.filter((nodes) => nodes > 0).length / days),
    startedPerDay: mean(({ started }) => sum(started) / days),
    shortNodeHours: estimate(plays.map(({ short }) => hours(short))),
    idleNodeHours: mean(({ on }) => hours(on) - hours(active)),
  };
}
