import { z } from "zod";
import { faultCauseSchema, outageSchema } from "./faults.ts";
import { coverageSchema, periodSchema, priceSchema, windowSchema } from "./head.ts";
import { amount, costs, moment, name } from "./parts.ts";
import { servedSchema } from "./serving.ts";
import { heldStartsSchema } from "./startTimes.ts";
import { noteSchema, termsSchema, tileSchema } from "./tiles.ts";
import { fittedGangsSchema } from "./topology.ts";
import { demandSchema, teamSchema, waitRowSchema, waterfallStageSchema } from "./use.ts";
import {
  actionSchema,
  fragmentationSchema,
  idleNodePoolSchema,
  jobSchema,
  nodeStreakSchema,
  notAdvisedSchema,
  runwaySchema,
  trackRecordSchema,
} from "./waste.ts";

/** Version of the document; readers refuse other versions. */
export const reviewVersion = 1;

/**
 * A capacity review: everything that its page shows, as data. HTML, Markdown and CSV are renderings of it and calculate
 * nothing. Amounts of GPU time are physical GPU-hours; what is not known is `null`, or a section that is `null` where its
 * source was not asked; money is by currency.
 */
export const reviewSchema = z.object({
  schemaVersion: z.literal(reviewVersion),
  clusters: z.array(name).min(1),
  team: name.nullable().describe("The only team that it covers; null: all."),
  writtenAt: moment,
  source: z.enum(["ledger", "prometheus", "merged"]),
  window: windowSchema,
  coverage: coverageSchema,
  prices: z.array(priceSchema),
  unpricedGpuHours: amount.nullable(),
  estimatedGpuHours: amount
    .nullable()
    .describe("The part of the allocated GPU time whose device or split of activity is estimated."),
  unobservedGpuHours: amount.describe("Allocated without telemetry."),
  periods: z.array(periodSchema).describe("Those before, the oldest first; the window itself last."),
  tiles: z.array(tileSchema),
  terms: termsSchema,
  waterfall: z.array(waterfallStageSchema),
  demand: z.array(demandSchema).nullable(),
  teams: z.array(teamSchema),
  waits: z.object({ bySize: z.array(waitRowSchema), byQueue: z.array(waitRowSchema) }).nullable(),
  startTimes: z
    .array(heldStartsSchema)
    .nullable()
    .default(null)
    .describe("How often the times that were given for waiting work have held; null: no start is remembered."),
  idleNodes: z.object({ pools: z.array(idleNodePoolSchema), streaks: z.array(nodeStreakSchema) }).nullable(),
  fragmentation: z.array(fragmentationSchema).nullable(),
  topology: z
    .array(fittedGangsSchema)
    .nullable()
    .default(null)
    .describe(
      "Which gangs would have fitted within one domain of a level; null: no level is known, or nobody kept it.",
    ),
  faults: z
    .object({ causes: z.array(faultCauseSchema), outages: z.array(outageSchema) })
    .nullable()
    .default(null)
    .describe("What faults of hardware and nodes took away; null: nobody kept it."),
  serving: z
    .array(servedSchema)
    .nullable()
    .default(null)
    .describe("Workloads that serve and count their requests, those with the most GPU time; null: nobody kept it."),
  jobs: z.object({ count: amount, costs, byCost: z.array(jobSchema), byWaste: z.array(jobSchema) }).nullable(),
  runway: z.array(runwaySchema).nullable(),
  actions: z.array(actionSchema).nullable().describe("At most five that are open, the one with the most worth first."),
  lastActions: z.array(actionSchema).nullable().describe("Those that were taken, expired or dismissed in the window."),
  lastActionsLeftOut: amount,
  notAdvised: z
    .array(notAdvisedSchema)
    .nullable()
    .default(null)
    .describe("What was looked at and not advised, and why; null: nobody kept it."),
  notAdvisedLeftOut: amount.default(0),
  trackRecords: z
    .array(trackRecordSchema)
    .nullable()
    .default(null)
    .describe("How those that were shown in the window turned out, as far as it is known."),
  notes: z.array(noteSchema),
});

export type Review = z.infer<typeof reviewSchema>;
