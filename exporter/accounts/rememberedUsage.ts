import { parseJson } from "../kernel/parseJson.ts";
import type { MomentClock } from "./accounting.ts";
import { isAmount } from "./isAmount.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";

/** What one queue held in one part of the window. */
export interface Use {
  readonly domain: string;
  gpuSeconds: number;
}

/** GPU-seconds in one part of the window, weighted as of the part's begin. */
export interface UsageSlot {
  /** On the clock that is never set. */
  readonly begin: number;
  /** The same in seconds since the epoch, as of when it began. */
  readonly wallBegin: number;
  /** By `scheduler/kind/name/domain name`. */
  readonly allocated: Map<string, Use>;
  /** By name of the domain. */
  readonly capacity: Map<string, number>;
}

/** Kind in the ledger's `remembered`. */
export const usageKind = "usage";

/** Key of the row of a slot. */
export function slotKey({ wallBegin }: UsageSlot): string {
  return String(wallBegin);
}

/** The row of a slot. */
export function slotRow(slot: UsageSlot): RememberedChange {
  const allocated = [...slot.allocated].map(([key, { domain, gpuSeconds }]) => [key, domain, gpuSeconds]);
  return { kind: usageKind, key: slotKey(slot), value: JSON.stringify({ allocated, capacity: [...slot.capacity] }) };
}

/**
 * The slots of the last `windowSeconds` before the first moment, oldest first. Rows from the future and rows that cannot be
 * read are left out.
 */
export function slotsIn(
  rows: readonly Remembered[],
  { wall, monotonic }: MomentClock,
  windowSeconds: number,
): readonly UsageSlot[] {
  const slots: UsageSlot[] = [];
  for (const { kind, key, value } of rows) {
    if (kind !== usageKind) continue;
    const wallBegin = Number(key);
    const age = wall - wallBegin;
    if (!(age >= 0 && age <= windowSeconds)) continue;
    const slot = slotIn(value, wallBegin, monotonic - age);
    if (slot !== null) slots.push(slot);
  }
  return slots.sort((a, b) => a.begin - b.begin);
}

function slotIn(text: string, wallBegin: number, begin: number): UsageSlot | null {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || !("allocated" in value) || !("capacity" in value)) return null;
  if (!Array.isArray(value.allocated) || !Array.isArray(value.capacity)) return null;
  const slot: UsageSlot = { begin, wallBegin, allocated: new Map(), capacity: new Map() };
  for (const entry of value.allocated) {
    const [key, domain, gpuSeconds]: readonly unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof key !== "string" || typeof domain !== "string" || !isAmount(gpuSeconds)) return null;
    slot.allocated.set(key, { domain, gpuSeconds });
  }
  for (const entry of value.capacity) {
    const [domain, gpuSeconds]: readonly unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof domain !== "string" || !isAmount(gpuSeconds)) return null;
    slot.capacity.set(domain, gpuSeconds);
  }
  return slot;
}
