// Needed for the goal `gpu-bytes` (docs/performance.md).

import type { DeviceReading, TelemetryClaimant } from "../../model/telemetry.ts";

/** What labels say about a device. It is the same object from page to page for as long as its content is. */
export type DeviceLabels = Pick<
  DeviceReading,
  "uuid" | "gpuInstance" | "profile" | "migUuid" | "modelName" | "gpuIndex" | "virtualSlots"
>;

/** The numbers of a reading, in the order in which they are kept. */
export const readingNumbers = [
  "gpuUtil",
  "grEngineActive",
  "smActive",
  "dramActive",
  "tensorActive",
  "pipeActive",
  "memoryCopyUtil",
  "movedBytesPerSecond",
  "encoderUtil",
  "decoderUtil",
  "memoryUsedBytes",
  "memoryTotalBytes",
  "powerWatts",
  "powerLimitWatts",
  "clockEventReasons",
  "energyJoules",
  "temperatureCelsius",
  "lastXid",
  "rowRemapPending",
  "rowRemapFailure",
  "dcgmHealth",
] as const satisfies readonly (keyof DeviceReading)[];

/**
 * A reading whose numbers are in a column that many readings share; `NaN` there is `null` here. A cluster of 80,000 GPUs has
 * as many readings in each interval: as objects with twenty numbers they were a quarter of what a cycle left to the garbage
 * collector.
 */
export class PageReading implements DeviceReading {
  readonly claimants: readonly TelemetryClaimant[];
  readonly #labels: DeviceLabels;
  readonly #values: Float64Array;
  /** Place of its first number in `#values`. */
  readonly #at: number;

  constructor(labels: DeviceLabels, claimants: readonly TelemetryClaimant[], values: Float64Array, at: number) {
    this.claimants = claimants;
    this.#labels = labels;
    this.#values = values;
    this.#at = at;
  }

  /** Whether it has the numbers of another reading. */
  hasNumbersOf(other: PageReading): boolean {
    for (let number = 0; number < readingNumbers.length; number += 1)
      if (!Object.is(this.#values[this.#at + number], other.#values[other.#at + number])) return false;
    return true;
  }

  get uuid(): string {
    return this.#labels.uuid;
  }
  get gpuInstance(): string | null {
    return this.#labels.gpuInstance;
  }
  get profile(): string | null {
    return this.#labels.profile;
  }
  get migUuid(): string | null {
    return this.#labels.migUuid;
  }
  get modelName(): string | null {
    return this.#labels.modelName;
  }
  get gpuIndex(): string | null {
    return this.#labels.gpuIndex;
  }
  get virtualSlots(): number {
    return this.#labels.virtualSlots;
  }
  get gpuUtil(): number | null {
    return orNull(this.#values[this.#at]);
  }
  get grEngineActive(): number | null {
    return orNull(this.#values[this.#at + 1]);
  }
  get smActive(): number | null {
    return orNull(this.#values[this.#at + 2]);
  }
  get dramActive(): number | null {
    return orNull(this.#values[this.#at + 3]);
  }
  get tensorActive(): number | null {
    return orNull(this.#values[this.#at + 4]);
  }
  get pipeActive(): number | null {
    return orNull(this.#values[this.#at + 5]);
  }
  get memoryCopyUtil(): number | null {
    return orNull(this.#values[this.#at + 6]);
  }
  get movedBytesPerSecond(): number | null {
    return orNull(this.#values[this.#at + 7]);
  }
  get encoderUtil(): number | null {
    return orNull(this.#values[this.#at + 8]);
  }
  get decoderUtil(): number | null {
    return orNull(this.#values[this.#at + 9]);
  }
  get memoryUsedBytes(): number | null {
    return orNull(this.#values[this.#at + 10]);
  }
  get memoryTotalBytes(): number | null {
    return orNull(this.#values[this.#at + 11]);
  }
  get powerWatts(): number | null {
    return orNull(this.#values[this.#at + 12]);
  }
  get powerLimitWatts(): number | null {
    return orNull(this.#values[this.#at + 13]);
  }
  get clockEventReasons(): number | null {
    return orNull(this.#values[this.#at + 14]);
  }
  get energyJoules(): number | null {
    return orNull(this.#values[this.#at + 15]);
  }
  get temperatureCelsius(): number | null {
    return orNull(this.#values[this.#at + 16]);
  }
  get lastXid(): number | null {
    return orNull(this.#values[this.#at + 17]);
  }
  get rowRemapPending(): number | null {
    return orNull(this.#values[this.#at + 18]);
  }
  get rowRemapFailure(): number | null {
    return orNull(this.#values[this.#at + 19]);
  }
  get dcgmHealth(): number | null {
    return orNull(this.#values[this.#at + 20]);
  }
}

function orNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** How many numbers are reserved at once: those of about fifty nodes of eight GPUs. */
const blockLength = 8192;
let block = new Float64Array(0);
let used = 0;

/**
 * Room for the numbers of one reading. Nothing is ever written twice, so that earlier readings stay as they were; a block is
 * freed when no reading of any page is in it, which is at most a few intervals later, because each page has new readings.
 */
export function reserveNumbers(): { readonly values: Float64Array; readonly at: number } {
  const width = readingNumbers.length;
  if (used + width > block.length) {
    block = new Float64Array(blockLength);
    used = 0;
  }
  const at = used;
  used += width;
  return { values: block, at };
}
