import type { TruthWaits } from "../../../simulator/truthRecord/waitLog.ts";

/** What the simulator says happened in a time, as it would write it beside a ledger of the same time. Plain data. */
export interface MonthTruth {
  /** Seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** From all GPU time down to what was busy; each level is the next one and its drops. */
  readonly waterfall: readonly TruthLevel[];
  readonly teams: readonly TruthTeamTime[];
  readonly nodeTime: readonly TruthNodeTime[];
  readonly waits: { readonly byQueue: readonly TruthWaits[]; readonly bySize: readonly TruthWaits[] };
  /** Times that work had to give way, by queue. */
  readonly evictions: readonly { readonly queue: string; readonly evictions: number }[];
  readonly demand: readonly TruthDemand[];
}

/** Physical GPU-hours, and what they cost in USD by the nodes' prices. */
export interface TruthAmount {
  readonly gpuHours: number;
  readonly cost: number;
}

export interface TruthLevel extends TruthAmount {
  readonly level: TruthLevelName;
  readonly drops: readonly (TruthAmount & { readonly state: TruthState; readonly isAllocated: boolean })[];
}

/** Levels, and what each loses before the next, as states and whether someone held it. */
export const truthLevels = [
  {
    level: "capacity",
    drops: [
      ["unavailable", false],
      ["unavailable", true],
      ["cordoned", false],
    ],
  },
  {
    level: "ready",
    drops: [
      ["free", false],
      ["idle_node", false],
      ["unattributed", false],
    ],
  },
  {
    level: "allocated",
    drops: [
      ["starting", true],
      ["gang_wait", true],
    ],
  },
  {
    level: "started",
    drops: [
      ["unobserved", true],
      ["idle", true],
      ["stalled", true],
      ["underutilized", true],
    ],
  },
  { level: "active", drops: [] },
] as const;

export type TruthLevelName = (typeof truthLevels)[number]["level"];

/** What a GPU, or a part of it, is doing. */
export type TruthState =
  | "unavailable"
  | "cordoned"
  | "free"
  | "idle_node"
  | "unattributed"
  | "starting"
  | "gang_wait"
  | "unobserved"
  | "idle"
  | "stalled"
  | "underutilized"
  | "active";

/** What a team held, by state. */
export interface TruthTeamTime extends TruthAmount {
  readonly team: string;
  readonly states: Readonly<Partial<Record<TruthState, TruthAmount>>>;
}

export type TruthNodeState =
  | "not_ready"
  | "cordoned"
  | "idle_unallocated"
  | "idle_allocated"
  | "warm_unallocated"
  | "warm_allocated"
  | "ready";

export interface TruthNodeTime {
  readonly gpuModel: string;
  readonly state: TruthNodeState;
  readonly nodeHours: number;
  readonly cost: number;
}

/** Allocated and waiting GPUs of one model: means over hours. */
export interface TruthDemand {
  readonly gpuModel: string;
  readonly p95DemandGpus: number;
  readonly meanDemandGpus: number;
  /** Of usable nodes, and what is allocated on others. */
  readonly meanCapacityGpus: number;
  /** Whole weeks, from Monday 00:00 UTC. */
  readonly weeks: readonly { readonly from: number; readonly p95DemandGpus: number }[];
}
