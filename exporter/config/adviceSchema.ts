import { z } from "zod";
import { adviceKinds } from "../model/recommendation.ts";

/** The settings of recommendations: `advice` in the configuration. */
export const adviceSchema = z.strictObject({
  enabled: z.boolean().default(true).describe("Look for advice in each cycle."),
  disabledKinds: z.array(z.enum(adviceKinds)).default([]).describe("Kinds of advice that are never given."),
  maxMoves: z.number().int().min(1).max(50).default(5).describe("Pods or gangs that one plan may move or stop."),
  standingCycles: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(3)
    .describe("Cycles in a row for which advice must have been worth giving before it is shown."),
  coolDownMinutes: z
    .number()
    .min(0)
    .max(10_080)
    .default(30)
    .describe("After advice was taken or dismissed, nothing else is advised for its targets for this long."),
  dismissedDays: z.number().min(0).max(3650).default(14).describe("How long dismissed advice stays dismissed."),
  restartMinutes: z
    .number()
    .min(0)
    .max(1440)
    .default(10)
    .describe(
      "What a restart costs in addition to the work that is done again: minutes for which its GPUs do nothing useful.",
    ),
  horizonHours: z.number().min(1).max(168).default(24).describe("Hours within which a gain must pay for its loss."),
  minGainGpuHours: z
    .number()
    .min(0)
    .max(1e6)
    .default(1)
    .describe("GPU-hours that advice must gain within the horizon to be given."),
  gainOverLoss: z.number().min(1).max(100).default(2).describe("How many times its loss a plan must gain."),
  idleNodeMinutes: z
    .number()
    .min(15)
    .max(100_000)
    .default(60)
    .describe("How long a node must have been idle before its removal is advised."),
  usageHours: z
    .number()
    .min(0.1)
    .max(720)
    .default(12)
    .describe("For how long a workload or queue must have been watched before it is advised to ask for less."),
  askReturnProbability: z
    .number()
    .min(0)
    .max(1)
    .default(0.9)
    .describe(
      "Owners of idle work are not asked about it while the probability that it works again by itself within the horizon is higher than this.",
    ),
  habitReturns: z
    .number()
    .int()
    .min(1)
    .max(32)
    .default(3)
    .describe("How often idle work must have been seen to work again before its habit of coming back counts as known."),
  habitDays: z
    .number()
    .min(0)
    .max(90)
    .default(7)
    .describe("How many days it must have been watched for that. A week includes a weekend."),
  publishedReturns: z
    .array(
      z.strictObject({
        idleMinutes: z.number().min(0).max(100_000).describe("How long the work had been idle."),
        cameBack: z.number().min(0).max(1).describe("Part of such work that worked again."),
        medianMinutes: z.number().min(0).max(100_000).describe("Median time until it worked again, in minutes."),
      }),
    )
    .max(50)
    .default([
      { idleMinutes: 30, cameBack: 0.98, medianMinutes: 7.6 },
      { idleMinutes: 60, cameBack: 0.82, medianMinutes: 25 },
      { idleMinutes: 120, cameBack: 0.5, medianMinutes: 72 },
    ])
    .describe(
      "What is expected of idle work while too little is known about the cluster's own work: what part of the work that had been idle for this long worked again, and after how many minutes. The default comes from 143 inference pods (docs/recommendations.md).",
    ),
  topSeries: z.number().int().min(0).max(100).default(3).describe("Recommendations of each kind that have series."),
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Where people reach Fairlead; links to recommendations begin with it."),
});
