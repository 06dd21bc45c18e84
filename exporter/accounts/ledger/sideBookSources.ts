import { hoursPerDay, secondsPerDay, secondsPerHour } from "./schema.ts";
import type { SideBook } from "./sideBookQuery.ts";

/** Where the rows of a side book come from, as parts of a statement. */
export interface SideBookSource {
  readonly from: string;
  /** With two places, for the begin and the end of the window in units of `windowSeconds`. */
  readonly window: string;
  readonly windowSeconds: number;
  /** By dimension. */
  readonly columns: Readonly<Record<string, string>>;
  /** Sums of a group. */
  readonly sums: Readonly<Record<string, string>>;
  /** The sum by which groups are ordered. */
  readonly rank: string;
  /** Column whose values are kept apart within a group; `null`: none. */
  readonly bucket: string | null;
}

/** All of them. Texts are columns and sums only: what is asked for never becomes part of a statement. */
export const sideBookSources: Readonly<Record<SideBook, SideBookSource>> = {
  queues: {
    from: "queue_time t JOIN queues q ON q.id = t.queue",
    window: "t.daily IN (0, 1) AND t.hour >= ? AND t.hour < ?",
    windowSeconds: secondsPerHour,
    columns: {
      day: `t.hour / ${hoursPerDay}`,
      hour: "t.hour",
      scheduler: "q.scheduler",
      kind: "q.kind",
      queue: "q.queue",
      domain: "q.domain",
      team: "q.team",
    },
    sums: {
      seconds: "sum(t.seconds)",
      judgedSeconds: "sum(t.judged_seconds)",
      held: "sum(t.held_gpu_seconds)",
      entitled: "sum(t.entitled_gpu_seconds)",
      excess: "sum(t.excess_gpu_seconds)",
      shortfallByOthers: "sum(t.short_by_others_gpu_seconds)",
      shortfallByIdleGap: "sum(t.short_by_idle_gap_gpu_seconds)",
      pending: "sum(t.pending_gpu_seconds)",
    },
    rank: "held",
    bucket: null,
  },
  waits: {
    from: "waits t JOIN wait_groups g ON g.id = t.wait_group",
    window: "t.day >= ? AND t.day < ?",
    windowSeconds: secondsPerDay,
    columns: {
      day: "t.day",
      queue: "g.queue",
      team: "g.team",
      priorityClass: "g.priority_class",
      sizeClass: "g.size_class",
      phase: "g.phase",
    },
    sums: { waits: "sum(t.waits)", seconds: "sum(t.seconds)" },
    rank: "waits",
    bucket: "t.bucket",
  },
  evictions: {
    from: "evictions t",
    window: "t.at >= ? AND t.at < ?",
    windowSeconds: 1,
    columns: {
      day: `CAST(t.at / ${secondsPerDay} AS INTEGER)`,
      hour: `CAST(t.at / ${secondsPerHour} AS INTEGER)`,
      scheduler: "t.scheduler",
      queue: "t.queue",
      team: "t.team",
      namespace: "t.namespace",
      workload: "t.kind || '/' || t.namespace || '/' || t.name",
      priorityClass: "t.priority_class",
      reason: "t.reason",
      preemptor: "t.preemptor",
      preemptorTeam: "t.preemptor_team",
      preemptorQueue: "t.preemptor_queue",
    },
    sums: {
      evictions: "count(*)",
      preemptions: "sum(t.is_preemption)",
      gpus: "sum(t.gpus)",
      lostGpuSeconds: "sum(t.lost_gpu_seconds)",
      upperBoundGpuSeconds: "sum(CASE WHEN t.is_upper_bound THEN t.lost_gpu_seconds END)",
      unknownLost: "sum(t.lost_gpu_seconds IS NULL)",
    },
    rank: "evictions",
    bucket: null,
  },
  nodes: {
    from: "node_time t JOIN node_groups g ON g.id = t.node_group",
    window: "t.daily IN (0, 1) AND t.hour >= ? AND t.hour < ?",
    windowSeconds: secondsPerHour,
    columns: {
      day: `t.hour / ${hoursPerDay}`,
      hour: "t.hour",
      pool: "g.pool",
      nodePool: "g.node_pool",
      capacityType: "g.capacity_type",
      state: "g.state",
      currency: "g.currency",
    },
    sums: {
      nodeSeconds: "sum(t.node_seconds)",
      pricedNodeSeconds: "sum(CASE WHEN g.currency IS NULL THEN 0 ELSE t.node_seconds END)",
      // Different currencies are never added up: such a group has two kinds of money, and no cost.
      cost: "CASE WHEN count(DISTINCT g.currency) = 1 THEN sum(t.cost) END",
    },
    rank: "nodeSeconds",
    bucket: null,
  },
  recommendations: {
    from: "recommendations t",
    window: "t.first_seen >= ? AND t.first_seen < ?",
    windowSeconds: 1,
    columns: {
      day: `CAST(t.first_seen / ${secondsPerDay} AS INTEGER)`,
      hour: `CAST(t.first_seen / ${secondsPerHour} AS INTEGER)`,
      kind: "t.kind",
      state: "t.state",
      fromTeam: "nullif(t.from_team, '')",
      forTeam: "nullif(t.for_team, '')",
      queue: "nullif(t.queue, '')",
      pool: "nullif(t.pool, '')",
      id: "t.id",
      title: "t.title",
    },
    sums: {
      recommendations: "count(*)",
      predictedGpus: "sum(t.gained_gpus_worst)",
      predictedLostGpuHours: "sum(t.lost_gpu_hours)",
      takenPredictedGpus: "sum(CASE WHEN t.state = 'taken' THEN t.gained_gpus_worst END)",
      measuredGpus: "sum(t.measured_gpus)",
      takenPredictedLostGpuHours: "sum(CASE WHEN t.state = 'taken' THEN t.lost_gpu_hours END)",
      measuredLostGpuHours: "sum(t.measured_lost_gpu_hours)",
    },
    rank: "predictedGpus",
    bucket: null,
  },
};
