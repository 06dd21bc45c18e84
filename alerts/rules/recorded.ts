import type { CounterName, LabelsOf, SeriesName } from "../../exporter/catalogue/catalogue.ts";
import {
  aggregate,
  arithmetic,
  type Duration,
  type Expression,
  increase,
  type Matchers,
  matchesNot,
  metric,
} from "../../exporter/catalogue/promql.ts";
import {
  narrowed,
  type RecordedMatchers,
  recordedSeries,
  replicaLabels,
  type SeriesSelector,
  scrapedTogether,
  union,
} from "../../exporter/catalogue/promqlSeries.ts";
import type { AlertLabels, AlertName } from "../alertList.ts";
import type { AlertsConfig } from "../thresholds.ts";
import type { RecordedLabels, RecordedName } from "./recordedNames.ts";

/** The rules of some recorded series; each keeps exactly the labels that its name promises. */
export type Recordings<Name extends RecordedName> = {
  readonly [One in Name]: (config: AlertsConfig) => Expression<RecordedLabels<One>>;
};

/** The expressions of some alerts; each keeps exactly the labels that the list of alerts promises. */
export type Conditions<Name extends AlertName> = {
  readonly [One in Name]: {
    readonly expression: (config: AlertsConfig) => Expression<AlertLabels<One>>;
    /**
     * The template of the annotation `description`, with `$labels` and `$value`; a function where it depends on the settings.
     */
    readonly description: string | ((config: AlertsConfig) => string);
  };
};

/** A recorded series. */
export function recorded<Name extends RecordedName>(
  name: Name,
  matchers?: RecordedMatchers<RecordedLabels<Name>>,
): SeriesSelector<RecordedLabels<Name>> {
  return recordedSeries<RecordedLabels<Name>>(name, matchers);
}

/**
 * A recorded series without what the configuration excludes from an alert; `renamed` has the labels whose name in the series
 * differs.
 */
export function subject<Name extends RecordedName>(
  name: Name,
  alert: AlertName,
  config: AlertsConfig,
  renamed: Readonly<Record<string, string>> = {},
): SeriesSelector<RecordedLabels<Name>> {
  const excluded = Object.entries(config.alerts[alert].exclude).flatMap(([label, patterns]) =>
    patterns === undefined ? [] : [[renamed[label] ?? label, matchesNot(patterns.join("|"))] as const],
  );
  return narrowed(recorded(name), excluded);
}

/** The series of the replica that is read, for rules: series of two replicas are never merged. */
export function ofOneReplica<Labels extends string>(of: Expression<Labels>): Expression<Labels> {
  return scrapedTogether(of, recorded("cluster:fairlead_replica:longest"), replicaLabels);
}

/** The sum of a metric of one replica by the labels `by`. */
export function sumOf<Name extends SeriesName, By extends LabelsOf<Name>>(
  name: Name,
  by: readonly By[],
  matchers?: Matchers<Name>,
): Expression<By> {
  return aggregate("sum", ofOneReplica(metric(name, matchers)), by);
}

/** The largest value of a metric of one replica by the labels `by`, for a metric with the same number in each of its series. */
export function maxOf<Name extends SeriesName, By extends LabelsOf<Name>>(
  name: Name,
  by: readonly By[],
  matchers?: Matchers<Name>,
): Expression<By> {
  return aggregate("max", ofOneReplica(metric(name, matchers)), by);
}

/** The increase of a counter of one replica in a window, summed by the labels `by`. */
export function increaseOf<Name extends CounterName, By extends LabelsOf<Name>>(
  name: Name,
  window: Duration,
  by: readonly By[],
  matchers?: Matchers<Name>,
): Expression<By> {
  return aggregate("sum", ofOneReplica(increase(metric(name, matchers), window)), by);
}

/**
 * The expression, with 0 where `known` has a value and `of` has none: nothing of it exists, which is not the same as unknown.
 */
export function orZero<Labels extends string>(of: Expression<Labels>, known: Expression<Labels>): Expression<Labels> {
  return union(of, arithmetic(known, "*", 0));
}
