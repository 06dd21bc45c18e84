import { strandedReasons } from "../../model/fragmentation.ts";
import { strandedColumn } from "./capacityWriter.ts";
import type { LedgerTable } from "./ledgerTableQuery.ts";
import type { LedgerTableSource } from "./ledgerTableSource.ts";
import { hoursPerDay, secondsPerHour } from "./schema.ts";

const byHour = {
  window: "t.hour >= ? AND t.hour < ?",
  windowSeconds: secondsPerHour,
  bucket: null,
};

const times = { day: `t.hour / ${hoursPerDay}`, hour: "t.hour" };

/** As alerts count it: labels and taints that keep every typical pod out are a choice. */
const strandedSum = strandedReasons
  .filter((reason) => reason !== "constraint")
  .map((reason) => `sum(t.${strandedColumn(reason)})`)
  .join(" + ");

/** A streak that lasts is known up to the last moment that the ledger covers. */
const streakEnds = "coalesce(t.ends, seen.last)";
const streakSeconds = `min(${streakEnds}, asked.ends) - max(t.begins, asked.begins)`;

/** The ledger tables of capacity. */
export const capacitySources = {
  domains: {
    ...byHour,
    from: "domain_time t",
    columns: { ...times, domain: "t.domain" },
    sums: {
      seconds: "sum(t.seconds)",
      capacity: "sum(t.capacity_gpu_seconds)",
      allocated: "sum(t.allocated_gpu_seconds)",
      pending: "sum(t.pending_gpu_seconds)",
      guaranteed: "sum(t.guaranteed_gpu_seconds)",
      guaranteedSeconds: "sum(t.guaranteed_seconds)",
    },
    addsUp: true,
    rank: "capacity",
  },
  placement: {
    ...byHour,
    from: "placement_time t",
    columns: { ...times, pool: "t.pool" },
    sums: {
      seconds: "sum(t.seconds)",
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
    },
    addsUp: false,
    rank: "free",
  },
  nodeStreaks: {
    from: `(SELECT ? AS begins, ? AS ends) asked, (SELECT max(ends) AS last FROM intervals WHERE gap IS NULL) seen,
      node_streaks t`,
    // The first condition is what the index answers.
    window: `(t.ends > asked.begins OR t.ends IS NULL) AND ${streakEnds} > asked.begins AND t.begins < asked.ends`,
    windowSeconds: 1,
    columns: { node: "t.node", nodePool: "t.node_pool", pool: "t.pool", state: "t.state" },
    sums: {
      streaks: "count(*)",
      seconds: `sum(${streakSeconds})`,
      gpuSeconds: `sum((${streakSeconds}) * t.gpus)`,
      // With one max, SQLite takes the other columns from the row that has it.
      longestSeconds: `max(${streakSeconds})`,
      longestBegins: "t.begins",
      longestEnds: "t.ends",
      longestGpus: "t.gpus",
    },
    addsUp: false,
    rank: "seconds",
    bucket: null,
  },
} as const satisfies Readonly<Partial<Record<LedgerTable, LedgerTableSource>>>;
