import { z } from "zod";

const record = z.record(z.string(), z.unknown());

const target = z.looseObject({
  refId: z.string().default("A"),
  expr: z.string().default(""),
  legendFormat: z.string().optional(),
  format: z.string().default("time_series"),
  instant: z.boolean().default(false),
  interval: z.string().optional(),
  hide: z.boolean().default(false),
});

const panel = z.looseObject({
  id: z.number(),
  type: z.string(),
  title: z.string().default(""),
  description: z.string().default(""),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  targets: z.array(target).default([]),
  fieldConfig: z
    .looseObject({ defaults: record.default({}), overrides: z.array(z.unknown()).default([]) })
    .prefault({}),
  options: record.default({}),
  transformations: z.array(z.looseObject({ id: z.string() })).default([]),
  interval: z.string().nullish(),
  maxDataPoints: z.number().nullish(),
  timeFrom: z.string().nullish(),
  transparent: z.boolean().default(false),
  collapsed: z.boolean().default(false),
  repeat: z.string().nullish(),
});

const variable = z.looseObject({
  name: z.string(),
  type: z.string(),
  label: z.string().nullish(),
  hide: z.number().default(0),
  includeAll: z.boolean().default(false),
  allValue: z.string().nullish(),
  query: z.unknown().optional(),
  definition: z.string().optional(),
  regex: z.string().default(""),
  options: z.array(z.looseObject({ value: z.unknown() })).default([]),
  current: z.looseObject({ value: z.unknown().optional(), text: z.unknown().optional() }).default({}),
});

/** The parts of a classic (v1) dashboard that are read; the rest is ignored. */
export const dashboardSchema = z.looseObject({
  uid: z.string().default("dashboard"),
  title: z.string().default(""),
  time: z.object({ from: z.string(), to: z.string() }).default({ from: "now-6h", to: "now" }),
  panels: z.array(panel.extend({ panels: z.array(panel).default([]) })).default([]),
  templating: z.object({ list: z.array(variable).default([]) }).default({ list: [] }),
});

export type Dashboard = z.infer<typeof dashboardSchema>;
export type TopPanel = Dashboard["panels"][number];
export type Panel = z.infer<typeof panel>;
export type Target = z.infer<typeof target>;
export type Variable = z.infer<typeof variable>;
