import type { AdviceMoment } from "./moment.ts";

/** Pods that leave their nodes together or not at all: a gang, the pods of one workload that only stop together, or one pod. */
export interface DisruptionUnit {
  /** Indices into `Snapshot.pods`, ascending; all of them held. */
  readonly pods: readonly number[];
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  readonly isGang: boolean;
  /** Physical GPUs that they hold together. */
  readonly gpus: number;
  /**
   * Work that is done again if they are stopped now (reference: cost of a disruption): of all its pods together, GPUs x (now
   * - the later of start and last checkpoint), and GPUs x the time of a restart.
   */
  readonly lostGpuHours: number;
  /** No checkpoint is known for one of them: its start stands in. */
  readonly isUpperBound: boolean;
}

/** The units of a moment, in the order of their first pods; a pod that telemetry alone names is in none. Pure. */
export function disruptionUnits(_moment: AdviceMoment): readonly DisruptionUnit[] {
  return [];
}
