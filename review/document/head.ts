import { z } from "zod";
import { amount, costs, moment, name, ratio } from "./parts.ts";

/** A window of time: a week of ISO 8601, a calendar month, or any other; all of it UTC. */
export const windowSchema = z.object({
  kind: z.enum(["week", "month", "span"]),
  label: z.string().max(100).describe("`2026-W46`, `2026-10`, or `2026-11-09 to 2026-11-12`."),
  from: moment,
  to: moment.describe("End, itself not in it."),
  isOver: z.boolean().describe("It ended before the review was written."),
});

/** How much of the window is counted. What is not covered is in no number of the review. */
export const coverageSchema = z.object({
  windowSeconds: amount.describe("Of the part of the window that has passed, added up over clusters."),
  coveredSeconds: amount,
  ratio,
  byCluster: z.array(z.object({ cluster: name, windowSeconds: amount, coveredSeconds: amount, ratio })),
  gaps: z
    .array(z.object({ cluster: name, from: moment, to: moment, reason: z.string().max(100) }))
    .describe("The longest ones first."),
  gapsLeftOut: amount,
});

/** Prices at which the window was counted. */
export const priceSchema = z.object({
  cluster: name,
  source: z.string().max(100),
  basis: z.string().max(100),
  currency: z.string().max(20),
  datedFrom: moment.nullable().describe("Of the oldest price; null where a price has no date."),
  datedTo: moment.nullable(),
  pools: z.array(name),
});

/** The totals of a period, from which tiles and their sparklines are made. GPU-hours. */
export const periodSchema = z.object({
  label: z.string().max(100),
  from: moment,
  to: moment,
  coverage: ratio.nullable().describe("null where nothing of it is known; then the amounts say nothing."),
  coveredSeconds: amount.describe("Added up over clusters."),
  capacity: amount,
  allocated: amount.describe("By pods, on nodes that can be used."),
  active: amount,
  judged: amount.describe("Allocated and observed: active, underutilized, stalled or idle."),
  pending: amount.nullable().describe("Work that could have run and waited; null where queues are not known."),
  usable: amount.describe("On nodes that are ready and schedulable."),
  costs,
  notAllocatedCosts: costs,
});

export type ReviewWindow = z.infer<typeof windowSchema>;
export type Coverage = z.infer<typeof coverageSchema>;
export type UsedPrices = z.infer<typeof priceSchema>;
export type Period = z.infer<typeof periodSchema>;
