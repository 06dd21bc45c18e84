import type { LedgerTable } from "./ledgerTableQuery.ts";
import type { LedgerTableSource } from "./ledgerTableSource.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";

const ofEvents = { window: "t.at >= ? AND t.at < ?", windowSeconds: 1, addsUp: true } as const;
const timesOfEvents = {
  day: `CAST(t.at / ${secondsPerDay} AS INTEGER)`,
  hour: `CAST(t.at / ${secondsPerHour} AS INTEGER)`,
} as const;
const workload = "t.kind || '/' || t.namespace || '/' || t.name";
const losses = {
  gpus: "sum(t.gpus)",
  lostGpuSeconds: "sum(t.lost_gpu_seconds)",
  upperBoundGpuSeconds: "sum(CASE WHEN t.is_upper_bound THEN t.lost_gpu_seconds END)",
  unknownLost: "sum(t.lost_gpu_seconds IS NULL)",
} as const;

/** The sources of the tables of events that undid work; each event has a row of its own. */
export const eventTables = {
  evictions: {
    ...ofEvents,
    from: "evictions t",
    columns: {
      ...timesOfEvents,
      scheduler: "t.scheduler",
      queue: "t.queue",
      team: "t.team",
      namespace: "t.namespace",
      workload,
      priorityClass: "t.priority_class",
      reason: "t.reason",
      preemptor: "t.preemptor",
      preemptorTeam: "t.preemptor_team",
      preemptorQueue: "t.preemptor_queue",
    },
    groups: "queue,reason",
    sums: { evictions: "count(*)", preemptions: "sum(t.is_preemption)", ...losses },
    rank: "evictions",
  },
  failures: {
    ...ofEvents,
    from: "failures t",
    columns: { ...timesOfEvents, team: "t.team", namespace: "t.namespace", workload, pod: "t.pod", error: "t.error" },
    groups: "team,error",
    sums: { failures: "count(*)", ...losses },
    rank: "failures",
  },
} as const satisfies { readonly [Table in LedgerTable]?: LedgerTableSource };
