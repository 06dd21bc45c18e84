/** The number in the file's header (`FLdr`), which keeps other SQLite files from being taken for ledgers. */
export const ledgerApplicationId = 0x46_4c_64_72;

/**
 * Sums stay sums: rows are added to, never replaced. `hour` is in hours and `day` in days since the epoch (UTC); `daily` is 1
 * for a sum over the day that begins with `hour`. Energy is NULL if none of the row was metered, and `unmetered_gpu_seconds` is
 * the part of `gpu_seconds` for which it is unknown.
 */
const version1 = `
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY, pool TEXT NOT NULL, node_pool TEXT NOT NULL, capacity_type TEXT, team TEXT, queue TEXT,
  namespace TEXT, priority_class TEXT, state TEXT NOT NULL, last_day INTEGER NOT NULL
) STRICT;
CREATE TABLE workloads (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, last_day INTEGER NOT NULL
) STRICT;
CREATE TABLE node_groups (
  id INTEGER PRIMARY KEY, pool TEXT NOT NULL, node_pool TEXT NOT NULL, capacity_type TEXT, state TEXT NOT NULL,
  last_day INTEGER NOT NULL
) STRICT;
CREATE TABLE gpu_time (
  daily INTEGER NOT NULL, hour INTEGER NOT NULL, account INTEGER NOT NULL, gpu_seconds REAL NOT NULL,
  estimated_gpu_seconds REAL NOT NULL, unmetered_gpu_seconds REAL NOT NULL, energy_joules REAL,
  PRIMARY KEY (daily, hour, account)
) STRICT, WITHOUT ROWID;
CREATE TABLE workload_time (
  day INTEGER NOT NULL, workload INTEGER NOT NULL, account INTEGER NOT NULL, gpu_seconds REAL NOT NULL,
  estimated_gpu_seconds REAL NOT NULL, unmetered_gpu_seconds REAL NOT NULL, energy_joules REAL,
  PRIMARY KEY (day, workload, account)
) STRICT, WITHOUT ROWID;
CREATE TABLE pool_time (
  daily INTEGER NOT NULL, hour INTEGER NOT NULL, pool TEXT NOT NULL, physical_gpu_seconds REAL NOT NULL,
  PRIMARY KEY (daily, hour, pool)
) STRICT, WITHOUT ROWID;
CREATE TABLE node_time (
  daily INTEGER NOT NULL, hour INTEGER NOT NULL, node_group INTEGER NOT NULL, node_seconds REAL NOT NULL,
  PRIMARY KEY (daily, hour, node_group)
) STRICT, WITHOUT ROWID;
CREATE TABLE intervals (
  id INTEGER PRIMARY KEY, begins REAL NOT NULL, ends REAL NOT NULL, seconds REAL NOT NULL, gap TEXT
) STRICT;
CREATE TABLE remembered (
  kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE progress (id INTEGER PRIMARY KEY CHECK (id = 1), entry INTEGER NOT NULL) STRICT;
INSERT INTO progress VALUES (1, 0);
`;

/**
 * Queues. In `queue_time`, the amounts from `entitled_gpu_seconds` on, except `pending_gpu_seconds`, are those of the judged
 * seconds. Waits are kept by day in buckets a quarter of an octave wide (waitBucket.ts). An eviction is identified by its
 * `key`.
 */
const version2 = `
CREATE TABLE queues (
  id INTEGER PRIMARY KEY, scheduler TEXT NOT NULL, kind TEXT NOT NULL, queue TEXT NOT NULL, domain TEXT NOT NULL, team TEXT,
  last_day INTEGER NOT NULL
) STRICT;
CREATE TABLE queue_time (
  daily INTEGER NOT NULL, hour INTEGER NOT NULL, queue INTEGER NOT NULL, seconds REAL NOT NULL, judged_seconds REAL NOT NULL,
  held_gpu_seconds REAL NOT NULL, entitled_gpu_seconds REAL NOT NULL, excess_gpu_seconds REAL NOT NULL,
  short_by_others_gpu_seconds REAL NOT NULL, short_by_idle_gap_gpu_seconds REAL NOT NULL, pending_gpu_seconds REAL NOT NULL,
  PRIMARY KEY (daily, hour, queue)
) STRICT, WITHOUT ROWID;
CREATE TABLE wait_groups (
  id INTEGER PRIMARY KEY, queue TEXT, team TEXT, priority_class TEXT NOT NULL, size_class TEXT NOT NULL, phase TEXT NOT NULL,
  last_day INTEGER NOT NULL
) STRICT;
CREATE TABLE waits (
  day INTEGER NOT NULL, wait_group INTEGER NOT NULL, bucket INTEGER NOT NULL, waits INTEGER NOT NULL, seconds REAL NOT NULL,
  PRIMARY KEY (day, wait_group, bucket)
) STRICT, WITHOUT ROWID;
CREATE TABLE evictions (
  key TEXT PRIMARY KEY, at REAL NOT NULL, scheduler TEXT NOT NULL, kind TEXT NOT NULL, namespace TEXT NOT NULL,
  name TEXT NOT NULL, team TEXT NOT NULL, queue TEXT, priority_class TEXT NOT NULL, reason TEXT NOT NULL,
  is_preemption INTEGER NOT NULL, preemptor TEXT, preemptor_team TEXT, preemptor_queue TEXT, gpus REAL,
  lost_gpu_seconds REAL, is_upper_bound INTEGER NOT NULL
) STRICT;
CREATE INDEX evictions_at ON evictions (at);
`;

/**
 * Cost. `cost` is in the currency of the row's account (node group), and NULL exactly where that has none: for time of GPUs
 * without a price, and for all time from before there were costs. A row of `price_log` means that nodes of that kind were
 * counted at this price from `begins` to `ends` (NULL: until now), seconds since the epoch; without a price, currency and
 * amount are NULL. `dated` is the date of the price itself when its use began. `pod_shapes` counts the pods with GPUs that
 * ended on a day, by what they asked for (JSON, shapeText.ts).
 */
const version3 = `
ALTER TABLE accounts ADD COLUMN currency TEXT;
ALTER TABLE gpu_time ADD COLUMN cost REAL;
ALTER TABLE workload_time ADD COLUMN cost REAL;
ALTER TABLE node_groups ADD COLUMN currency TEXT;
ALTER TABLE node_time ADD COLUMN cost REAL;
CREATE TABLE price_log (
  id INTEGER PRIMARY KEY, pool TEXT NOT NULL, node_pool TEXT NOT NULL, instance_type TEXT, capacity_type TEXT, currency TEXT,
  basis TEXT, source TEXT, dated REAL, per_gpu_hour REAL, begins REAL NOT NULL, ends REAL
) STRICT;
CREATE INDEX price_log_open ON price_log (begins) WHERE ends IS NULL;
CREATE TABLE shapes (id INTEGER PRIMARY KEY, shape TEXT NOT NULL, last_day INTEGER NOT NULL) STRICT;
CREATE TABLE pod_shapes (
  day INTEGER NOT NULL, shape INTEGER NOT NULL, pods INTEGER NOT NULL, PRIMARY KEY (day, shape)
) STRICT, WITHOUT ROWID;
`;

/**
 * Recommendations: each lifecycle of each recommendation has one row, which is replaced when something in it changes. Times are
 * seconds since the epoch, and `closed` is NULL while it is open; `record` is JSON that only Fairlead reads
 * (advice/lifecycle/storedSchema.ts).
 */
const version4 = `
CREATE TABLE recommendations (
  id TEXT NOT NULL, first_seen REAL NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, closed REAL, title TEXT NOT NULL,
  from_team TEXT NOT NULL, for_team TEXT NOT NULL, queue TEXT NOT NULL, pool TEXT NOT NULL, gained_gpus_worst REAL NOT NULL,
  gained_gpus_best REAL NOT NULL, lost_gpu_hours REAL NOT NULL, measured_gpus REAL, measured_lost_gpu_hours REAL,
  record TEXT NOT NULL, PRIMARY KEY (id, first_seen)
) STRICT;
CREATE INDEX recommendations_first_seen ON recommendations (first_seen);
`;

/**
 * Capacity. `domain_time` and `placement_time` are always kept by hour, because they are small. The guarantee is known in the
 * `guaranteed_seconds`; `guaranteed_gpu_seconds` is NULL where there are none (in all rows from before version 5). Stranded
 * GPUs have a column for each reason. A row of `node_streaks` is a node that was in one state for at least an hour; `ends` is
 * NULL while it is, and `gpus` is NULL where the number of its GPUs is not known. A domain has pools, and a pool has GPU
 * models.
 */
const version5 = `
CREATE TABLE domain_time (
  hour INTEGER NOT NULL, domain TEXT NOT NULL, seconds REAL NOT NULL, capacity_gpu_seconds REAL NOT NULL,
  held_gpu_seconds REAL NOT NULL, pending_gpu_seconds REAL NOT NULL, guaranteed_seconds REAL NOT NULL,
  guaranteed_gpu_seconds REAL, PRIMARY KEY (hour, domain)
) STRICT, WITHOUT ROWID;
CREATE TABLE placement_time (
  hour INTEGER NOT NULL, pool TEXT NOT NULL, seconds REAL NOT NULL, free_gpu_seconds REAL NOT NULL,
  stranded_constraint_gpu_seconds REAL NOT NULL, stranded_gpus_gpu_seconds REAL NOT NULL,
  stranded_cpu_gpu_seconds REAL NOT NULL, stranded_memory_gpu_seconds REAL NOT NULL,
  stranded_cpu_and_memory_gpu_seconds REAL NOT NULL, blocked_gpu_seconds REAL NOT NULL,
  largest_placeable_gpu_seconds REAL NOT NULL, largest_placeable_min REAL NOT NULL, largest_placeable_max REAL NOT NULL,
  PRIMARY KEY (hour, pool)
) STRICT, WITHOUT ROWID;
CREATE TABLE node_streaks (
  node TEXT NOT NULL, begins REAL NOT NULL, ends REAL, node_pool TEXT NOT NULL, pool TEXT NOT NULL, state TEXT NOT NULL,
  gpus REAL, PRIMARY KEY (node, begins)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_streaks_ends ON node_streaks (ends);
CREATE TABLE domain_pools (
  id INTEGER PRIMARY KEY, domain TEXT NOT NULL, pool TEXT NOT NULL, last_day INTEGER NOT NULL
) STRICT;
CREATE TABLE pool_models (
  id INTEGER PRIMARY KEY, pool TEXT NOT NULL, model TEXT NOT NULL, last_day INTEGER NOT NULL
) STRICT;
ALTER TABLE queue_time ADD COLUMN guaranteed_seconds REAL NOT NULL DEFAULT 0;
ALTER TABLE queue_time ADD COLUMN guaranteed_gpu_seconds REAL;
`;

/**
 * Shortfalls that no borrowing explains: those by absent capacity, by who can fix it, and those by capacity that no gang can
 * use. They are NULL in rows from before this version, for which they are not known. `judged_held_gpu_seconds` is what was
 * allocated in the judged seconds; before this version, it followed from the excess and the two shortfalls.
 */
const version6 = `
ALTER TABLE queue_time ADD COLUMN short_by_lost_node_gpu_seconds REAL;
ALTER TABLE queue_time ADD COLUMN short_by_node_to_come_gpu_seconds REAL;
ALTER TABLE queue_time ADD COLUMN short_by_past_queues_gpu_seconds REAL;
ALTER TABLE queue_time ADD COLUMN short_by_promised_twice_gpu_seconds REAL;
ALTER TABLE queue_time ADD COLUMN short_indivisible_gpu_seconds REAL;
ALTER TABLE queue_time ADD COLUMN judged_held_gpu_seconds REAL NOT NULL DEFAULT 0;
UPDATE queue_time SET judged_held_gpu_seconds = min(held_gpu_seconds, max(0,
  entitled_gpu_seconds + excess_gpu_seconds - short_by_others_gpu_seconds - short_by_idle_gap_gpu_seconds));
`;

/**
 * Plans that were looked at and not advised, and the reasons: a row for each reason that lasted for a quarter of an hour
 * without a pause of more than half an hour. Times are seconds since the epoch; `ends` is when the reason was last seen.
 */
export const withheldMigration = `
CREATE TABLE withheld_advice (
  id TEXT NOT NULL, begins REAL NOT NULL, ends REAL NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, why TEXT NOT NULL,
  reason TEXT NOT NULL, PRIMARY KEY (id, begins)
) STRICT, WITHOUT ROWID;
`;

/**
 * The words that schedulers and dashboards use (`allocated`, `idle` and `underutilized`), also in rows that were written
 * before.
 */
const version8 = `
ALTER TABLE queue_time RENAME COLUMN held_gpu_seconds TO allocated_gpu_seconds;
ALTER TABLE queue_time RENAME COLUMN judged_held_gpu_seconds TO judged_allocated_gpu_seconds;
ALTER TABLE domain_time RENAME COLUMN held_gpu_seconds TO allocated_gpu_seconds;
UPDATE accounts SET state = 'idle' WHERE state = 'held_idle';
UPDATE accounts SET state = 'underutilized' WHERE state = 'underused';
UPDATE node_groups SET state = 'idle_allocated' WHERE state = 'idle_held';
UPDATE node_groups SET state = 'warm_allocated' WHERE state = 'warm_held';
UPDATE node_streaks SET state = 'idle_allocated' WHERE state = 'idle_held';
UPDATE remembered SET kind = 'allocated' WHERE kind = 'held';
UPDATE remembered SET kind = 'active-unallocated' WHERE kind = 'active-unheld';
UPDATE remembered SET value = replace(value, '{"held":', '{"allocated":') WHERE kind = 'usage';
UPDATE remembered SET value = replace(value, '["idle_held"', '["idle_allocated"');
UPDATE remembered SET key = 'allocated/' || substr(key, 6) WHERE kind = 'idle-node' AND key LIKE 'held/%';
UPDATE recommendations SET record = replace(record, '"heldIdleGpus":', '"idleGpus":');
`;

/**
 * GPU time that has a health cause, by hour: all time of the state `unavailable`, and the time of GPUs that were slowed down
 * (`healthTime.ts`). It is a second view of `gpu_time`: from this version on, the causes of `unavailable` add up to that state.
 * A row of `outages` is a GPU (empty: GPUs of the node that fail together) that could not be used for at least five minutes;
 * `ends` is NULL while it cannot.
 */
const version9 = `
CREATE TABLE health_groups (
  id INTEGER PRIMARY KEY, pool TEXT NOT NULL, node_pool TEXT NOT NULL, team TEXT, cause TEXT NOT NULL, currency TEXT,
  last_day INTEGER NOT NULL
) STRICT;
CREATE TABLE health_time (
  hour INTEGER NOT NULL, health_group INTEGER NOT NULL, gpu_seconds REAL NOT NULL, cost REAL,
  PRIMARY KEY (hour, health_group)
) STRICT, WITHOUT ROWID;
CREATE TABLE outages (
  node TEXT NOT NULL, gpu TEXT NOT NULL, begins REAL NOT NULL, ends REAL, node_pool TEXT NOT NULL, pool TEXT NOT NULL,
  cause TEXT NOT NULL, gpus REAL NOT NULL, teams TEXT NOT NULL, PRIMARY KEY (node, gpu, begins)
) STRICT, WITHOUT ROWID;
CREATE INDEX outages_ends ON outages (ends);
`;

/**
 * Programs that failed and were started again, with the GPU time that each failure undid. A failure is identified by its `key`;
 * `error` is the XID error of its GPU, if one was seen.
 */
const version10 = `
CREATE TABLE failures (
  key TEXT PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, pod TEXT NOT NULL,
  team TEXT NOT NULL, error TEXT NOT NULL, gpus REAL, lost_gpu_seconds REAL, is_upper_bound INTEGER NOT NULL
) STRICT;
CREATE INDEX failures_at ON failures (at);
`;

/**
 * What workloads that serve did, by day, and the GPU time that it took (`servedTime.ts`). Requests and tokens are in the row
 * whose group has no currency. Tokens are NULL where no server counts them, and `uncounted_gpu_seconds` is the part of
 * `gpu_seconds` in which a server of the workload did not count them.
 */
const version11 = `
CREATE TABLE served_groups (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, team TEXT NOT NULL, currency TEXT,
  last_day INTEGER NOT NULL
) STRICT;
CREATE TABLE served_time (
  day INTEGER NOT NULL, served_group INTEGER NOT NULL, requests REAL NOT NULL, prompt_tokens REAL, generated_tokens REAL,
  gpu_seconds REAL NOT NULL, uncounted_gpu_seconds REAL NOT NULL, cost REAL, PRIMARY KEY (day, served_group)
) STRICT, WITHOUT ROWID;
`;

/**
 * How long gangs of 8 to 256 GPUs would have fitted into one domain of a level of the cluster's topology, by hour, beside the
 * covered seconds of the level. Clusters without topology have no rows.
 */
const version12 = `
CREATE TABLE topology_time (
  hour INTEGER NOT NULL, pool TEXT NOT NULL, level TEXT NOT NULL, seconds REAL NOT NULL, fitted_8_seconds REAL NOT NULL,
  fitted_16_seconds REAL NOT NULL, fitted_32_seconds REAL NOT NULL, fitted_64_seconds REAL NOT NULL,
  fitted_128_seconds REAL NOT NULL, fitted_256_seconds REAL NOT NULL, PRIMARY KEY (hour, pool, level)
) STRICT, WITHOUT ROWID;
`;

/**
 * The statements that lead from each version to the next; the first begins with an empty file. New versions are appended, and
 * old ones never change.
 */
export const ledgerMigrations: readonly string[] = [
  version1,
  version2,
  version3,
  version4,
  version5,
  version6,
  withheldMigration,
  version8,
  version9,
  version10,
  version11,
  version12,
];

/** The version of the files that this Fairlead writes. */
export const ledgerVersion = ledgerMigrations.length;

export const secondsPerHour = 3600;
export const secondsPerDay = 86_400;
export const hoursPerDay = 24;
