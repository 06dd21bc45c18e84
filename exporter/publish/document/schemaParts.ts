import { z } from "zod";
import { gpuStates } from "../../model/gpuStates.ts";

/** Parts that the schemas of several records share. */
export const gpus = z.number().min(0).describe("Physical GPUs.");
export const ratio = z.number().min(0).nullable();
export const instant = z.iso.datetime().describe("UTC.");
export const seconds = z.number().min(0);
export const amount = z.number().min(0);

export const states = z
  .partialRecord(z.enum(gpuStates), gpus)
  .describe("Physical GPUs by what they are doing; a state that is not there is 0.");

/** Cost of `teams[]` and `workloads[]`. */
export const ownCost = {
  costPerHour: amount
    .nullable()
    .describe("What its GPUs cost per hour, used or not, in `cost.currency`; null where none of them has a price."),
  unpricedGpus: gpus.describe("Its GPUs that are not in costPerHour: without a price, or in another currency."),
} as const;

/**
 * What a schema describes, as a type that is readonly throughout: records share the values that they are made of, and copy
 * nothing.
 */
export type Read<Value> = Value extends readonly (infer Item)[]
  ? readonly Read<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Read<Value[Key]> }
    : Value;
