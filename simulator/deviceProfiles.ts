/**
 * What work does to the engines of its GPUs while it keeps them busy. `tensor` and `dram` are parts of its activity;
 * `memoryCopyPercent` applies at full activity; `power` is the part of the way from idle to full power at full activity.
 */
export interface DeviceProfile {
  readonly tensor: number;
  readonly dram: number;
  readonly memoryCopyPercent: number;
  /** Bytes per second that a GPU sends over PCIe at full activity; it receives twice as many. */
  readonly pcieBytes: number;
  readonly power: number;
  /** Bytes per second that a GPU sends over NVLink at full activity; default: none. */
  readonly nvlinkBytes?: number;
  /** Activity of the other pipes, as parts of the work's activity; default: they are idle. */
  readonly fp64?: number;
  readonly integer?: number;
}

/** The profile of work that has none of its own: training with mixed precision. */
export const usualProfile: DeviceProfile = { tensor: 0.45, dram: 0.4, memoryCopyPercent: 45, pcieBytes: 1e9, power: 1 };

/** A kernel that waits for a collective operation which never comes. */
export const hungProfile: DeviceProfile = { tensor: 0, dram: 0.001, memoryCopyPercent: 0, pcieBytes: 1e5, power: 0.1 };

/** Profiles of work that is easily mistaken for a hung kernel. */
export const deviceProfiles = {
  /** Decoding with a batch of one, or a graph: only the memory is busy. */
  memoryBound: { tensor: 0, dram: 0.7, memoryCopyPercent: 70, pcieBytes: 1e5, power: 0.15 },
  /** Work that moves data between the host and the GPU. */
  moving: { tensor: 0, dram: 0.015, memoryCopyPercent: 1, pcieBytes: 8e9, power: 0.12 },
  /** Work that moves data between GPUs, slowly enough to leave their memory nearly idle. */
  exchanging: { tensor: 0, dram: 0.015, memoryCopyPercent: 1, pcieBytes: 1e5, nvlinkBytes: 5e9, power: 0.12 },
  /** FP64 or integer codes that live in registers: an exporter with its default counters shows them by their power alone. */
  doublePrecision: { tensor: 0, dram: 0.005, memoryCopyPercent: 0, pcieBytes: 1e5, power: 0.85, fp64: 0.8 },
  integer: { tensor: 0, dram: 0.005, memoryCopyPercent: 0, pcieBytes: 1e5, power: 0.6, integer: 0.7 },
} as const satisfies Readonly<Record<string, DeviceProfile>>;
