import {
  booleanOverrideProcessor,
  type ConfigOverrideRule,
  dataLinksOverrideProcessor,
  displayNameOverrideProcessor,
  FieldConfigOptionsRegistry,
  type FieldConfigPropertyItem,
  type FieldConfigSource,
  FieldType,
  identityOverrideProcessor,
  numberOverrideProcessor,
  stringOverrideProcessor,
  thresholdsOverrideProcessor,
  unitOverrideProcessor,
  valueMappingsOverrideProcessor,
} from "@grafana/data";
import { z } from "zod";
import type { Panel } from "./dashboardJson.ts";

const rule = z.object({
  matcher: z.looseObject({ id: z.string(), options: z.unknown().optional() }),
  properties: z.array(z.object({ id: z.string(), value: z.unknown().optional() })),
});
const steps = z.array(z.object({ color: z.string(), value: z.number().nullish() }));
const thresholds = z.looseObject({ mode: z.string(), steps });

/** The value with the first step of thresholds at minus infinity: JSON has no infinity, so the step begins at null there. */
function withLowestStep(value: unknown): unknown {
  const read = thresholds.safeParse(value);
  if (!read.success) return value;
  const { steps: all } = read.data;
  return { ...read.data, steps: all.map((step) => ({ ...step, value: step.value ?? Number.NEGATIVE_INFINITY })) };
}

/** The settings of visualizations where a dashboard sets none. */
const customDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  timeseries: {
    drawStyle: "line",
    lineInterpolation: "linear",
    lineWidth: 1,
    fillOpacity: 0,
    gradientMode: "none",
    spanNulls: false,
    showPoints: "auto",
    pointSize: 5,
    axisPlacement: "auto",
    axisLabel: "",
    axisColorMode: "text",
    axisBorderShow: false,
    axisCenteredZero: false,
    barAlignment: 0,
    scaleDistribution: { type: "linear" },
    hideFrom: { tooltip: false, viz: false, legend: false },
    stacking: { mode: "none", group: "A" },
    thresholdsStyle: { mode: "off" },
  },
  table: { align: "auto", cellOptions: { type: "auto" }, inspect: false, filterable: false },
  "state-timeline": { fillOpacity: 70, lineWidth: 0 },
  barchart: { fillOpacity: 80, lineWidth: 1 },
};

/** The colours of visualizations where a dashboard sets none. */
const colorModes: Readonly<Record<string, string>> = { timeseries: "palette-classic", barchart: "palette-classic" };

/** The field configuration of a panel, including the defaults of its visualization. */
export function fieldConfigOf(panel: Panel): FieldConfigSource {
  const { custom } = panel.fieldConfig.defaults;
  const overrides: ConfigOverrideRule[] = panel.fieldConfig.overrides.map((one) => {
    const { matcher, properties } = rule.parse(one);
    return {
      matcher: { ...matcher },
      properties: properties.map(({ id, value }) => ({
        id,
        value: id === "thresholds" ? withLowestStep(value) : value,
      })),
    };
  });
  const own = typeof custom === "object" && custom !== null ? custom : {};
  const defaults = Object.fromEntries(
    Object.entries(panel.fieldConfig.defaults).map(([name, value]) => [
      name,
      name === "thresholds" ? withLowestStep(value) : value,
    ]),
  );
  return {
    defaults: {
      color: { mode: colorModes[panel.type] ?? "thresholds" },
      ...defaults,
      custom: { ...customDefaults[panel.type], ...own },
    },
    overrides,
  };
}

type Process = FieldConfigPropertyItem["process"];

const property = (
  id: string,
  path: string,
  process: Process,
  more: Partial<FieldConfigPropertyItem> = {},
): FieldConfigPropertyItem => ({
  id,
  path,
  name: id,
  description: "",
  editor: () => null,
  override: () => null,
  process,
  shouldApply: () => true,
  ...more,
});

const onNumbers: Partial<FieldConfigPropertyItem> = { shouldApply: (field) => field.type === FieldType.number };

const standard: readonly FieldConfigPropertyItem[] = [
  property("displayName", "displayName", displayNameOverrideProcessor),
  property("unit", "unit", unitOverrideProcessor),
  property("min", "min", numberOverrideProcessor, onNumbers),
  property("max", "max", numberOverrideProcessor, onNumbers),
  property("fieldMinMax", "fieldMinMax", booleanOverrideProcessor, onNumbers),
  property("decimals", "decimals", numberOverrideProcessor, onNumbers),
  property("noValue", "noValue", stringOverrideProcessor),
  property("color", "color", identityOverrideProcessor),
  property("thresholds", "thresholds", thresholdsOverrideProcessor),
  property("mappings", "mappings", valueMappingsOverrideProcessor),
  property("links", "links", dataLinksOverrideProcessor),
];

/**
 * The properties of Grafana's field configuration and of the panel's visualization. The latter are all those that the panel
 * names, because the visualizations themselves are not on npm.
 */
export function fieldConfigRegistry(panel: Panel): FieldConfigOptionsRegistry {
  const { defaults, overrides } = fieldConfigOf(panel);
  const named = overrides.flatMap(({ properties }) => properties.map(({ id }) => id));
  const custom = new Set([
    ...Object.keys(defaults.custom ?? {}),
    ...named.filter((id) => id.startsWith("custom.")).map((id) => id.slice("custom.".length)),
  ]);
  const items = [...custom].map((path) =>
    property(`custom.${path}`, path, identityOverrideProcessor, { isCustom: true }),
  );
  return new FieldConfigOptionsRegistry(() => [...standard, ...items]);
}
