import type { AccountCounters } from "../accounts/counters.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { definitionOf, type MetricName, metricNames } from "../catalogue/catalogue.ts";
import { selfMetrics } from "../catalogue/self.ts";
import { labelValue } from "../kernel/labelValue.ts";
import { inOneStep, type Steps } from "../kernel/steps.ts";
import type { Problem } from "../model/problem.ts";
import { accountsProducers } from "./families/accounts.ts";
import { inventoryProducers } from "./families/inventory.ts";
import { selfProducers } from "./families/self.ts";
import { telemetryProducers } from "./families/telemetry.ts";
import { utilizationProducers } from "./families/utilization.ts";
import type { Family, FamilyInput, Producers, Sample } from "./family.ts";
import type { Health } from "./health.ts";
import { type MomentSums, sumMoment } from "./momentSums.ts";
import { foldTeams } from "./teamSeries.ts";

/** Budgets of the page; settings `limits`. */
export interface PageLimits {
  readonly teams: number;
  readonly series: number;
}

/** The families of a page, in the order of the catalogue, and what the budget left out. */
export interface Page {
  readonly families: readonly Family[];
  readonly problems: readonly Problem[];
}

/** All metrics of the catalogue; the type makes the table complete. */
const producers: Producers<MetricName> = {
  ...selfProducers,
  ...telemetryProducers,
  ...accountsProducers,
  ...inventoryProducers,
  ...utilizationProducers,
};

/**
 * Turns the answers of a moment (or only Fairlead's own health, where `analysis` is `null`) into families within their
 * budget. Beyond the budget of series, smaller teams are folded into `other` first, because sums stay right that way;
 * only what is then still too much is cut, last families first. Running totals (`accounts`) keep their labels, whatever is
 * folded: a counter that gives a part of itself away falls.
 */
export function buildFamilies(
  analysis: Analysis | null,
  health: Health,
  limits: PageLimits,
  accounts: AccountCounters | null = null,
): Page {
  return inOneStep(buildFamiliesInSteps(analysis, health, limits, accounts));
}

/** `buildFamilies` with pauses. */
export function* buildFamiliesInSteps(
  analysis: Analysis | null,
  health: Health,
  limits: PageLimits,
  accounts: AccountCounters | null,
): Steps<Page> {
  let teamLimit = limits.teams;
  const answers = analysis === null ? null : { analysis, sums: yield* sumMoment(analysis) };
  const facts = { answers, health, accounts };
  let built = yield* buildAll(facts, teamLimit);
  while (built.total > limits.series && teamLimit > 0 && built.teams > 0) {
    teamLimit = Math.floor(Math.min(teamLimit, built.teams) / 2);
    built = yield* buildAll(facts, teamLimit);
  }
  yield;
  const { kept, cut } = cutTo(built.families, limits.series);
  const outcome = { seriesDropped: cut + built.duplicates, teamsFolded: built.folded };
  const own = { ...built.input, outcome };
  const families = kept.map((family) =>
    family.name === "fairlead_series_dropped" || family.name === "fairlead_teams_folded"
      ? buildFamily(family.name, own).family
      : family,
  );
  return { families: families.filter((family) => family.series.length > 0), problems: budgetProblems(outcome, limits) };
}

interface Built {
  readonly families: readonly Family[];
  readonly input: FamilyInput;
  readonly total: number;
  readonly duplicates: number;
  readonly folded: number;
  /** Teams that have series of their own. */
  readonly teams: number;
}

interface Facts {
  readonly answers: { readonly analysis: Analysis; readonly sums: MomentSums } | null;
  readonly health: Health;
  readonly accounts: AccountCounters | null;
}

function* buildAll({ answers, health, accounts }: Facts, teamLimit: number): Steps<Built> {
  const fold = answers === null ? null : foldTeams(answers.analysis, answers.sums, teamLimit);
  const moment = answers === null || fold === null ? null : { ...answers, teams: fold.teams };
  const input: FamilyInput = {
    health,
    moment,
    outcome: { seriesDropped: 0, teamsFolded: fold?.folded ?? 0 },
    accounts,
  };
  const results: ReturnType<typeof buildFamily>[] = [];
  for (const name of metricNames) {
    yield;
    results.push(buildFamily(name, input));
  }
  const named = (answers?.analysis.teams.length ?? 0) - (fold?.folded ?? 0);
  return {
    families: results.map((result) => result.family),
    input,
    total: results.reduce((sum, result) => sum + result.family.series.length, 0),
    duplicates: results.reduce((sum, result) => sum + result.duplicates, 0),
    folded: fold?.folded ?? 0,
    teams: named,
  };
}

function buildFamily(name: MetricName, input: FamilyInput): { family: Family; duplicates: number } {
  const { help, type, labels } = definitionOf(name);
  const samples: readonly Sample[] = producers[name](input);
  const seen = new Set<string>();
  const series: { labelValues: string[]; value: number }[] = [];
  for (const sample of samples) {
    const labelValues = labels.map((label) => labelValue(sample.labels[label] ?? ""));
    const key = labelValues.join("\u0000");
    if (seen.has(key)) continue;
    seen.add(key);
    series.push({ labelValues, value: sample.value });
  }
  return { family: { name, help, type, labelNames: labels, series }, duplicates: samples.length - series.length };
}

/** Cuts from the end; Fairlead's own families are never cut, for they say that something was. */
function cutTo(families: readonly Family[], limit: number): { kept: readonly Family[]; cut: number } {
  let left = limit;
  let cut = 0;
  const kept = families.map((family) => {
    const room = family.name in selfMetrics ? family.series.length : Math.max(0, Math.min(family.series.length, left));
    left -= room;
    cut += family.series.length - room;
    return room === family.series.length ? family : { ...family, series: family.series.slice(0, room) };
  });
  return { kept, cut };
}

function budgetProblems(outcome: FamilyInput["outcome"], limits: PageLimits): Problem[] {
  const problems: Problem[] = [];
  const base = { source: "publish", severity: "warning", subject: "/metrics" } as const;
  if (outcome.seriesDropped > 0) {
    problems.push({
      ...base,
      code: "series-dropped",
      message: `${outcome.seriesDropped} series are not on the page: its budget is ${limits.series}.`,
      nextStep: "Raise limits.series, or merge GPU models into fewer pools with gpu.pools.",
    });
  }
  if (outcome.teamsFolded > 0) {
    problems.push({
      ...base,
      code: "teams-folded",
      severity: "info",
      message: `${outcome.teamsFolded} teams share the label value "other"; the budget is ${limits.teams} teams and ${limits.series} series.`,
      nextStep: "Raise limits.teams or limits.series, or assign namespaces to fewer teams with the rules in teams.",
    });
  }
  return problems;
}
