import { type ReadingName, readingLabels } from "../../alerts/rules/readings.ts";
import { type RecordedLabels, type RecordedName, recordedLabels } from "../../alerts/rules/recordedNames.ts";
import type { LabelValue, SeriesName } from "../../exporter/catalogue/catalogue.ts";
import {
  aggregate,
  arithmetic,
  call,
  type Expression,
  type Matcher,
  matches,
  selectorText,
  where,
} from "../../exporter/catalogue/promql.ts";
import type { RecordedMatchers, SeriesSelector } from "../../exporter/catalogue/promqlSeries.ts";
import type { ChosenVariable, VariableName } from "./variables.ts";

/** The recorded series with the metric of the replica that is read. */
type ReadingOf<Name extends SeriesName> = Extract<ReadingName, `${string}:${Name}:${string}`>;
type LabelsRead<Name extends SeriesName> = (typeof readingLabels)[ReadingOf<Name>][number];

/** A metric that panels read; other metrics have no recorded series of their own. */
export type ReadMetric = { [Name in SeriesName]: ReadingOf<Name> extends never ? never : Name }[SeriesName];

/** Matchers for the labels of a metric. */
export type ReadMatchers<Name extends ReadMetric> = {
  readonly [Label in LabelsRead<Name>]?: LabelValue<Name, Label> | Matcher;
};

/**
 * The series of a dashboard. All are recorded, so no panel decides which replica it reads. Each is automatically narrowed to
 * what the reader chose: by `cluster`, and by every other variable of the dashboard whose label it has. A matcher for that
 * label replaces the variable.
 */
export interface Queries {
  /** A recorded series. */
  readonly recorded: <Name extends RecordedName>(
    name: Name,
    matchers?: RecordedMatchers<RecordedLabels<Name>>,
  ) => SeriesSelector<RecordedLabels<Name>>;
  /** The sum of a metric by the labels `by`. */
  readonly sum: <Name extends ReadMetric, By extends LabelsRead<Name>>(
    name: Name,
    by: readonly By[],
    matchers?: ReadMatchers<Name>,
  ) => Expression<By>;
  /** The largest value of a metric by the labels `by`, for a metric with the same number in each of its series. */
  readonly max: <Name extends ReadMetric, By extends LabelsRead<Name>>(
    name: Name,
    by: readonly By[],
    matchers?: ReadMatchers<Name>,
  ) => Expression<By>;
  /** The same queries, not narrowed by some variables, to compare what was chosen with the rest. */
  readonly without: (...variables: readonly ChosenVariable[]) => Queries;
}

/** Queries that these variables narrow. */
export function queriesFor(variables: readonly VariableName[]): Queries {
  const read = <Labels extends string>(name: ReadMetric, matchers: object = {}): Expression<Labels> => {
    const reading = readingByMetric.get(name);
    if (reading === undefined) throw new Error(`no rule records ${name}`);
    const asked: readonly [string, string | Matcher | undefined][] = Object.entries(matchers);
    return call(narrow(reading, readingLabels[reading], variables, asked));
  };
  return {
    recorded: (name, matchers = {}) => {
      const asked: readonly [string, string | Matcher | undefined][] = Object.entries(matchers);
      return { text: narrow(name, recordedLabels[name], variables, asked), compound: false, metric: name };
    },
    sum: (name, by, matchers) => aggregate("sum", read(name, matchers), by),
    max: (name, by, matchers) => aggregate("max", read(name, matchers), by),
    without: (...left) => queriesFor(variables.filter((variable) => !left.some((one) => one === variable))),
  };
}

/** The ratio of one number to another with the same labels; it has no series where the other is 0. */
export function partOf<Labels extends string>(part: Expression<Labels>, whole: Expression<Labels>): Expression<Labels> {
  return arithmetic(part, "/", where(whole, ">", 0));
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

/** The recorded series from which each metric is read, by the name of the metric. */
const readingByMetric: ReadonlyMap<string, ReadingName> = readingsByMetric();

function readingsByMetric(): ReadonlyMap<string, ReadingName> {
  const found = new Map<string, ReadingName>();
  for (const name in readingLabels) if (isReading(name)) found.set(name.split(":")[1] ?? "", name);
  return found;
}

function isReading(name: string): name is ReadingName {
  return Object.hasOwn(readingLabels, name);
}
