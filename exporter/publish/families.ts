import type { AccountCounters } from "../accounts/counters.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { type CostSettings, defaultCostSettings } from "../analysis/sums/costSums.ts";
import { type MomentSums, sumMoment } from "../analysis/sums/momentSums.ts";
import { definitionOf, type MetricName, metricNames } from "../catalogue/catalogue.ts";
import { selfMetrics } from "../catalogue/self.ts";
import type { Budgets } from "../history/budgetWatch.ts";
import { labelValue } from "../kernel/labelValue.ts";
import type { Problem } from "../model/problem.ts";
import type { Advice } from "../model/recommendation.ts";
import { costSeries } from "./costSeries.ts";
import { accountsProducers } from "./families/accounts.ts";
import { adviceProducers } from "./families/advice.ts";
import { budgetsProducers } from "./families/budgets.ts";
import { costProducers } from "./families/cost.ts";
import { fairnessProducers } from "./families/fairness.ts";
import { idleNodesProducers } from "./families/idleNodes.ts";
import { inventoryProducers } from "./families/inventory.ts";
import { placementProducers } from "./families/placement.ts";
import { pricesProducers } from "./families/prices.ts";
import { selfProducers } from "./families/self.ts";
import { subjectProducers } from "./families/subjects.ts";
import { telemetryProducers } from "./families/telemetry.ts";
import { topologyProducers } from "./families/topology.ts";
import { utilizationProducers } from "./families/utilization.ts";
import { waitingProducers } from "./families/waiting.ts";
import { type Family, type FamilyInput, type Producers, type Series, seriesPerEntry } from "./family.ts";
import type { Health } from "./health.ts";
import { foldQueues } from "./queueSeries.ts";
import { foldTeams } from "./teamSeries.ts";

/** Budgets of the page, from the settings `limits`. */
export interface PageLimits {
  readonly teams: number;
  readonly series: number;
  /** Settings `cost`; their defaults where absent. */
  readonly cost?: CostSettings;
  /** Setting `advice.topSeries`; 3 where absent. */
  readonly topRecommendations?: number;
}

/** What a page is built from. */
export interface PageInput {
  /** The answers of a moment; `null` if there are none, or none that are fresh. */
  readonly analysis: Analysis | null;
  readonly health: Health;
  readonly limits: PageLimits;
  /** Running totals since the start; absent or `null`: not known, or too old. */
  readonly accounts?: AccountCounters | null;
  readonly budgets?: Budgets | null;
  readonly advice?: Advice | null;
}

/** The families of a page, in the order of the catalogue, and what the budget left out. */
interface Page {
  readonly families: readonly Family[];
  readonly problems: readonly Problem[];
}

/** The producers of all metrics of the catalogue; the type ensures that none is missing. */
const producers: Producers<MetricName> = {
  ...selfProducers,
  ...telemetryProducers,
  ...accountsProducers,
  ...inventoryProducers,
  ...utilizationProducers,
  ...fairnessProducers,
  ...waitingProducers,
  ...placementProducers,
  ...topologyProducers,
  ...idleNodesProducers,
  ...pricesProducers,
  ...costProducers,
  ...budgetsProducers,
  ...adviceProducers,
  ...subjectProducers,
};

/**
 * Turns the answers of a moment (or only Fairlead's own health, where there are none) into families within their budget. Beyond
 * the budget of series, smaller teams and queues are folded into `other` first, because sums stay right that way; only what is
 * then still too much is cut, last families first. Running totals (`accounts`) keep their labels, whatever is folded: a counter
 * would fall if a part of it moved to another series.
 */
export function buildFamilies(input: PageInput): Page {
  const { analysis, limits } = input;
  const sums = analysis === null ? null : sumMoment(analysis, limits.cost);
  let nameLimit = limits.teams;
  let built = buildAll(input, sums, nameLimit);
  while (built.total > limits.series && nameLimit > 0 && built.named > 0) {
    nameLimit = Math.floor(Math.min(nameLimit, built.named) / 2);
    built = buildAll(input, sums, nameLimit);
  }
  const { kept, cut } = cutTo(built.families, limits.series);
  const outcome = { ...built.input.outcome, seriesDropped: cut + built.duplicates };
  const own = { ...built.input, outcome };
  const families = kept.map((family) => (isOutcome(family.name) ? buildFamily(family.name, own).family : family));
  return { families: families.filter((family) => family.series.length > 0), problems: budgetProblems(outcome, limits) };
}

const outcomes = ["fairlead_series_dropped", "fairlead_teams_folded", "fairlead_queues_folded"] as const;

function isOutcome(name: string): name is (typeof outcomes)[number] {
  return outcomes.some((outcome) => outcome === name);
}

interface Built {
  readonly families: readonly Family[];
  readonly input: FamilyInput;
  readonly total: number;
  readonly duplicates: number;
  /** How many teams have series of their own, or how many queues or namespaces if these are more. */
  readonly named: number;
}

function buildAll(page: PageInput, sums: MomentSums | null, nameLimit: number): Built {
  const { health, limits, accounts = null, budgets = null, advice = null } = page;
  const { topWorkloads } = limits.cost ?? defaultCostSettings;
  const folded = page.analysis === null || sums === null ? null : fold(page.analysis, sums, nameLimit, topWorkloads);
  const input: FamilyInput = {
    health,
    moment: folded?.moment ?? null,
    outcome: { seriesDropped: 0, teamsFolded: folded?.teamsFolded ?? 0, queuesFolded: folded?.queuesFolded ?? 0 },
    accounts,
    topWorkloads,
    budgets,
    advice,
    topRecommendations: limits.topRecommendations ?? 3,
  };
  const results = metricNames.map((name) => buildFamily(name, input));
  return {
    families: results.map((result) => result.family),
    input,
    total: results.reduce((sum, { family }) => sum + family.series.length * seriesPerEntry(family), 0),
    duplicates: results.reduce((sum, result) => sum + result.duplicates, 0),
    named: folded?.named ?? 0,
  };
}

/** A moment with as many names as a page may have. Owners of costs have the names that they have in other families. */
function fold(analysis: Analysis, sums: MomentSums, limit: number, topWorkloads: number) {
  const { teams, ...ofTeams } = foldTeams(analysis, sums, limit);
  const queues = foldQueues(analysis, limit);
  const names = new Set(teams.map(({ team }) => team));
  const costs = costSeries(analysis, sums.costs, { teams: names, limit, topWorkloads });
  return {
    moment: { analysis, sums, teams, queues, costs },
    teamsFolded: ofTeams.folded,
    queuesFolded: queues.folded,
    named: Math.max(ofTeams.named, queues.named, costs.named),
  };
}

interface BuiltFamily {
  readonly family: Family;
  /** How many samples had the same labels as another. */
  readonly duplicates: number;
}

function buildFamily(name: MetricName, input: FamilyInput): BuiltFamily {
  const { help, type, labels, buckets } = definitionOf(name);
  const cluster = labelValue(input.health.cluster);
  const seen = new Set<string>();
  const series: Series[] = [];
  let duplicates = 0;
  for (const sample of producers[name](input) ?? []) {
    const { value, histogram } = sample;
    if (value === null || value === undefined) continue;
    const own: Readonly<Partial<Record<string, string>>> = sample.labels;
    const labelValues = labels.map((label) => (label === "cluster" ? cluster : labelValue(own[label] ?? "")));
    const key = labelValues.join("\u0000");
    if (seen.has(key)) duplicates += 1;
    else {
      seen.add(key);
      series.push(histogram === undefined ? { labelValues, value } : { labelValues, value, histogram });
    }
  }
  const bounds = buckets === undefined ? {} : { bounds: buckets };
  return { family: { name, help, type, labelNames: labels, series, ...bounds }, duplicates };
}

/** Cuts families from the end. Fairlead's own are never cut, because they report that something was. */
function cutTo(families: readonly Family[], limit: number): { kept: readonly Family[]; cut: number } {
  let left = limit;
  let cut = 0;
  const kept = families.map((family) => {
    const each = seriesPerEntry(family);
    const all = family.series.length;
    const allowed = family.name in selfMetrics ? all : Math.max(0, Math.min(all, Math.floor(left / each)));
    left -= allowed * each;
    cut += (all - allowed) * each;
    return allowed === all ? family : { ...family, series: family.series.slice(0, allowed) };
  });
  return { kept, cut };
}

function budgetProblems(outcome: FamilyInput["outcome"], limits: PageLimits): readonly Problem[] {
  const { seriesDropped, teamsFolded, queuesFolded } = outcome;
  const problem = (count: number, about: Pick<Problem, "code" | "severity" | "message" | "nextStep">): Problem[] =>
    count > 0 ? [{ source: "publish", subject: "/metrics", ...about }] : [];
  return [
    ...problem(seriesDropped, {
      severity: "warning",
      code: "series-dropped",
      message: `${seriesDropped} series are not on the page: its budget is ${limits.series}.`,
      nextStep: "Raise limits.series, or merge GPU models into fewer pools with gpu.pools.",
    }),
    ...problem(teamsFolded, {
      severity: "info",
      code: "teams-folded",
      message: `${teamsFolded} teams share the label value "other"; the budget is ${limits.teams} teams and ${limits.series} series.`,
      nextStep: "Raise limits.teams or limits.series, or assign namespaces to fewer teams with the rules in teams.",
    }),
    ...problem(queuesFolded, {
      severity: "info",
      code: "queues-folded",
      message: `${queuesFolded} queues share the label value "other"; the budget is ${limits.teams} queues and ${limits.series} series.`,
      nextStep: "Raise limits.teams or limits.series; /api/v1/queues has every queue.",
    }),
  ];
}
