import { z } from "zod";
import { parseJson } from "../kernel/parseJson.ts";

/** Reads what a row of the ledger's `remembered` says; `null` where it was written otherwise, or is damaged. */
export function readText<Value>(schema: z.ZodType<Value>, text: string): Value | null {
  const read = schema.safeParse(parseJson(text));
  return read.success ? read.data : null;
}

/** Time, GPUs and costs are finite and not negative. */
export const amount = z.number().nonnegative();
