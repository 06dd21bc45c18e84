import { fromReplica, series, type WorldSeries } from "../alerts/world.ts";

/** What a team is entitled to, and how much more it holds. */
export const share = (cluster: string, team: string, domain: string, entitled: number, deviation: number) => [
  series("fairlead_team_entitled_gpus", { cluster, team, domain }, entitled),
  series("fairlead_team_fairness_deviation_gpus", { cluster, team, domain }, deviation),
];
/** The labels of a queue. */
export const queue = (cluster: string, name: string, domain: string, team = name) => ({
  cluster,
  scheduler: "kueue",
  kind: "ClusterQueue",
  queue: name,
  domain,
  team,
});
/** What a queue is entitled to, and how much more it holds. */
export const queueShare = (of: ReturnType<typeof queue>, entitled: number, deviation: number) => [
  series("fairlead_queue_entitled_gpus", of, entitled),
  series("fairlead_fairness_deviation_gpus", of, deviation),
];
/** What of the missing GPUs work of a team would take at once. */
export const startable = (cluster: string, team: string, domain: string, gpus: number) =>
  series("fairlead_queue_actionable_shortfall_gpus", queue(cluster, team, domain), gpus);
/** What a queue misses, by cause. */
export const misses = (
  of: ReturnType<typeof queue>,
  gpus: Partial<Record<"by_others" | "idle_gap" | "absent_capacity" | "indivisible", number>>,
) =>
  (["by_others", "idle_gap", "absent_capacity", "indivisible"] as const).map((cause) =>
    series("fairlead_queue_shortfall_gpus", { ...of, cause }, gpus[cause] ?? 0),
  );
/** Jain's index of a domain. */
export const jain = (cluster: string, domain: string, index: number) =>
  series("fairlead_fairness_jain_index", { cluster, domain }, index);
/** What work waits for, and why. */
export const waits = (
  of: ReturnType<typeof queue>,
  priority: string,
  cause: "capacity" | "quota" | "constraint" | "gang" | "scheduler",
  gpus: number,
) => series("fairlead_queue_waiting_gpus", { ...of, priority_class: priority, cause }, gpus);
/** How long work waits at most. */
export const oldest = (of: ReturnType<typeof queue>, priority: string, seconds: number) =>
  series("fairlead_queue_oldest_wait_seconds", { ...of, priority_class: priority }, seconds);
/** The number of gangs that have waited for one to two minutes. */
export const waitingForMinutes = (of: ReturnType<typeof queue>, gangs: number): readonly WorldSeries[] =>
  (["60", "120", "300", "+Inf"] as const).map((bound) =>
    series(
      "fairlead_queue_waiting_gangs_by_age",
      { ...of, priority_class: "low", age_le: bound },
      bound === "60" ? 0 : gangs,
    ),
  );

/** Another replica says the same; it counts once. */
export const twice = (world: readonly WorldSeries[]) => [...world, ...world.map((one) => fromReplica(9, one))];

/** A queue with two domains, one of the same name in another cluster, one that is short, one that is entitled to nothing. */
export const queues = [
  ...queueShare(queue("east", "ads", "A100"), 8, 4),
  ...queueShare(queue("east", "ads", "L4"), 4, -4),
  ...queueShare(queue("east", "maps", "A100"), 8, -4),
  ...queueShare(queue("west", "ads", "A100"), 2, 1),
  ...queueShare(queue("east", "crawl", "A100"), 0, 3),
];
