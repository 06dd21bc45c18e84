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
INSERT INTO accounts VALUES (1, 'h100', 'gpu', 'on-demand', 'a', 'a', 'a-jobs', NULL, 'active', 20759);
INSERT INTO workloads VALUES (1, 'Job', 'a-jobs', 'train', 20759);
INSERT INTO gpu_time VALUES (0, 498216, 1, 30, 0, 0, 9000);
INSERT INTO workload_time VALUES (20759, 1, 1, 30, 0, 0, 9000);
INSERT INTO pool_time VALUES (0, 498216, 'h100', 30);
INSERT INTO intervals VALUES (1, 1793577600, 1793577630, 30, NULL);
INSERT INTO remembered VALUES ('idle', 'n1/GPU-1', '1793577600');
UPDATE progress SET entry = 1;
PRAGMA application_id = 1179411570;
PRAGMA user_version = 1;
