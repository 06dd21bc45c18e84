import { z } from "zod";
import { parseJson } from "../kernel/parseJson.ts";

/** Reads the value of a row in the ledger's table `remembered`; `null` where it has another form, or is damaged. */
export function readText<Value>(schema: z.ZodType<Value>, text: string): Value | null {
  const read = schema.safeParse(parseJson(text));
  return read.success ? read.data : null;
}

/** The schema of times, GPUs and costs, which are finite and not negative. */
export const amount = z.number().nonnegative();
