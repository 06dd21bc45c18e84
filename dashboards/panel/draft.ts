import type {
  DataLinkJson,
  FieldConfigSourceJson,
  LinkJson,
  TargetJson,
  TransformationJson,
  ValueMappingJson,
} from "../grafana/types.ts";
import { colours } from "./colours.ts";
import { type Levels, levelsText, neutral } from "./levels.ts";
import type { Unit } from "./units.ts";

/** A link from a value of a panel: to the next dashboard, with the labels of the value. */
export interface ValueLink {
  readonly title: string;
  readonly url: string;
}

/** Columns and rows of Grafana's grid, which has 24 columns; a row is about 38 pixels high. */
export type Size = readonly [width: number, height: number];

/** The texts and settings of every panel of numbers. */
export interface PanelTexts {
  /** The content of the panel: a noun with its unit, at most 45 characters. Questions are for rows and descriptions. */
  readonly title: string;
  /** What it means, what is normal, and what to do: whole sentences. The meaning of the levels is added to it. */
  readonly meaning: string;
  readonly unit: Unit;
  readonly size: Size;
  /** What its colours mean; without levels it is blue. */
  readonly levels?: Levels;
  /** The text that is shown where there is no value; never 0. */
  readonly noValue?: string;
  readonly decimals?: number;
  readonly min?: number;
  readonly max?: number;
  /** The links from a value. */
  readonly links?: readonly ValueLink[];
}

/** A panel without the parts that depend on its neighbours: its id and its place. */
export interface PanelDraft {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly size: Size;
  readonly targets: readonly TargetJson[];
  readonly options: object;
  readonly fieldConfig: FieldConfigSourceJson;
  readonly transformations?: readonly TransformationJson[];
  /** Links in the panel's head. */
  readonly links?: readonly LinkJson[];
}

/** The description of a panel, with what its colours mean. */
export function descriptionOf({ meaning, levels = neutral, unit }: Omit<PanelTexts, "size">): string {
  return `${meaning}${levelsText(levels, unit)}`;
}

/** The defaults that all kinds of panels set for their numbers. */
export function fieldDefaults(texts: Omit<PanelTexts, "size">) {
  const { unit, levels = neutral, links = [], noValue = "unknown" } = texts;
  const decimals = texts.decimals ?? unit.decimals;
  const [min, max] = [texts.min ?? unit.min, texts.max ?? unit.max];
  return {
    unit: unit.id,
    ...(decimals === undefined ? {} : { decimals }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    noValue,
    thresholds: thresholdsOf(levels),
    // Without this mapping, a missing value would have the colour of the lowest level: red where low is bad.
    mappings: [unknownMapping(noValue)],
    links: [...links, ...runbookLinks(levels)].map(linkJson),
  } as const;
}

function unknownMapping(text: string): ValueMappingJson {
  return { type: "special", options: { match: "null+nan", result: { text, color: colours.unknown, index: 0 } } };
}

/** Levels in Grafana's form. */
export function thresholdsOf(levels: Levels) {
  return {
    mode: "absolute",
    steps: levels.steps.map(({ from, colour }) => ({ value: from, color: colours[colour] })),
  } as const;
}

/** The links from a value that an alert judges: to the runbooks of its alerts. */
export function runbookLinks({ alerts }: Levels): readonly ValueLink[] {
  return alerts.map(({ name, runbook }) => ({ title: `Runbook of ${name}`, url: runbook }));
}

/** A data link in Grafana's form. */
export function linkJson({ title, url }: ValueLink): DataLinkJson {
  return { title, url, targetBlank: false };
}
