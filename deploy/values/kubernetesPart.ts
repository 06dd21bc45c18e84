import { z } from "zod";

/** A map that goes into a manifest as it is; the API server checks it. */
export function mapOf<Value extends object>(): z.ZodType<Value> {
  return z
    .custom<Value>((given) => typeof given === "object" && given !== null && !Array.isArray(given))
    .meta({
      type: "object",
    });
}

/** A list that goes into a manifest as it is; the API server checks it. */
export function listOf<Item>(): z.ZodType<readonly Item[]> {
  return z.custom<readonly Item[]>((given) => Array.isArray(given)).meta({ type: "array" });
}

/** Labels, annotations and selectors: names with texts. */
export const textMap = z.record(z.string(), z.string());
