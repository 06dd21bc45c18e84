import { z } from "zod";
import { gpus } from "./schemaParts.ts";

const amount = z.number().min(0);

/** Cost of `teams[]` and `workloads[]`. */
export const ownCost = {
  costPerHour: amount
    .nullable()
    .describe("What its GPUs cost per hour, used or not, in `cost.currency`; null where none of them has a price."),
  unpricedGpus: gpus.describe("Its GPUs that are not in costPerHour: without a price, or in another currency."),
} as const;

/** What everything costs; `cost` of the document. */
export const cost = z
  .strictObject({
    currency: z
      .string()
      .nullable()
      .describe("The currency in which most GPUs have a price; null where nothing has one."),
    perHour: amount.nullable().describe("Of all GPUs with a price in this currency: allocated and unallocated."),
    allocatedPerHour: amount.nullable(),
    unallocatedPerHour: amount.nullable().describe("Of what nobody holds."),
    unpricedGpus: gpus.describe("GPUs of which nobody knows what they cost."),
    byCurrency: z
      .array(
        z.strictObject({ currency: z.string(), perHour: amount, allocatedPerHour: amount, unallocatedPerHour: amount }),
      )
      .describe("The same in each currency; amounts of different currencies are never added up."),
  })
  .meta({ id: "Cost", description: "What GPUs cost per hour at this moment." });
