import type { Quantity } from "./dialects.ts";

/** Why a number of a page is not used. */
export type ValueFault = "blank" | "not_a_number" | "out_of_range";

/**
 * The smallest "no value" of DCGM as a double (blank, not found, not supported, no permission: +0 to +3); int64 blanks are near
 * 2^63.
 */
const smallestBlank = 2 ** 47;
/** The same values as an int32: 0x7ffffff0 to 0x7ffffff3. */
const firstInt32Blank = 2_147_483_632;
const lastInt32Blank = 2_147_483_635;

/** Quantities that never really reach 2^31, so that the int32 blanks are blanks there. Energy in mJ does reach it. */
const hasInt32Blanks: ReadonlySet<Quantity> = new Set(["percent", "ratio", "memory", "temperature", "xid", "bits"]);

/** The largest real value in the exporter's unit; `Infinity` where only the blanks are known not to be real. */
const largest: Readonly<Record<Quantity, number>> = {
  ratio: 1,
  percent: 100,
  memory: Number.POSITIVE_INFINITY,
  power: Number.POSITIVE_INFINITY,
  energy: Number.POSITIVE_INFINITY,
  temperature: Number.POSITIVE_INFINITY,
  xid: Number.POSITIVE_INFINITY,
  rate: Number.POSITIVE_INFINITY,
  bits: Number.POSITIVE_INFINITY,
};

/**
 * The bound up to which every value from 0 is real. Almost all values pass this test, and only for the others `valueFault` is
 * asked for the reason.
 */
export function surelyValidUpTo(quantity: Quantity, sentinels: "dcgm" | "none"): number {
  const blanksFrom = hasInt32Blanks.has(quantity) ? firstInt32Blank - 1 : smallestBlank - 1;
  return Math.min(largest[quantity], sentinels === "dcgm" ? blanksFrom : Number.MAX_VALUE);
}

/**
 * Why a value in the exporter's own unit cannot be real; `null` when it can. Sources: `dcgm_structs.h` (blanks),
 * NVIDIA/DCGM#199 and NVIDIA/dcgm-exporter#418 (utilization of thousands of percent).
 */
export function valueFault(quantity: Quantity, value: number, sentinels: "dcgm" | "none"): ValueFault | null {
  if (!Number.isFinite(value)) return "not_a_number";
  if (sentinels === "dcgm") {
    if (value >= smallestBlank) return "blank";
    if (value >= firstInt32Blank && value <= lastInt32Blank && hasInt32Blanks.has(quantity)) return "blank";
  }
  if (value > largest[quantity]) return "out_of_range";
  return value < 0 && quantity !== "temperature" ? "out_of_range" : null;
}
