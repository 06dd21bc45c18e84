import type { DeviceReading } from "../../model/telemetry.ts";
import { profilingIsBroken } from "../activity.ts";
import type { PowerRange } from "./gpuPower.ts";

/** The limits by which a sample shows that a GPU looks busy and computes nothing (docs/telemetry.md lists the sources). */
export const stallLimits = {
  /**
   * From this value on a GPU looks busy, by GR_ENGINE_ACTIVE, or without it by GPU_UTIL or SM_ACTIVE: published hangs show 0.95
   * to 1.
   */
  busyFrom: 0.9,
  /**
   * Up to this value of tensor, DRAM, every other pipe, memory copies, encoder and decoder nothing is done: published rules say
   * 0.01 to 0.05.
   */
  nothingUpTo: 0.02,
  /**
   * Up to this part of the way from idle to full power a GPU computes nothing; published hangs draw 0.14 to 0.28 of the limit.
   */
  powerPart: 0.2,
  /** Up to this many bytes per second over PCIe and NVLink nothing significant is moved: idle GPUs show up to 0.5 MB/s. */
  movedUpTo: 100e6,
} as const;

/**
 * Bits of the clock event reasons that hold a GPU back: software power cap, hardware slowdown, software and hardware thermal
 * slowdown, power brake. Idle and set clocks are not among them.
 */
const heldBackBits = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

/**
 * Whether a sample of a whole GPU looks busy while tensor, DRAM and power all say that nothing is computed. All three must be
 * present; any other present signal can only contradict it. The values of a locked profiler are no evidence, and neither is
 * the low power of a throttled GPU (design: double-entry GPU time).
 */
export function looksStalled(reading: DeviceReading, powerOf: () => PowerRange | null): boolean {
  const { gpuUtil, grEngineActive, smActive, tensorActive, dramActive, powerWatts } = reading;
  // GPU_UTIL is 1 for many small kernels with pauses between them, too: if the engine's own field is present, it
  // decides.
  const busy = grEngineActive ?? Math.max(gpuUtil ?? 0, smActive ?? 0);
  if (busy < stallLimits.busyFrom || reading.gpuInstance !== null) return false;
  if (tensorActive === null || dramActive === null || powerWatts === null) return false;
  if (tensorActive > stallLimits.nothingUpTo || dramActive > stallLimits.nothingUpTo) return false;
  if (worksElsewhere(reading) || profilingIsLocked(reading) || isHeldBack(reading)) return false;
  const range = powerOf();
  return range !== null && powerWatts <= stalledWatts(range, reading.powerLimitWatts);
}

/** The power up to which a GPU computes nothing, watts. A limit that is set lowers full power, never idle power. */
export function stalledWatts({ idleWatts, fullWatts }: PowerRange, limitWatts: number | null): number {
  const full = limitWatts === null || limitWatts <= 0 ? fullWatts : Math.min(fullWatts, limitWatts);
  return idleWatts + stallLimits.powerPart * Math.max(0, full - idleWatts);
}

function worksElsewhere(reading: DeviceReading): boolean {
  const { pipeActive, memoryCopyUtil, encoderUtil, decoderUtil, movedBytesPerSecond } = reading;
  const most = Math.max(pipeActive ?? 0, memoryCopyUtil ?? 0, encoderUtil ?? 0, decoderUtil ?? 0);
  return most > stallLimits.nothingUpTo || (movedBytesPerSecond ?? 0) > stallLimits.movedUpTo;
}

/** Without an engine's field that would reveal a locked profiler, one whose fields are all exactly 0 may be locked. */
export function profilingIsLocked(reading: DeviceReading): boolean {
  const { grEngineActive, smActive, tensorActive, dramActive } = reading;
  if (grEngineActive === null && smActive === null) return tensorActive === 0 && dramActive === 0;
  return profilingIsBroken(reading);
}

function isHeldBack({ clockEventReasons }: DeviceReading): boolean {
  // A float of a page need not be a bit field; other values count as nothing.
  return clockEventReasons !== null && (clockEventReasons & heldBackBits) !== 0;
}

/** The time in which every sample of a device looked busy and computed nothing. */
export interface Stall {
  /** The time of the first of these samples, seconds since the epoch. */
  readonly since: number;
  /** Since when there has been no sample; `null` while there is one. */
  readonly unseenSince: number | null;
}

/** Lost scrapes end no window; after this long it is unknown what the GPU did in between. */
const unseenLimitSeconds = 5 * 60;

/** What is known after a sample; `sample` is `null` if none came, because the page was lost or is implausible. */
export function stallAfter(before: Stall | null, sample: boolean | null, at: number): Stall | null {
  if (sample === false) return null;
  if (before === null) return sample === null ? null : { since: at, unseenSince: null };
  const { since, unseenSince } = before;
  if (sample === null) {
    if (unseenSince === null) return { since, unseenSince: at };
    return at - unseenSince > unseenLimitSeconds ? null : before;
  }
  // Without an age limit of its own, a GPU could be unseen for hours between two samples.
  if (unseenSince !== null && at - unseenSince > unseenLimitSeconds) return { since: at, unseenSince: null };
  return unseenSince === null ? before : { since, unseenSince: null };
}
