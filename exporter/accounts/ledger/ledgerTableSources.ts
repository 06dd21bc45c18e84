import { strandedReasons } from "../../model/fragmentation.ts";
import { gangSizes } from "../../model/topology.ts";
import { absentAmounts } from "../posting.ts";
import { eventTables } from "./eventTables.ts";
import type { LedgerTable } from "./ledgerTableQuery.ts";
import { byHour, byHourOrDay, type LedgerTableSource, times } from "./ledgerTableSource.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";
import { servedSource } from "./servedSource.ts";
import { fittedColumn, queueColumns, strandedColumn } from "./tables.ts";

/**
 * The stranded GPU time as alerts count it. Constraints are left out, because labels and taints that keep every typical pod out
 * are intended.
 */
const strandedSum = strandedReasons
  .filter((reason) => reason !== "constraint")
  .map((reason) => `sum(t.${strandedColumn(reason)})`)
  .join(" + ");

/** A streak that has not ended is known until the last moment that the ledger covers. */
const streakEnds = "coalesce(t.ends, seen.last)";
const streakSeconds = `min(${streakEnds}, asked.ends) - max(t.begins, asked.begins)`;

/** The sources of the ledger tables about capacity, and about lost capacity. */
const capacitySources = {
  domains: {
    ...byHour,
    from: "domain_time t",
    columns: { ...times, domain: "t.domain" },
    groups: "domain",
    sums: {
      capacity: "sum(t.capacity_gpu_seconds)",
      allocated: "sum(t.allocated_gpu_seconds)",
      pending: "sum(t.pending_gpu_seconds)",
      guaranteed: "sum(t.guaranteed_gpu_seconds)",
      guaranteedSeconds: "sum(t.guaranteed_seconds)",
      seconds: "sum(t.seconds)",
    },
    addsUp: true,
    rank: "capacity",
  },
  placement: {
    ...byHour,
    from: "placement_time t",
    columns: { ...times, pool: "t.pool" },
    groups: "pool",
    sums: {
      free: "sum(t.free_gpu_seconds)",
      stranded: strandedSum,
      strandedConstraint: `sum(t.${strandedColumn("constraint")})`,
      strandedGpus: `sum(t.${strandedColumn("gpus")})`,
      strandedCpu: `sum(t.${strandedColumn("cpu")})`,
      strandedMemory: `sum(t.${strandedColumn("memory")})`,
      strandedCpuAndMemory: `sum(t.${strandedColumn("cpu_and_memory")})`,
      blocked: "sum(t.blocked_gpu_seconds)",
      largestPlaceableMean: "sum(t.largest_placeable_gpu_seconds) / sum(t.seconds)",
      largestPlaceableMin: "min(t.largest_placeable_min)",
      largestPlaceableMax: "max(t.largest_placeable_max)",
      seconds: "sum(t.seconds)",
    },
    addsUp: false,
    rank: "free",
  },
  topology: {
    ...byHour,
    from: "topology_time t",
    columns: { ...times, pool: "t.pool", level: "t.level" },
    groups: "pool,level",
    sums: {
      ...Object.fromEntries(gangSizes.map((gang) => [`fitted${gang}`, `sum(t.${fittedColumn(gang)})`])),
      seconds: "sum(t.seconds)",
    },
    addsUp: true,
    rank: "seconds",
  },
  outages: {
    from: `(SELECT ? AS begins, ? AS ends) asked, (SELECT max(ends) AS last FROM intervals WHERE gap IS NULL) seen,
      outages t`,
    window: `(t.ends > asked.begins OR t.ends IS NULL) AND ${streakEnds} > asked.begins AND t.begins < asked.ends`,
    windowSeconds: 1,
    columns: {
      node: "t.node",
      gpu: "nullif(t.gpu, '')",
      nodePool: "t.node_pool",
      pool: "t.pool",
      cause: "t.cause",
      teams: "nullif(t.teams, '')",
    },
    groups: "node,gpu,cause,teams",
    sums: {
      outages: "count(*)",
      seconds: `sum(${streakSeconds})`,
      gpuSeconds: `sum((${streakSeconds}) * t.gpus)`,
      repaired: "sum(CASE WHEN t.ends <= asked.ends THEN 1 ELSE 0 END)",
      meanRepairSeconds: "avg(CASE WHEN t.ends <= asked.ends THEN t.ends - t.begins END)",
      // With a single max, SQLite takes the other columns from the row that has it.
      longestSeconds: `max(${streakSeconds})`,
      longestBegins: "t.begins",
      longestEnds: "t.ends",
    },
    addsUp: false,
    rank: "seconds",
  },
  health: {
    ...byHour,
    from: "health_time t JOIN health_groups g ON g.id = t.health_group",
    columns: {
      ...times,
      pool: "g.pool",
      nodePool: "g.node_pool",
      team: "g.team",
      cause: "g.cause",
      currency: "g.currency",
    },
    groups: "cause,currency",
    sums: {
      gpuSeconds: "sum(t.gpu_seconds)",
      pricedGpuSeconds: "sum(CASE WHEN g.currency IS NULL THEN 0 ELSE t.gpu_seconds END)",
      cost: "CASE WHEN count(DISTINCT g.currency) = 1 THEN sum(t.cost) END",
    },
    addsUp: false,
    rank: "gpuSeconds",
  },
  nodeStreaks: {
    from: `(SELECT ? AS begins, ? AS ends) asked, (SELECT max(ends) AS last FROM intervals WHERE gap IS NULL) seen,
      node_streaks t`,
    // The first condition is the one that the index supports.
    window: `(t.ends > asked.begins OR t.ends IS NULL) AND ${streakEnds} > asked.begins AND t.begins < asked.ends`,
    windowSeconds: 1,
    columns: { node: "t.node", nodePool: "t.node_pool", pool: "t.pool", state: "t.state" },
    groups: "node,nodePool,pool,state",
    sums: {
      streaks: "count(*)",
      seconds: `sum(${streakSeconds})`,
      gpuSeconds: `sum((${streakSeconds}) * t.gpus)`,
      // With a single max, SQLite takes the other columns from the row that has it.
      longestSeconds: `max(${streakSeconds})`,
      longestBegins: "t.begins",
      longestEnds: "t.ends",
      longestGpus: "t.gpus",
    },
    addsUp: false,
    rank: "seconds",
  },
} as const satisfies Readonly<Partial<Record<LedgerTable, LedgerTableSource>>>;

/**
 * The sources of all ledger tables. The texts contain columns and sums only: text from a question never becomes part of a
 * statement.
 */
export const ledgerTableSources: Readonly<Record<LedgerTable, LedgerTableSource>> = {
  queues: {
    from: "queue_time t JOIN queues q ON q.id = t.queue",
    ...byHourOrDay,
    columns: {
      ...times,
      scheduler: "q.scheduler",
      kind: "q.kind",
      queue: "q.queue",
      domain: "q.domain",
      team: "q.team",
    },
    groups: "queue,domain",
    sums: Object.fromEntries(Object.entries(queueColumns).map(([name, column]) => [name, `sum(t.${column})`])),
    amounts: [
      ...["allocated", "entitled", "excess", "shortfallByBorrowers", "shortfallByIdleGap", "pending", "deviationRatio"],
      ...[
        "judgedSeconds",
        "seconds",
        "guaranteed",
        "guaranteedSeconds",
        "judgedAllocated",
        "shortfallByAbsentCapacity",
      ],
      ...Object.values(absentAmounts),
      "shortfallByIndivisible",
    ],
    addsUp: true,
    rank: "allocated",
  },
  ...capacitySources,
  serving: servedSource,
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
      bucket: "CAST(t.bucket AS TEXT)",
    },
    groups: "queue,priorityClass,phase",
    sums: { waits: "sum(t.waits)", seconds: "sum(t.seconds)" },
    amounts: ["waits", "meanSeconds", "p50Seconds", "p95Seconds", "seconds"],
    addsUp: true,
    rank: "waits",
    bucket: "t.bucket",
  },
  ...eventTables,
  nodes: {
    from: "node_time t JOIN node_groups g ON g.id = t.node_group",
    ...byHourOrDay,
    columns: {
      ...times,
      pool: "g.pool",
      nodePool: "g.node_pool",
      capacityType: "g.capacity_type",
      state: "g.state",
      currency: "g.currency",
    },
    groups: "nodePool,pool,capacityType,state,currency",
    sums: {
      nodeSeconds: "sum(t.node_seconds)",
      pricedNodeSeconds: "sum(CASE WHEN g.currency IS NULL THEN 0 ELSE t.node_seconds END)",
      // Different currencies are never added up: a group with two currencies has no cost.
      cost: "CASE WHEN count(DISTINCT g.currency) = 1 THEN sum(t.cost) END",
    },
    addsUp: false,
    rank: "nodeSeconds",
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
    groups: "kind,state",
    sums: {
      recommendations: "count(*)",
      predictedGpus: "sum(t.gained_gpus_worst)",
      predictedLostGpuHours: "sum(t.lost_gpu_hours)",
      takenPredictedGpus: "sum(CASE WHEN t.state = 'taken' THEN t.gained_gpus_worst END)",
      measuredGpus: "sum(t.measured_gpus)",
      takenPredictedLostGpuHours: "sum(CASE WHEN t.state = 'taken' THEN t.lost_gpu_hours END)",
      measuredLostGpuHours: "sum(t.measured_lost_gpu_hours)",
    },
    addsUp: true,
    rank: "predictedGpus",
  },
};

/** The dimensions that the rows of a table can be grouped by. */
export const dimensionsOf = (of: LedgerTable): readonly string[] => Object.keys(ledgerTableSources[of].columns);

/** The names of the amounts that each row of an answer has. */
export const amountsOf = (of: LedgerTable): readonly string[] =>
  ledgerTableSources[of].amounts ?? Object.keys(ledgerTableSources[of].sums);
