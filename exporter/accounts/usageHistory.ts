import { z } from "zod";
import type { Analysis } from "../analysis/analysis.ts";
import type { UsageHistory } from "../analysis/fairness/fairness.ts";
import type { MomentClock } from "./accounting.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import { amount, readText } from "./rememberedText.ts";

/** The settings in `queues.history`. */
export interface HistorySettings {
  readonly enabled: boolean;
  readonly halfLifeSeconds: number;
  readonly windowSeconds: number;
  readonly kValue: number;
}

/** The GPU time that queues used within a window. */
export interface UsageAccount {
  /** Begins with the first moment: what was remembered becomes older by the time since it was written. */
  begin(now: MomentClock): void;
  /** Adds a covered step that ends at `now`, with the values of its earlier moment. */
  add(before: Analysis, seconds: number, now: MomentClock): void;
  /** The changes that must be remembered now; the list is empty unless a minute has passed since the last changes. */
  changes(now: MomentClock): readonly RememberedChange[];
  /** Past use as of the last step; `null` unless it is enabled. */
  history(): UsageHistory | null;
}

/** The number of parts of the window; one part is forgotten at a time. */
const slotsOfWindow = 60;
const writeSeconds = 60;

/**
 * Creates an account of past use as time-based fairshare counts it (KAI: the sum of allocated GPUs x 0.5^(age / half-life) over
 * the window, divided by the sum of the capacity with the same weights). Queues of all levels count. `remembered` holds the
 * rows of the ledger; `null` if there is no ledger to write to.
 */
export function createUsageAccount(settings: HistorySettings, remembered: readonly Remembered[] | null): UsageAccount {
  const { enabled, halfLifeSeconds, windowSeconds, kValue } = settings;
  let slots: readonly UsageSlot[] = [];
  /** The keys of the rows that the ledger has. */
  let written = new Set<string>();
  let writtenAt = Number.NEGATIVE_INFINITY;
  let at = 0;
  const slotSeconds = windowSeconds / slotsOfWindow;
  const rate = Math.LN2 / halfLifeSeconds;

  function slotAt({ wall, monotonic }: MomentClock): UsageSlot {
    const begin = Math.floor(monotonic / slotSeconds) * slotSeconds;
    const last = slots.at(-1);
    if (last !== undefined && last.begin >= begin) return last;
    const slot: UsageSlot = { begin, wallBegin: wall - (monotonic - begin), allocated: new Map(), capacity: new Map() };
    slots = [...slots.filter((s) => s.begin + slotSeconds > monotonic - windowSeconds), slot];
    return slot;
  }

  return {
    begin(now) {
      if (!enabled || remembered === null) return;
      written = new Set(slotsIn(remembered, now, Number.POSITIVE_INFINITY).map(slotKey));
      slots = slotsIn(remembered, now, windowSeconds);
      at = now.monotonic;
    },
    add(before, seconds, now) {
      if (!enabled || !(seconds > 0)) return;
      const { queues, domains } = before.snapshot.queueing;
      const { begin, allocated, capacity } = slotAt(now);
      at = now.monotonic;
      // As of `begin`, use at a time t weighs 2^((t - begin) / H); this is the integral of that weight over the step.
      const weight = (Math.exp(rate * (at - begin)) * -Math.expm1(-rate * seconds)) / rate;
      for (const { name, capacity: gpus } of domains) plus(capacity, name, gpus * weight);
      for (const { scheduler, kind, name, domain: index, allocated: gpus } of queues) {
        const domain = domains[index]?.name;
        if (domain !== undefined && gpus > 0)
          plusUse(allocated, `${scheduler}/${kind}/${name}/${domain}`, domain, gpus * weight);
      }
    },
    changes({ monotonic }) {
      if (!enabled || remembered === null || monotonic - writtenAt < writeSeconds) return [];
      const kept = new Set(slots.map(slotKey));
      const gone = [...written].filter((key) => !kept.has(key));
      // A part that was complete when it was written has not changed.
      const changed = slots.filter((slot) => !written.has(slotKey(slot)) || slot.begin + slotSeconds >= writtenAt);
      written = kept;
      writtenAt = monotonic;
      return [...changed.map(slotRow), ...gone.map((key) => ({ kind: usageKind, key, value: null }))];
    },
    history() {
      if (!enabled) return null;
      const allocated = new Map<string, Use>();
      const capacity = new Map<string, number>();
      for (const slot of slots) {
        if (slot.begin + slotSeconds <= at - windowSeconds) continue;
        const weight = 2 ** ((slot.begin - at) / halfLifeSeconds);
        for (const [key, use] of slot.allocated) plusUse(allocated, key, use.domain, use.gpuSeconds * weight);
        for (const [key, gpuSeconds] of slot.capacity) plus(capacity, key, gpuSeconds * weight);
      }
      const usage = new Map<string, number>();
      for (const [key, { domain, gpuSeconds }] of allocated) {
        const whole = capacity.get(domain) ?? 0;
        if (whole > 0) usage.set(key, Math.min(1, gpuSeconds / whole));
      }
      return { usage, kValue };
    },
  };
}

function plus(sums: Map<string, number>, key: string, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount);
}

function plusUse(uses: Map<string, Use>, key: string, domain: string, gpuSeconds: number): void {
  const use = uses.get(key);
  if (use === undefined) uses.set(key, { domain, gpuSeconds });
  else use.gpuSeconds += gpuSeconds;
}

/** The GPU time that one queue held in one part of the window. */
interface Use {
  readonly domain: string;
  gpuSeconds: number;
}

/** GPU-seconds in one part of the window, weighted as of the part's start. */
interface UsageSlot {
  /** Start of the part, in seconds of the clock that is never set. */
  readonly begin: number;
  /** Start of the part in seconds since the epoch, as of when it began. */
  readonly wallBegin: number;
  /** Use of queues by `scheduler/kind/name/domain name`. */
  readonly allocated: Map<string, Use>;
  /** Capacity by name of the domain. */
  readonly capacity: Map<string, number>;
}

/** The kind of these rows in the ledger's table `remembered`. */
const usageKind = "usage";

/** Key of the row of a slot. */
function slotKey({ wallBegin }: UsageSlot): string {
  return String(wallBegin);
}

/** The row of a slot. */
function slotRow(slot: UsageSlot): RememberedChange {
  const allocated = [...slot.allocated].map(([key, { domain, gpuSeconds }]) => [key, domain, gpuSeconds]);
  return { kind: usageKind, key: slotKey(slot), value: JSON.stringify({ allocated, capacity: [...slot.capacity] }) };
}

/**
 * The slots of the last `windowSeconds` before the first moment, oldest first. Rows from the future and rows that cannot be
 * read are left out.
 */
function slotsIn(
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

const slotValue = z.object({
  allocated: z.array(z.tuple([z.string(), z.string(), amount])),
  capacity: z.array(z.tuple([z.string(), amount])),
});

function slotIn(text: string, wallBegin: number, begin: number): UsageSlot | null {
  const read = readText(slotValue, text);
  if (read === null) return null;
  const allocated = new Map(read.allocated.map(([key, domain, gpuSeconds]) => [key, { domain, gpuSeconds }] as const));
  return { begin, wallBegin, allocated, capacity: new Map(read.capacity) };
}
