import type { AccountCounters } from "../accounts/counters.ts";
import type { Analysis } from "../analysis/analysis.ts";
import type { MomentSums } from "../analysis/sums/momentSums.ts";
import type { LabelsOf, MetricName } from "../catalogue/catalogue.ts";
import type { MetricType } from "../catalogue/metric.ts";
import type { Budgets } from "../history/budgetWatch.ts";
import type { Advice } from "../model/recommendation.ts";
import type { CostSeries } from "./costSeries.ts";
import type { Health } from "./health.ts";
import type { QueueFold } from "./queueSeries.ts";
import type { TeamSeries } from "./teamSeries.ts";

/** What a histogram has besides its count. */
interface HistogramValue {
  /** How many values were counted up to each bound of the metric's buckets, cumulative, `+Inf` last. */
  readonly buckets: readonly number[];
  readonly sum: number;
}

/** One series of a metric, with a value for each of its labels but `cluster`, which every series gets. */
interface Sample<Label extends string = string> {
  readonly labels: Readonly<Record<Label, string>>;
  /** The value; for a histogram, how many values it counted. A sample whose value is not known becomes no series. */
  readonly value: number | null | undefined;
  /** Present for histograms alone. */
  readonly histogram?: HistogramValue;
}

/** What the budget of series left out of a page. */
interface BudgetOutcome {
  /** Series that were cut or had the same labels as another. */
  readonly seriesDropped: number;
  /** Teams that share the name `other`. */
  readonly teamsFolded: number;
  /** Queues that share the name `other`. */
  readonly queuesFolded: number;
}

/** Everything that a page is made of. */
export interface FamilyInput {
  readonly health: Health;
  /** Answers of a moment with its teams; `null`: only Fairlead's own health is known. */
  readonly moment: {
    readonly analysis: Analysis;
    readonly sums: MomentSums;
    readonly teams: readonly TeamSeries[];
    readonly queues: QueueFold;
    readonly costs: CostSeries;
  } | null;
  readonly outcome: BudgetOutcome;
  /** Running totals; they have their own budget and are never folded again. `null`: not known, or too old. */
  readonly accounts: AccountCounters | null;
  /** Setting `cost.topWorkloads`. */
  readonly topWorkloads: number;
  /** How budgets are doing; `null`: none are set, or nothing reports it. */
  readonly budgets: Budgets | null;
  /** The advice; `null`: there is no adviser. */
  readonly advice: Advice | null;
  /** Setting `advice.topSeries`. */
  readonly topRecommendations: number;
}

/** Makes the samples of one metric; nothing where nothing of it is known. Pure. */
type Producer<Name extends MetricName> = (
  input: FamilyInput,
) => readonly Sample<Exclude<LabelsOf<Name>, "cluster">>[] | null | undefined;

/** One producer for each metric: a metric that nothing produces does not compile. */
export type Producers<Name extends MetricName> = { readonly [N in Name]: Producer<N> };

/** A metric with its series, ready to be rendered in any format. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  /** Names of the labels, in the order in which they are printed. */
  readonly labelNames: readonly string[];
  /** Upper bounds of a histogram's buckets, without `+Inf`; only histograms have them. */
  readonly bounds?: readonly number[];
  /** The series; no two have the same labels. */
  readonly series: readonly Series[];
}

/** One series of a family; for a histogram, all of its series together. */
export interface Series {
  /** Values of the labels, in the order of `labelNames`. */
  readonly labelValues: readonly string[];
  /** The value; for a histogram, how many values it counted. */
  readonly value: number;
  /** Present for histograms alone. */
  readonly histogram?: HistogramValue;
}

/** How many series one entry of the family is for Prometheus: a histogram has one for each bucket, `+Inf`, sum and count. */
export function seriesPerEntry({ bounds }: Pick<Family, "bounds">): number {
  return bounds === undefined ? 1 : bounds.length + 3;
}
