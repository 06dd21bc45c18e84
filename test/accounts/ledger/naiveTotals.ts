import type { DatabaseSync } from "node:sqlite";
import type { LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import { queueColumns } from "../../../exporter/accounts/ledger/tables.ts";
import { type Posting, queueAmounts } from "../../../exporter/accounts/posting.ts";

/** GPU-seconds, how many of them are estimated, and joules, by everything that a posting names. */
export type Totals = ReadonlyMap<string, number>;

/** Sums over what was appended, without any of the code under test. */
export function totalsOfEntries(entries: readonly LedgerEntry[]): Totals {
  const totals = new Map<string, number>();
  addEntries(totals, entries);
  return totals;
}

/** Adds more entries to such sums. */
export function addEntries(totals: Map<string, number>, entries: readonly LedgerEntry[]): void {
  for (const { step } of entries) {
    for (const posting of step.postings) {
      add(totals, `${posting.hour} ${JSON.stringify(accountOf(posting))}`, posting);
      if (posting.workload === null) continue;
      const { kind, namespace, name } = posting.workload;
      const day = Math.floor(posting.hour / 86_400);
      add(totals, `${day} ${kind}/${namespace}/${name} ${JSON.stringify(accountOf(posting))}`, posting);
    }
    for (const row of step.poolHours) plus(totals, `${row.hour} pool ${row.pool}`, row.physicalGpuSeconds);
    for (const row of step.nodeTimes) {
      const group = JSON.stringify([row.pool, row.nodePool, row.capacityType, row.state, row.currency]);
      plus(totals, `${row.hour} nodes ${group}`, row.nodeSeconds);
      if (row.cost !== null) plus(totals, `${row.hour} nodes ${group} cost`, row.cost);
    }
    for (const row of step.healthTimes) {
      const group = JSON.stringify([row.pool, row.nodePool, row.team, row.cause, row.currency]);
      plus(totals, `${row.hour} health ${group}`, row.gpuSeconds);
      if (row.cost !== null) plus(totals, `${row.hour} health ${group} cost`, row.cost);
    }
    addServed(totals, step);
    addQueues(totals, step);
    addCapacity(totals, step);
  }
}

/** What two sums do not have in common. */
export function differences(one: Totals, other: Totals): readonly string[] {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys]
    .filter((key) => one.get(key) !== other.get(key))
    .map((key) => `${key}: ${one.get(key)} and ${other.get(key)}`);
}

function addServed(totals: Map<string, number>, { servedTimes }: LedgerEntry["step"]): void {
  for (const row of servedTimes) {
    const key = `${row.day} served ${JSON.stringify([row.kind, row.namespace, row.name, row.team, row.currency])}`;
    plus(totals, `${key} requests`, row.requests);
    for (const name of ["promptTokens", "generatedTokens"] as const)
      if (row[name] !== null) plus(totals, `${key} ${name}`, row[name]);
    plus(totals, key, row.gpuSeconds);
    plus(totals, `${key} uncounted`, row.uncountedGpuSeconds);
    if (row.cost !== null) plus(totals, `${key} cost`, row.cost);
  }
}

function addQueues(totals: Map<string, number>, { queueTimes, waits, evictions }: LedgerEntry["step"]): void {
  for (const time of queueTimes) {
    const key = `${time.hour} queue ${JSON.stringify([time.scheduler, time.kind, time.queue, time.domain, time.team])}`;
    for (const name of queueAmounts)
      if (name !== "guaranteed" || time.guaranteedSeconds > 0) plus(totals, `${key} ${name}`, time[name]);
  }
  for (const wait of waits) {
    const day = Math.floor(wait.endedAt / 86_400);
    const key = `${day} waits ${JSON.stringify([wait.queue, wait.team, wait.priorityClass, wait.phase])}`;
    plus(totals, `${key} count`, 1);
    plus(totals, `${key} seconds`, wait.seconds);
  }
  for (const { eviction } of evictions) totals.set(`eviction ${eviction.key}`, eviction.at);
}

function addCapacity(totals: Map<string, number>, { capacity, nodeStreaks }: LedgerEntry["step"]): void {
  for (const { hour, domain, ...amounts } of capacity.domains) {
    for (const [name, column] of domainColumns)
      if (name !== "guaranteed" || amounts.guaranteedSeconds > 0)
        plus(totals, `${hour} domain ${domain} ${column}`, amounts[name]);
  }
  for (const row of capacity.placement) {
    const key = `${row.hour} placement ${row.pool}`;
    plus(totals, `${key} seconds`, row.seconds);
    plus(totals, `${key} free_gpu_seconds`, row.free);
    for (const [reason, seconds] of Object.entries(row.stranded))
      plus(totals, `${key} stranded_${reason}_gpu_seconds`, seconds);
    plus(totals, `${key} blocked_gpu_seconds`, row.blocked);
    plus(totals, `${key} largest_placeable_gpu_seconds`, row.largestPlaceable);
    const least = `${key} largest_placeable_min`;
    totals.set(least, Math.max(totals.get(least) ?? 0, mostGpus - row.largestPlaceableMin));
    const most = `${key} largest_placeable_max`;
    totals.set(most, Math.max(totals.get(most) ?? 0, row.largestPlaceableMax));
  }
  for (const { hour, pool, level, seconds, fitted } of capacity.topology) {
    plus(totals, `${hour} topology ${JSON.stringify([pool, level])} seconds`, seconds);
    for (const [i, gang] of [8, 16, 32, 64, 128, 256].entries())
      plus(totals, `${hour} topology ${JSON.stringify([pool, level])} fitted_${gang}_seconds`, fitted[i] ?? Number.NaN);
  }
  for (const { domain, pool } of capacity.domainPools) totals.set(`pool ${pool} of ${domain}`, 1);
  for (const { pool, model } of capacity.poolModels) totals.set(`model ${model} of ${pool}`, 1);
  // What was said last of a streak counts.
  for (const { node, begins, state, ends } of nodeStreaks) totals.set(`streak ${node} ${begins} ${state}`, ends ?? -1);
}

/** The least that could be placed only ever gets less: what is missing to this grows, as all totals do. */
const mostGpus = 1000;

const domainColumns = [
  ["seconds", "seconds"],
  ["capacity", "capacity_gpu_seconds"],
  ["allocated", "allocated_gpu_seconds"],
  ["pending", "pending_gpu_seconds"],
  ["guaranteedSeconds", "guaranteed_seconds"],
  ["guaranteed", "guaranteed_gpu_seconds"],
] as const;

/** The same, read from the tables. */
export function totalsOfLedger(db: DatabaseSync): Totals {
  const totals = new Map<string, number>();
  const account =
    "json_array(a.pool, a.node_pool, a.capacity_type, a.team, a.queue, a.namespace, a.priority_class, a.state, a.currency)";
  const read = (sql: string): void => {
    for (const row of db.prepare(sql).iterate()) {
      for (const part of ["gpu_seconds", "estimated_gpu_seconds", "energy_joules", "cost"]) {
        const amount = row[part];
        if (typeof amount === "number") plus(totals, part === "gpu_seconds" ? `${row.k}` : `${row.k} ${part}`, amount);
      }
    }
  };
  read(`SELECT (t.hour * 3600) || ' ' || ${account} AS k, t.* FROM gpu_time t JOIN accounts a ON a.id = t.account`);
  read(
    `SELECT t.day || ' ' || w.kind || '/' || w.namespace || '/' || w.name || ' ' || ${account} AS k, t.*
     FROM workload_time t JOIN accounts a ON a.id = t.account JOIN workloads w ON w.id = t.workload`,
  );
  read("SELECT (hour * 3600) || ' pool ' || pool AS k, physical_gpu_seconds AS gpu_seconds FROM pool_time");
  read(
    `SELECT (t.hour * 3600) || ' nodes ' || json_array(g.pool, g.node_pool, g.capacity_type, g.state, g.currency) AS k,
     t.node_seconds AS gpu_seconds, t.cost AS cost FROM node_time t JOIN node_groups g ON g.id = t.node_group`,
  );
  const served = "t.day || ' served ' || json_array(g.kind, g.namespace, g.name, g.team, g.currency)";
  for (const [name, column] of [
    ["", "gpu_seconds"],
    [" requests", "requests"],
    [" promptTokens", "prompt_tokens"],
    [" generatedTokens", "generated_tokens"],
    [" uncounted", "uncounted_gpu_seconds"],
    [" cost", "cost"],
  ]) {
    read(
      `SELECT ${served} || '${name}' AS k, t.${column} AS gpu_seconds
       FROM served_time t JOIN served_groups g ON g.id = t.served_group`,
    );
  }
  const queue = "json_array(q.scheduler, q.kind, q.queue, q.domain, q.team)";
  for (const name of queueAmounts) {
    read(
      `SELECT (t.hour * 3600) || ' queue ' || ${queue} || ' ${name}' AS k, t.${queueColumns[name]} AS gpu_seconds
       FROM queue_time t JOIN queues q ON q.id = t.queue`,
    );
  }
  const group = "json_array(g.queue, g.team, g.priority_class, g.phase)";
  for (const [name, column] of [
    ["count", "waits"],
    ["seconds", "seconds"],
  ]) {
    read(
      `SELECT t.day || ' waits ' || ${group} || ' ${name}' AS k, t.${column} AS gpu_seconds
       FROM waits t JOIN wait_groups g ON g.id = t.wait_group`,
    );
  }
  read("SELECT 'eviction ' || key AS k, at AS gpu_seconds FROM evictions");
  for (const [table, of, what] of [
    ["domain_time", "domain", "domain"],
    ["placement_time", "pool", "placement"],
  ]) {
    for (const row of db.prepare(`SELECT * FROM ${table}`).iterate()) {
      for (const [column, value] of Object.entries(row)) {
        if (column === "hour" || typeof value !== "number") continue;
        const amount = column === "largest_placeable_min" ? mostGpus - value : value;
        totals.set(`${Number(row.hour) * 3600} ${what} ${row[`${of}`]} ${column}`, amount);
      }
    }
  }
  readTopology(totals, db);
  read("SELECT DISTINCT 'pool ' || pool || ' of ' || domain AS k, 1 AS gpu_seconds FROM domain_pools");
  read("SELECT DISTINCT 'model ' || model || ' of ' || pool AS k, 1 AS gpu_seconds FROM pool_models");
  for (const { node, begins, state, ends } of db.prepare("SELECT * FROM node_streaks").iterate())
    totals.set(`streak ${node} ${begins} ${state}`, Number(ends ?? -1));
  return totals;
}

function readTopology(totals: Map<string, number>, db: DatabaseSync): void {
  for (const { hour, pool, level, ...amounts } of db.prepare("SELECT * FROM topology_time").iterate())
    for (const [column, value] of Object.entries(amounts))
      totals.set(`${Number(hour) * 3600} topology ${JSON.stringify([pool, level])} ${column}`, Number(value));
}

function accountOf({ account }: Posting): readonly (string | null)[] {
  const { pool, nodePool, capacityType, team, queue, namespace, priorityClass, state, currency } = account;
  return [pool, nodePool, capacityType, team, queue, namespace, priorityClass, state, currency];
}

function add(totals: Map<string, number>, key: string, posting: Posting): void {
  plus(totals, key, posting.gpuSeconds);
  plus(totals, `${key} estimated_gpu_seconds`, posting.estimatedGpuSeconds);
  if (posting.cost !== null) plus(totals, `${key} cost`, posting.cost);
  if (posting.energyJoules !== null) plus(totals, `${key} energy_joules`, posting.energyJoules);
}

function plus(totals: Map<string, number>, key: string, amount: number): void {
  totals.set(key, (totals.get(key) ?? 0) + amount);
}
