import type { AccountCounters } from "../accounts/counters.ts";
import type { Analysis } from "../analysis/analysis.ts";
import type { LabelsOf, MetricName } from "../catalogue/catalogue.ts";
import type { MetricType } from "../catalogue/metric.ts";
import type { Health } from "./health.ts";
import type { MomentSums } from "./momentSums.ts";
import type { TeamSeries } from "./teamSeries.ts";

/** One series of a metric, with a value for each of its labels. Unknown values have no sample. */
export interface Sample<Label extends string = string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** What the budget of series left out of a page. */
export interface BudgetOutcome {
  /** Series that were cut or had the same labels as another. */
  readonly seriesDropped: number;
  /** Teams that share the name `other`. */
  readonly teamsFolded: number;
}

/** All that a page is made of. */
export interface FamilyInput {
  readonly health: Health;
  /** Answers of a moment with its teams; `null`: only Fairlead's own health is known. */
  readonly moment: {
    readonly analysis: Analysis;
    readonly sums: MomentSums;
    readonly teams: readonly TeamSeries[];
  } | null;
  readonly outcome: BudgetOutcome;
  /** Running totals; they have their own budget and are never folded again. `null`: not known, or too old. */
  readonly accounts: AccountCounters | null;
}

/** Makes the samples of one metric. Pure. */
export type Producer<Name extends MetricName> = (input: FamilyInput) => readonly Sample<LabelsOf<Name>>[];

/** One producer for each metric: a metric that nothing produces does not compile. */
export type Producers<Name extends MetricName> = { readonly [N in Name]: Producer<N> };

/** A metric with its series, ready to be rendered in any format. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  /** In the order in which they are printed. */
  readonly labelNames: readonly string[];
  /** Values in the order of `labelNames`; sorted, no two alike. */
  readonly series: readonly { readonly labelValues: readonly string[]; readonly value: number }[];
}
