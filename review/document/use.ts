import { z } from "zod";
import { waterfallLevels } from "../../exporter/history/waterfall.ts";
import { gpuStates } from "../../exporter/model/gpuStates.ts";
import { amount, costs, moment, name, ratio, waits } from "./parts.ts";

const gpuTime = { gpuHours: amount, costs };

/** A loss between two levels of the waterfall. */
export const dropSchema = z.object({
  state: z.enum(gpuStates),
  isAllocated: z.boolean(),
  ...gpuTime,
  strandedGpuHours: amount
    .nullable()
    .describe("Of free GPUs, those on nodes where no typical pod fits; null for other states, and where not known."),
  owner: z.string().max(100).describe("Who can act on it."),
});

/** Where the GPU time went: each level is the next one and its own drops. */
export const waterfallStageSchema = z.object({
  level: z.enum(waterfallLevels),
  ...gpuTime,
  drops: z.array(dropSchema),
});

/** A step of the demand chart: means over its covered time, in GPUs; `null` where nothing is known. */
export const demandStepSchema = z.object({
  at: moment,
  capacity: amount.nullable(),
  guaranteed: amount.nullable(),
  allocated: amount.nullable(),
  active: amount.nullable(),
  pending: amount.nullable(),
});

/** What one node more of a pool would have done for the waits of a window. */
export const oneMoreNodeSchema = z.object({
  gpus: amount.nullable().describe("GPUs of one node; null: nodes differ, or none was seen."),
  p95Seconds: amount
    .nullable()
    .describe(
      "The wait that 95 of 100 pieces of work did not exceed; null: none ended, or their queues wait for others, too.",
    ),
  lowSeconds: amount.nullable().describe("The same with one node more, at least; null: not known."),
  highSeconds: amount.nullable().describe("The same, at most."),
  costsPerMonth: costs.describe("What a mean node of the pool costs in 730 hours."),
  reason: z.string().max(300).nullable().describe("Why it is not known; null: it is."),
});

/** Demand of one quota domain: the pools (GPU models) over which one quota counts. */
export const demandSchema = z.object({
  cluster: name,
  domain: name,
  pools: z.array(name),
  stepSeconds: amount,
  steps: z.array(demandStepSchema),
  p95DemandGpus: amount.nullable().describe("95 of 100 covered hours had at most this demand (allocated + pending)."),
  meanCapacityGpus: amount.nullable(),
  oneMoreNode: oneMoreNodeSchema.nullable().default(null).describe("null: a review from before did not say."),
});

/** An amount that reviews of older versions do not have. */
const later = amount.nullable().default(null);

/** What a team had, GPU-hours unless the name says otherwise. */
export const teamSchema = z.object({
  team: name.describe("Empty: no team."),
  allocated: amount,
  active: amount,
  judged: amount,
  idle: amount,
  stalled: later.describe("Looked busy and computed nothing."),
  underutilized: amount,
  whole: later.describe(
    "Allocated, and not waiting for the rest of a gang, for a start, or for a GPU that cannot be used.",
  ),
  utilization: ratio.nullable(),
  entitled: amount.nullable().describe("Of the queues of this team alone; null where entitlement is not known."),
  deviation: z
    .number()
    .nullable()
    .describe("Allocated less entitled in the judged time: below 0 others owe it GPU time."),
  shortByOthers: amount.nullable().describe("Missed because it was allocated to others above their entitlement."),
  shortByIdleGap: amount.nullable().describe("Missed although it was free."),
  shortByLostNode: later.describe("Guaranteed, and its nodes were lost."),
  shortByNodeToCome: later.describe("Guaranteed, and its nodes were still being made."),
  shortByPastQueues: later.describe("Guaranteed, and allocated to pods of no queue."),
  shortByPromisedTwice: later.describe("Guaranteed, and there were no nodes for all guarantees."),
  shortByIndivisible: later.describe("Missed because no whole gang fits into it, or a setting keeps it where it is."),
  waits: waits.nullable().describe("Of ended waits from creation to start; null where not known."),
  evictions: amount.nullable(),
  lostToEvictions: amount
    .nullable()
    .describe("Work undone by evictions; an upper bound where no checkpoint is known. null: not known of any."),
  lostToFailures: later.describe(
    "Work undone by programs that failed and were started again; an upper bound where no checkpoint is known. null: not known of any.",
  ),
  costs: costs.describe("Of what was allocated to it, used or not."),
  wasteCosts: costs.describe("Of what was allocated to it and not used: idle, stalled and underutilized."),
  jobs: amount.nullable().describe("Workloads that had GPUs."),
  budgets: z.array(
    z.object({
      cluster: name,
      month: z.string().max(20),
      currency: z.string().max(20),
      perMonth: amount,
      spent: amount.nullable(),
      forecast: z
        .object({ low: amount.nullable(), mid: amount, high: amount.nullable() })
        .nullable()
        .describe("At the end of the month; four of five ends lie within low and high."),
    }),
  ),
});

/** Ended waits from creation to start by what waited. */
export const waitRowSchema = z.object({
  queue: name.nullable().describe("null: all queues."),
  sizeClass: z.string().max(20).nullable().describe("Physical GPUs of the work; null: all sizes."),
  priorityClass: name.nullable().describe("null: all priorities."),
  ...waits.shape,
});

export type WaterfallDropRow = z.infer<typeof dropSchema>;
export type WaterfallStageRow = z.infer<typeof waterfallStageSchema>;
export type DemandStep = z.infer<typeof demandStepSchema>;
export type OneMoreNode = z.infer<typeof oneMoreNodeSchema>;
export type Demand = z.infer<typeof demandSchema>;
export type TeamRow = z.infer<typeof teamSchema>;
export type WaitRow = z.infer<typeof waitRowSchema>;
