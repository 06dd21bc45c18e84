/** The names of the queue systems as these write them, by scheduler. */
const schedulerNames: ReadonlyMap<string, string> = new Map([
  ["kueue", "Kueue"],
  ["kai", "KAI"],
  ["volcano", "Volcano"],
]);

/** Says what kind of queue it is: `Kueue ClusterQueue`, `team`. */
export function queueKind({ scheduler, kind }: { readonly scheduler: string; readonly kind: string }): string {
  if (kind === "Unqueued") return "work without a queue";
  if (scheduler === "none") return kind.toLowerCase();
  const system = schedulerNames.get(scheduler) ?? scheduler;
  return kind === "Scheduler" ? allQueuesOf(scheduler) : `${system} ${kind}`;
}

/** The name of the root that represents a whole scheduler: `all of Kueue`. */
export function allQueuesOf(scheduler: string): string {
  return scheduler === "none" ? "all teams" : `all of ${schedulerNames.get(scheduler) ?? scheduler}`;
}
