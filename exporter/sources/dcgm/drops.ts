import type { DropReason } from "../../model/telemetry.ts";

/** Counts that are still growing. */
export type GrowingDrops = Partial<Record<DropReason, number>>;

/** Counts `by` more drops. */
export function countDrop(drops: GrowingDrops, reason: DropReason, by = 1): void {
  drops[reason] = (drops[reason] ?? 0) + by;
}
