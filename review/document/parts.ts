import { z } from "zod";

/** An amount that is never below 0: GPU-hours, node-hours, GPUs, seconds, money. */
export const amount = z.number().min(0);

/** A part of a whole, 0..1. */
export const ratio = z.number().min(0).max(1);

/** A moment: `2026-11-16T00:00:00Z`. */
export const moment = z.iso.datetime();

/** Money by currency. Amounts of different currencies are never added up; GPU time without a price is in none of them. */
export const costs = z.record(z.string(), amount);

/** Name of something in a cluster: untrusted text. */
export const name = z.string().max(1000);

/** Waits of one bucket of the ledger, a quarter of an octave wide; percentiles of several clusters are made from these. */
export const waitBuckets = z.array(
  z.object({ bucket: z.number().int().min(0).max(1000), waits: amount, seconds: amount }),
);

/** Ended waits: their number, and the waits that half and 95 of 100 did not exceed; `null` without any. */
export const waits = z.object({
  count: amount,
  p50Seconds: amount.nullable(),
  p95Seconds: amount.nullable(),
  buckets: waitBuckets,
});

export type Costs = z.infer<typeof costs>;
export type Waits = z.infer<typeof waits>;
