import { z } from "zod";
import { amount, costs, moment, name } from "./parts.ts";

/** GPU time that one cause took away, or slowed down. */
export const faultCauseSchema = z.object({
  cause: z
    .string()
    .max(40)
    .describe("As in `fairlead_unavailable_gpu_seconds_total` and `fairlead_degraded_gpu_seconds_total`."),
  gpuHours: amount,
  costs,
  outages: amount.describe(
    "GPUs (or nodes with all of theirs) that could not be used for five minutes at least, each time.",
  ),
  repaired: amount.describe("Of these, those that could be used again by the end of the window."),
  meanRepairHours: amount.nullable().describe("How long these had lasted from their begin; null: none was repaired."),
});

/** A GPU that could not be used; if `gpu` is empty, all GPUs of the node that failed together. */
export const outageSchema = z.object({
  cluster: name,
  node: name,
  gpu: name,
  pool: name,
  cause: z.string().max(40),
  teams: z.string().max(2000).describe("Who held it meanwhile, by commas; empty: nobody."),
  begins: moment.describe("Of the longest part, where it happened several times."),
  ends: moment.nullable().describe("null: it lasts."),
  gpuHours: amount.describe("Within the window."),
});

export type FaultCause = z.infer<typeof faultCauseSchema>;
export type FaultOutage = z.infer<typeof outageSchema>;
