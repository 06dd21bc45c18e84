import type { HealthCause } from "../model/gpuFaults.ts";
import type { GpuState } from "../model/gpuStates.ts";
import type { NodeTimeState } from "../model/idleKinds.ts";

/** The labels that GPU time is counted by. Team, queue and priority class are empty for GPUs that nobody holds. */
export interface GpuSecondsLabels {
  readonly state: GpuState;
  readonly team: string;
  readonly queue: string;
  readonly pool: string;
  readonly capacityType: string;
  readonly priorityClass: string;
}

/** The labels that cost is counted by. */
export interface CostLabels extends GpuSecondsLabels {
  readonly currency: string;
}

/** The labels of the cost of allocated GPUs. */
export interface NamespaceCostLabels {
  readonly namespace: string;
  readonly team: string;
  readonly currency: string;
}

export interface EnergyLabels {
  readonly team: string;
  readonly pool: string;
  readonly state: GpuState;
}

/** The labels of GPU time that has a health cause. Team is empty for GPUs that nobody holds. */
export interface HealthLabels {
  readonly pool: string;
  readonly team: string;
  readonly cause: HealthCause;
}

export interface NodeSecondsLabels {
  readonly nodePool: string;
  readonly pool: string;
  readonly state: NodeTimeState;
  readonly capacityType: string;
}
