import { z } from "zod";
import { adviceActs } from "../../exporter/model/adviceAct.ts";
import { adviceKinds, adviceStates } from "../../exporter/model/recommendation.ts";
import { amount, costs, moment, name, ratio } from "./parts.ts";

/** Node time of a node pool that nobody used, or that could not be used. */
export const idleNodePoolSchema = z.object({
  cluster: name,
  nodePool: name,
  pool: name,
  state: z
    .string()
    .max(40)
    .describe("idle_unallocated, idle_allocated, cordoned, not_ready, warm_unallocated, warm_allocated."),
  nodeHours: amount,
  costs,
  reservedNodeHours: amount
    .default(0)
    .describe("Of nodeHours, those of reserved capacity, which is paid for either way."),
  reservedCosts: costs.default({}).describe("Of costs, those of reserved capacity."),
});

/** A node that was not used, or could not be used, for long without a break. */
export const nodeStreakSchema = z.object({
  cluster: name,
  node: name,
  nodePool: name,
  pool: name,
  state: z.string().max(40),
  begins: moment,
  ends: moment.nullable().describe("null: it lasts."),
  hours: amount.describe("Of the streak, as far as it had lasted at the end of the window."),
});

/** What could be placed on a pool's free GPUs. */
export const fragmentationSchema = z.object({
  cluster: name,
  pool: name,
  freeGpuHours: amount.describe("Fully free GPUs on nodes that can be used."),
  strandedGpuHours: amount,
  blockedGpuHours: amount.describe("Of work that waited although enough GPUs were free: no node could take it."),
  largestPlaceableGpus: z
    .object({ mean: amount, min: amount, max: amount })
    .nullable()
    .describe("Largest pod that a node could have taken."),
});

/** A workload. Work that ran under several names or namespaces counts as several. */
export const jobSchema = z.object({
  cluster: name,
  kind: name,
  namespace: name,
  name,
  team: name,
  queue: name,
  gpuHours: amount.describe("Allocated to it."),
  activeGpuHours: amount,
  wastedGpuHours: amount.describe("Allocated and not used: idle, stalled and underutilized."),
  utilization: ratio.nullable(),
  costs,
  wasteCosts: costs,
  costPerUnit: costs
    .default({})
    .describe("What a unit of its progress has cost since it was first seen; empty where it says none, or is gone."),
});

/** The dates between which demand outgrows capacity in four of five cases; `null`: not within the horizon. */
export const runOutSchema = z.object({
  state: z.enum(["exhausted", "growing", "not-foreseeable", "unknown"]),
  earliest: moment.nullable(),
  likely: moment.nullable(),
  latest: moment.nullable(),
  reason: z.string().max(500).describe("What it rests on, or why it is not known."),
});

/** How long a quota domain's GPUs last. */
export const runwaySchema = z.object({
  cluster: name,
  domain: name,
  weeks: z.array(z.object({ from: moment, p95DemandGpus: amount.nullable() })).describe("The oldest first."),
  p95DemandGpus: amount.nullable().describe("Of the last week that is known."),
  capacityGpus: amount.nullable(),
  trendGpusPerWeek: z.number().nullable(),
  runsOut: runOutSchema,
  recoverableGpus: amount.nullable().describe("Idle, as a mean: what demand would be less without it."),
  runsOutWithoutWaste: runOutSchema,
});

/** A recommendation, with its predicted and its measured gain. */
export const actionSchema = z.object({
  cluster: name,
  id: z.string().max(200),
  kind: z.enum(adviceKinds),
  title: z.string().max(500),
  state: z.enum(adviceStates),
  firstSeen: moment,
  closed: moment.nullable(),
  closedBecause: z
    .string()
    .max(500)
    .nullable()
    .default(null)
    .describe("Why it is not open any more, where that is known."),
  records: amount.default(1).describe("Records of the same need that ended in the same way; the last one is reported."),
  fromTeam: name,
  forTeam: name,
  pool: name,
  owner: z.string().max(200).describe("Who would do it."),
  predictedGpus: z.number().describe("Under the worse placement rule."),
  predictedGpuHoursPerWeek: z.number(),
  lostGpuHours: amount.describe("What it costs: work that is done again."),
  savingPerWeek: costs,
  risk: z.string().max(300),
  measuredGpus: z.number().nullable(),
  measuredLostGpuHours: z.number().nullable(),
  whyMeasured: z
    .string()
    .max(300)
    .nullable()
    .default(null)
    .describe(
      "Of closed ones: why the measured gain differs from the predicted one; null: it does not, or nobody says.",
    ),
});

/** Something that was looked at and not advised. */
export const notAdvisedSchema = z.object({
  cluster: name,
  kind: z.enum(adviceKinds),
  subject: z.string().max(300).describe("What it was about; empty: all of the kind."),
  reason: z.string().max(500).describe("The one that lasted longest, as it was said last."),
  hours: amount.describe("Of the window in which it was."),
  otherReasons: amount.describe("How many other reasons there were for it in the window."),
  costs: costs.describe("Of idle nodes of the node pool that it is about, in the window."),
});

export type NotAdvised = z.infer<typeof notAdvisedSchema>;
/** How recommendations that were shown in the window turned out, taken or not. */
export const trackRecordSchema = z.object({
  kind: z.enum(adviceKinds),
  act: z.enum(adviceActs),
  cameBack: amount.describe("The idle work that they named worked again by itself."),
  evictedAgain: amount.describe("Pods that they moved lost their place once more."),
  stayed: amount.describe("Neither happened within the horizon."),
  ended: amount.describe("The work ended by itself."),
  regretGpuHours: amount.describe("What the wrong ones would have cost, or did cost, for nothing."),
});

export type IdleNodePool = z.infer<typeof idleNodePoolSchema>;
export type NodeStreak = z.infer<typeof nodeStreakSchema>;
export type Fragmentation = z.infer<typeof fragmentationSchema>;
export type Job = z.infer<typeof jobSchema>;
export type RunOut = z.infer<typeof runOutSchema>;
export type Runway = z.infer<typeof runwaySchema>;
export type TrackRecord = z.infer<typeof trackRecordSchema>;
export type Action = z.infer<typeof actionSchema>;
