import { ofOneReplicaAnytime } from "../../alerts/rules/recorded.ts";
import { type RecordedLabels, type RecordedName, recordedLabels } from "../../alerts/rules/recordedNames.ts";
import {
  type CounterName,
  definitionOf,
  type LabelsOf,
  metricNames,
  type SeriesName,
} from "../../exporter/catalogue/catalogue.ts";
import {
  aggregate,
  arithmetic,
  type Expression,
  increase,
  type Matcher,
  type Matchers,
  matches,
  rate,
  type Selector,
  selectorText,
  type Window,
  where,
} from "../../exporter/catalogue/promql.ts";
import { type RecordedMatchers, type SeriesSelector, union } from "../../exporter/catalogue/promqlSeries.ts";
import type { ChosenVariable, VariableName } from "./variables.ts";

/**
 * The series of a dashboard. Each is narrowed by itself to what the reader chose: by `cluster`, and by every other variable of
 * the dashboard whose label it has; a matcher for that label goes before the variable.
 */
export interface Queries {
  /** A recorded series: of one replica already. The first choice. */
  readonly recorded: <Name extends RecordedName>(
    name: Name,
    matchers?: RecordedMatchers<RecordedLabels<Name>>,
  ) => SeriesSelector<RecordedLabels<Name>>;
  /** A metric as it is scraped, of every replica: for what is asked of each replica alone. */
  readonly metric: <Name extends SeriesName>(name: Name, matchers?: Matchers<Name>) => Selector<Name>;
  /** A metric of one replica, added up to the labels `by`. */
  readonly sum: <Name extends SeriesName, By extends LabelsOf<Name>>(
    name: Name,
    by: readonly By[],
    matchers?: Matchers<Name>,
  ) => Expression<By>;
  /** The largest of a metric of one replica for the labels `by`: for what is the same number in each of its series. */
  readonly max: <Name extends SeriesName, By extends LabelsOf<Name>>(
    name: Name,
    by: readonly By[],
    matchers?: Matchers<Name>,
  ) => Expression<By>;
  /** By how much a counter of one replica rose in a window, added up to the labels `by`. */
  readonly increase: <Name extends CounterName, By extends LabelsOf<Name>>(
    name: Name,
    window: Window,
    by: readonly By[],
    matchers?: Matchers<Name>,
  ) => Expression<By>;
  /** How fast a counter of one replica rose a second, as a mean over a window, added up to the labels `by`. */
  readonly rate: <Name extends CounterName, By extends LabelsOf<Name>>(
    name: Name,
    window: Window,
    by: readonly By[],
    matchers?: Matchers<Name>,
  ) => Expression<By>;
  /** The same queries, not narrowed by some variables: to compare what was chosen with the rest. */
  readonly without: (...variables: readonly ChosenVariable[]) => Queries;
}

/** Queries that these variables narrow. */
export function queriesFor(variables: readonly VariableName[]): Queries {
  const raw = <Name extends SeriesName>(name: Name, matchers: Matchers<Name> = {}): Selector<Name> => {
    const asked: readonly [string, string | Matcher | undefined][] = Object.entries(matchers);
    return { text: narrow(name, labelsOf(name), variables, asked), compound: false, metric: name };
  };
  return {
    recorded: (name, matchers = {}) => {
      const asked: readonly [string, string | Matcher | undefined][] = Object.entries(matchers);
      return { text: narrow(name, recordedLabels[name], variables, asked), compound: false, metric: name };
    },
    metric: raw,
    sum: (name, by, matchers) => aggregate("sum", ofOneReplicaAnytime(raw(name, matchers)), by),
    max: (name, by, matchers) => aggregate("max", ofOneReplicaAnytime(raw(name, matchers)), by),
    increase: (name, window, by, matchers) =>
      aggregate("sum", ofOneReplicaAnytime(increase(raw(name, matchers), window)), by),
    rate: (name, window, by, matchers) => aggregate("sum", ofOneReplicaAnytime(rate(raw(name, matchers), window)), by),
    without: (...left) => queriesFor(variables.filter((variable) => !left.some((one) => one === variable))),
  };
}

/** What part one is of another with the same labels; nothing where the other is 0. */
export function partOf<Labels extends string>(part: Expression<Labels>, whole: Expression<Labels>): Expression<Labels> {
  return arithmetic(part, "/", where(whole, ">", 0));
}

/** 0 where `known` has a value and `of` has none: nothing of it is there, which is not the same as not known. */
export function orZero<Labels extends string>(of: Expression<Labels>, known: Expression<Labels>): Expression<Labels> {
  return union(of, arithmetic(known, "*", 0));
}

function narrow(
  name: string,
  labels: readonly string[],
  variables: readonly VariableName[],
  asked: readonly (readonly [string, string | Matcher | undefined])[],
): string {
  const chosen = variables
    .filter((variable) => labels.includes(variable) && !asked.some(([label]) => label === variable))
    .map((variable) => [variable, matches(`$${variable}`)] as const);
  return selectorText(name, [...chosen, ...asked]);
}

const labelsByMetric = new Map<string, readonly string[]>(
  metricNames.map((name): [string, readonly string[]] => [name, definitionOf(name).labels]),
);

function labelsOf(name: SeriesName): readonly string[] {
  return labelsByMetric.get(name) ?? labelsByMetric.get(name.replace(/_(bucket|sum|count)$/, "")) ?? [];
}
