import { fromReplica, series, type WorldSeries } from "../alerts/world.ts";

type State = "active" | "underutilized" | "idle" | "stalled" | "starting" | "gang_wait" | "unobserved" | "unavailable";

/** GPUs that a team holds. */
export const allocated = (cluster: string, of: string, pool: string, state: State, count: number): WorldSeries =>
  series("fairlead_team_gpus", { cluster, team: of, pool, state }, count);
/** What a team is entitled to, and how much more it holds. */
export const share = (cluster: string, of: string, domain: string, entitled: number, deviation: number) => [
  series("fairlead_team_entitled_gpus", { cluster, team: of, domain }, entitled),
  series("fairlead_team_fairness_deviation_gpus", { cluster, team: of, domain }, deviation),
];
/** What pods of a team wait for. */
export const pending = (cluster: string, of: string, count: number): WorldSeries =>
  series("fairlead_team_pending_gpus", { cluster, team: of }, count);
/** What work of team ads waits for in a queue, and why. */
export const waits = (
  queue: string,
  priority: string,
  cause: "quota" | "capacity" | "gang",
  gpus: number,
  cluster = "east",
) =>
  series(
    "fairlead_queue_waiting_gpus",
    {
      cluster,
      queue,
      cause,
      scheduler: "kueue",
      kind: "ClusterQueue",
      domain: "A100",
      team: "ads",
      priority_class: priority,
    },
    gpus,
  );
/** How long that waits at most. */
export const oldest = (queue: string, priority: string, seconds: number, cluster = "east") =>
  series(
    "fairlead_queue_oldest_wait_seconds",
    { cluster, queue, scheduler: "kueue", kind: "ClusterQueue", domain: "A100", team: "ads", priority_class: priority },
    seconds,
  );
/** GPU-seconds that evictions undid. */
export const undone = (of: string, queue: string, value: string) =>
  series(
    "fairlead_evicted_lost_gpu_seconds_total",
    { cluster: "east", queue, team: of, reason: "Preempted", preemptor_queue: "" },
    value,
  );
/** GPU-seconds that failures of programs undid. */
export const failed = (of: string, value: string) =>
  series("fairlead_failed_lost_gpu_seconds_total", { cluster: "east", team: of, error: "unknown" }, value);
/** A budget of a month, and what is spent of it. */
export const budget = (cluster: string, of: string, currency: string, amount: number, spent: number) => [
  series("fairlead_budget_amount", { cluster, team: of, currency }, amount),
  series("fairlead_budget_spent", { cluster, team: of, currency }, spent),
];

/** ads holds in two clusters and two pools, maps in one; vision has a share and holds nothing. */
export const teams = [
  allocated("east", "ads", "A100", "active", 6),
  allocated("east", "ads", "A100", "underutilized", 1),
  allocated("east", "ads", "A100", "idle", 3),
  allocated("east", "ads", "A100", "gang_wait", 2),
  allocated("east", "ads", "L4", "active", 0),
  allocated("east", "ads", "L4", "idle", 4),
  allocated("west", "ads", "A100", "unobserved", 8),
  allocated("east", "maps", "A100", "active", 5),
  ...share("east", "ads", "A100", 8, 4),
  ...share("east", "ads", "L4", 7, -3),
  ...share("west", "ads", "A100", 8, 0),
  ...share("east", "maps", "A100", 5, 0),
  ...share("east", "vision", "A100", 8, -8),
  pending("east", "ads", 10),
  pending("west", "ads", 2),
  pending("east", "vision", 16),
];

/** Another replica says the same; it counts once. */
export const again = teams.map((one) => fromReplica(9, one));
