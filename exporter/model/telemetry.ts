/**
 * A workload that a telemetry row names. The same device may have several (sharing), and a row may name a pod that
 * ended or never held a GPU: the join decides.
 */
export interface TelemetryClaimant {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string | null;
  readonly container: string | null;
  /** How many of the GPU's virtual GPUs (replicas) rows show for this pod; 1 without sharing. */
  readonly slots: number;
  /** The pod's own part of GPU_UTIL as a ratio 0..1, where rows carry per-process values; else `null`. */
  readonly processUtil: number | null;
  /** The pod's own memory in bytes, where rows carry per-process values; else `null`. */
  readonly processMemoryBytes: number | null;
  /** DRA labels of the row; `null` without them. */
  readonly claim: { readonly namespace: string; readonly name: string } | null;
}

/** What the processes of one pod use of a GPU, by an exporter that knows to which pod each process belongs. Untrusted text. */
export interface PodProcesses {
  readonly namespace: string;
  readonly pod: string;
  /** `null` where the exporter does not say it. */
  readonly podUid: string | null;
  /** Part of the time in which they use the whole GPU, 0..1. */
  readonly util: number;
}

/**
 * What a page reports about one device, already reduced over its raw rows (max per signal) and sanitised. Ratios are 0..1.
 * `null` is "no valid value", never 0. A reading may be a view of columns, whose properties are no fields: it is changed with
 * `changedReading`, not by spreading it.
 */
export interface DeviceReading {
  /** UUID of the GPU (for a MIG instance: of its parent). */
  readonly uuid: string;
  /** NVML GPU instance id of a MIG instance; `null` for a whole GPU. */
  readonly gpuInstance: string | null;
  /** MIG profile such as `1g.10gb`; `null` for a whole GPU. */
  readonly profile: string | null;
  /** UUID of the MIG device itself, where rows carry it (`dra_mig_device_uuid`). */
  readonly migUuid: string | null;
  /** Model name as the page spells it. Untrusted text. */
  readonly modelName: string | null;
  /** The exporter's own device index and PCI address; for people, never for joining. */
  readonly gpuIndex: string | null;
  readonly gpuUtil: number | null;
  readonly grEngineActive: number | null;
  readonly smActive: number | null;
  readonly dramActive: number | null;
  /** How busy the tensor cores are. */
  readonly tensorActive: number | null;
  /** The busiest of the other compute pipes that the exporter reports: FP64, FP32, FP16, integer. */
  readonly pipeActive: number | null;
  /** Part of the time in which the device memory is read or written, by NVML (MEM_COPY_UTIL). */
  readonly memoryCopyUtil: number | null;
  /** Bytes per second over PCIe and NVLink, sent and received, as far as the exporter reports them. */
  readonly movedBytesPerSecond: number | null;
  readonly encoderUtil: number | null;
  readonly decoderUtil: number | null;
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
  /** Power of the whole GPU, also on a MIG instance. */
  readonly powerWatts: number | null;
  /** The limit that is set for the power of the whole GPU, which may be below what it can draw. */
  readonly powerLimitWatts: number | null;
  /** Bits of NVML's clock event reasons (throttle reasons in older drivers). */
  readonly clockEventReasons: number | null;
  /** Energy of the whole GPU since driver load, also on a MIG instance. */
  readonly energyJoules: number | null;
  /** Temperature of the whole GPU, also on a MIG instance. */
  readonly temperatureCelsius: number | null;
  /** Number of the last XID error; sticky until the exporter restarts. */
  readonly lastXid: number | null;
  /**
   * Above 0: rows of its memory will be remapped at the next reset (`Pending`), or could not be, because none are spare
   * (`Failure`).
   */
  readonly rowRemapPending: number | null;
  readonly rowRemapFailure: number | null;
  /** DCGM's own judgement: 0 healthy, 10 a warning, 20 a failure. */
  readonly dcgmHealth: number | null;
  /** Distinct replica slots that rows show (label `vgpu`); 0 without the label. */
  readonly virtualSlots: number;
  /**
   * Where an exporter is scraped directly, this is the very list (`===`) of the target's previous page for as long as its
   * content is the same.
   */
  readonly claimants: readonly TelemetryClaimant[];
  /** Absent where no exporter reports processes by pod. */
  readonly podProcesses?: readonly PodProcesses[];
}

/** Counts of samples that were not used, by reason. */
export type DropReason =
  | "blank"
  | "not_a_number"
  | "out_of_range"
  | "malformed_line"
  | "no_device"
  | "duplicate"
  | "too_many_devices"
  | "not_this_node";

export type DropCounts = Readonly<Partial<Record<DropReason, number>>>;

/** One exporter's page after parsing, reducing and sanitising: the present telemetry of one node. */
export interface TelemetryPage {
  /** Where the page came from: a URL or a file name. */
  readonly target: string;
  /**
   * The node that it describes, which is the exporter pod's `spec.nodeName`, or else (files, listed targets) comes from the
   * configuration or the page's host label.
   */
  readonly node: string | null;
  /** Host label of the page (`Hostname`/`hostname`) as found; for messages. */
  readonly hostLabel: string | null;
  /** When the bytes were received, seconds since the epoch. */
  readonly receivedAt: number;
  /** Since when no number of the page has changed, seconds since the epoch; absent: the numbers are new. */
  readonly movedAt?: number;
  readonly devices: readonly DeviceReading[];
  readonly dropped: DropCounts;
}
