import { DatabaseSync } from "node:sqlite";
import { openSqliteLedger } from "../../exporter/accounts/ledger/sqliteLedger.ts";
import { createSeededDraws } from "../../review/runway/seededDraws.ts";
import { keepAll } from "../accounts/ledger/entries.ts";
import { fillLists } from "./filledLists.ts";
import {
  allocated,
  createFiller,
  createInserts,
  type FilledCluster,
  type Filler,
  filled,
  filledPools,
  filledTeams,
  unallocated,
} from "./filler.ts";

const day = 86_400;
const lastDay = Math.floor(filled.to / day);

/** Creates a ledger of the real schema in a new file, with the same covered time for every cluster of it. */
export async function filledLedger(file: string, intervalSeed: number, clusters: readonly FilledCluster[]) {
  const opened = await openSqliteLedger({ file, retention: keepAll });
  if (!opened.ok) throw new Error(opened.problem.message);
  await opened.ledger.close();
  const db = new DatabaseSync(file);
  db.exec("BEGIN");
  fillIntervals(db, intervalSeed);
  for (const cluster of clusters) {
    const filler = createFiller(db, cluster);
    fillTimes(filler);
    fillLists(filler);
  }
  db.exec("COMMIT");
  return db;
}

/** Runs of covered time with recorded gaps between them; one clock was set back, so that two runs overlap. */
function fillIntervals(db: DatabaseSync, seed: number): void {
  const { uniform } = createSeededDraws(seed);
  const insert = createInserts(db);
  const put = (begins: number, ends: number, gap: string | null): void => {
    insert("intervals", { begins, ends, seconds: ends - begins, gap });
  };
  let at: number = filled.from;
  while (at < filled.to) {
    const end = Math.min(filled.to, at + Math.round((0.2 + 3 * uniform()) * day));
    put(at, end, null);
    const gap = Math.round(uniform() * 9000);
    if (end >= filled.to) break;
    if (uniform() < 0.2) {
      put(end, end - gap, "clock-jump");
      at = end - gap;
      continue;
    }
    put(end, Math.min(filled.to, end + gap), uniform() < 0.5 ? "too-long" : "stale-objects");
    at = Math.min(filled.to, end + gap);
  }
}

/** Hours of the ledger: by day until `foldedUntil`. */
function* periods(): Iterable<Period> {
  for (let at: number = filled.from; at < filled.foldedUntil; at += day)
    yield { daily: 1, hour: at / 3600, seconds: day };
  for (let at: number = filled.foldedUntil; at < filled.to; at += 3600)
    yield { daily: 0, hour: at / 3600, seconds: Math.min(3600, filled.to - at) };
}

interface Period {
  readonly daily: 0 | 1;
  readonly hour: number;
  readonly seconds: number;
}

interface Priced {
  readonly id: number;
  readonly isPriced: boolean;
}

function fillTimes(filler: Filler): void {
  const accounts = fillAccounts(filler);
  const nodeGroups = fillNodeGroups(filler);
  const queues = fillQueues(filler);
  for (const period of periods()) {
    for (const account of accounts) if (!filler.chance(0.4)) fillGpuTime(filler, period, account);
    for (const group of nodeGroups) if (!filler.chance(0.5)) fillNodeTime(filler, period, group);
    for (const queue of queues) if (!filler.chance(0.3)) fillQueueTime(filler, period, queue);
  }
  fillDomainPools(filler);
  for (let at: number = filled.from; at < filled.to; at += 3600) fillCapacityHour(filler, at);
}

function fillGpuTime(
  { amount, chance, insert }: Filler,
  { daily, hour, seconds }: Period,
  { id, isPriced }: Priced,
): void {
  const gpuSeconds = amount(0, 9) * seconds;
  insert("gpu_time", {
    daily,
    hour,
    account: id,
    gpu_seconds: gpuSeconds,
    estimated_gpu_seconds: chance(0.2) ? gpuSeconds * amount(0, 1) : 0,
    unmetered_gpu_seconds: chance(0.5) ? gpuSeconds : 0,
    energy_joules: chance(0.5) ? null : gpuSeconds * 300,
    cost: isPriced ? (gpuSeconds / 3600) * amount(1, 4) : null,
  });
}

function fillNodeTime({ amount, insert }: Filler, { daily, hour, seconds }: Period, { id, isPriced }: Priced): void {
  const nodeSeconds = amount(0, 5) * seconds;
  const cost = isPriced ? nodeSeconds * amount(0.001, 0.01) : null;
  insert("node_time", { daily, hour, node_group: id, node_seconds: nodeSeconds, cost });
}

/** Some time in which entitlement was not known has no amounts but what was allocated and waited for. */
function fillQueueTime({ amount, chance, insert }: Filler, { daily, hour, seconds }: Period, queue: number): void {
  const judged = chance(0.3) ? 0 : seconds * amount(0.2, 1);
  const allocated = amount(0, 9);
  insert("queue_time", {
    daily,
    hour,
    queue,
    seconds,
    judged_seconds: judged,
    allocated_gpu_seconds: allocated * seconds,
    judged_allocated_gpu_seconds: allocated * judged,
    entitled_gpu_seconds: amount(0, 9) * judged,
    excess_gpu_seconds: amount(0, 3) * judged,
    short_by_others_gpu_seconds: amount(0, 2) * judged,
    short_by_idle_gap_gpu_seconds: amount(0, 1) * judged,
    short_by_lost_node_gpu_seconds: amount(0, 1) * judged,
    short_by_node_to_come_gpu_seconds: amount(0, 1) * judged,
    short_by_past_queues_gpu_seconds: amount(0, 1) * judged,
    short_by_promised_twice_gpu_seconds: amount(0, 1) * judged,
    short_indivisible_gpu_seconds: amount(0, 1) * judged,
    pending_gpu_seconds: amount(0, 4) * seconds,
    guaranteed_seconds: seconds,
    guaranteed_gpu_seconds: amount(0, 4) * seconds,
  });
}

/** Accounts of all states; some are there twice, as one is that was not in use for a while. */
function fillAccounts({ insert, pick, chance, cluster }: Filler) {
  const accounts: Priced[] = [];
  const add = (state: string, team: string | null, pool: string, currency: string | null): void => {
    const row = {
      pool: `${cluster.prefix}${pool}`,
      node_pool: `${cluster.prefix}${pool}-nodes`,
      capacity_type: pick(["on-demand", "spot", null]),
      team,
      queue: team === null ? null : pick([team, "shared", null]),
      namespace: team === null ? null : `${team}-jobs`,
      priority_class: pick(["high", null]),
      state,
      last_day: lastDay,
      currency,
    };
    for (let i = 0; i < (chance(0.2) ? 2 : 1); i += 1)
      accounts.push({ id: insert("accounts", row), isPriced: currency !== null });
  };
  for (const [i, pool] of filledPools.entries()) {
    const currency = (): string | null =>
      chance(0.1) ? null : (cluster.currencies[i % cluster.currencies.length] ?? null);
    for (const state of unallocated) add(state, null, pool, currency());
    add("unavailable", null, pool, currency());
    for (const team of filledTeams) {
      for (const state of allocated) if (chance(0.6)) add(state, team, pool, currency());
      if (chance(0.4)) add("unavailable", team, pool, currency());
    }
  }
  return accounts;
}

const nodeStates = [
  "idle_unallocated",
  "idle_allocated",
  "cordoned",
  "not_ready",
  "warm_unallocated",
  "warm_allocated",
  "ready",
  "unknown",
];

function fillNodeGroups({ insert, chance, cluster }: Filler) {
  return filledPools.flatMap((pool, i) =>
    nodeStates.flatMap((state) =>
      ["on-demand", "spot"].map((type) => {
        const currency = chance(0.2)
          ? null
          : (cluster.currencies[(i + (type === "spot" ? 1 : 0)) % cluster.currencies.length] ?? null);
        const [of, nodes] = [`${cluster.prefix}${pool}`, `${cluster.prefix}${pool}-nodes`];
        const row = { pool: of, node_pool: nodes, capacity_type: type, state, last_day: lastDay, currency };
        return { id: insert("node_groups", row), isPriced: currency !== null };
      }),
    ),
  );
}

/** Of each team two queues, and one of nobody; `vision` is never judged. */
function fillQueues({ insert, cluster }: Filler): readonly number[] {
  const teams = [...filledTeams.slice(0, 3), ...filledTeams.slice(0, 2), "waiting-only", null];
  return teams.map((team, i) =>
    insert("queues", {
      scheduler: "kueue",
      kind: "ClusterQueue",
      queue: `queue-${i}`,
      domain: `${cluster.prefix}fast`,
      team,
      last_day: lastDay,
    }),
  );
}

const domains = { fast: ["h100", "a100"], slow: ["l4"], lost: [] } as const;

function fillDomainPools({ insert, cluster: { prefix } }: Filler): void {
  for (const [domain, pools] of Object.entries(domains))
    for (const pool of pools)
      insert("domain_pools", { domain: `${prefix}${domain}`, pool: `${prefix}${pool}`, last_day: lastDay });
}

const begins = { fast: filled.from, slow: filled.from + 8 * day, lost: filled.from + 30 * day } as const;

/** Domains that begin at different times, with hours that are not covered, and a week of few. */
function fillCapacityHour(filler: Filler, at: number): void {
  const { chance } = filler;
  const isFewWeek = at >= filled.from + 14 * day && at < filled.from + 21 * day;
  for (const domain of ["fast", "slow", "lost"] as const) {
    const isMissing = chance(isFewWeek && domain === "slow" ? 0.7 : 0.04);
    if (at >= begins[domain] && !isMissing) fillDomain(filler, at, domain);
  }
  for (const pool of filledPools) if (!chance(0.1)) fillPlacement(filler, at, pool);
  for (const level of ["block", "rack"]) if (!chance(0.1)) fillTopology(filler, at, level);
}

/** The guarantee is known of all, a part or none of the time. */
function fillDomain({ amount, chance, insert, cluster }: Filler, at: number, domain: string): void {
  const seconds = chance(0.2) ? amount(60, 3600) : 3600;
  const guaranteedSeconds = chance(0.3) ? 0 : chance(0.3) ? seconds * amount(0, 1) : seconds;
  insert("domain_time", {
    hour: at / 3600,
    domain: `${cluster.prefix}${domain}`,
    seconds,
    capacity_gpu_seconds: amount(60, 64) * seconds,
    allocated_gpu_seconds: amount(20, 40) * seconds,
    pending_gpu_seconds: (amount(0, 12) + ((at - filled.from) / day) * 0.1) * seconds,
    guaranteed_seconds: guaranteedSeconds,
    guaranteed_gpu_seconds: guaranteedSeconds > 0 ? amount(10, 60) * guaranteedSeconds : null,
  });
}

/** Larger gangs fit for a shorter time, and those of 256 never. */
function fillTopology({ amount, insert, cluster }: Filler, at: number, level: string): void {
  const seconds = amount(60, 3600);
  let fitted = seconds;
  const less = (): number => {
    fitted *= amount(0.6, 1);
    return fitted;
  };
  insert("topology_time", {
    hour: at / 3600,
    pool: `${cluster.prefix}H100`,
    level,
    seconds,
    fitted_8_seconds: less(),
    fitted_16_seconds: less(),
    fitted_32_seconds: less(),
    fitted_64_seconds: less(),
    fitted_128_seconds: less(),
    fitted_256_seconds: 0,
  });
}

function fillPlacement({ amount, insert, cluster }: Filler, at: number, pool: string): void {
  const least = amount(0, 4);
  const part = (): number => amount(0, 2) * 3600;
  insert("placement_time", {
    hour: at / 3600,
    pool: `${cluster.prefix}${pool}`,
    seconds: 3600,
    free_gpu_seconds: amount(0, 20) * 3600,
    stranded_constraint_gpu_seconds: part(),
    stranded_gpus_gpu_seconds: part(),
    stranded_cpu_gpu_seconds: part(),
    stranded_memory_gpu_seconds: part(),
    stranded_cpu_and_memory_gpu_seconds: part(),
    blocked_gpu_seconds: part(),
    largest_placeable_gpu_seconds: (least + 1) * 3600,
    largest_placeable_min: least,
    largest_placeable_max: least + 3,
  });
}
