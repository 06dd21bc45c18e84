import type { DatabaseSync } from "node:sqlite";
import type { QueueAmount } from "../posting.ts";
import { absentAmounts, queueAmounts } from "../posting.ts";
import { createDimensionIds } from "./dimensionIds.ts";
import type { PackedEntry } from "./packedEntry.ts";
import { addUp, type PackedQueues, queueParts } from "./packedQueues.ts";
import { hoursPerDay } from "./schema.ts";
import { tuples } from "./tupleList.ts";

/** The column of each amount in `queue_time`. */
export const queueColumns: Readonly<Record<QueueAmount, string>> = {
  seconds: "seconds",
  judgedSeconds: "judged_seconds",
  allocated: "allocated_gpu_seconds",
  entitled: "entitled_gpu_seconds",
  excess: "excess_gpu_seconds",
  shortfallByBorrowers: "short_by_others_gpu_seconds",
  shortfallByIdleGap: "short_by_idle_gap_gpu_seconds",
  shortfallByLostNode: "short_by_lost_node_gpu_seconds",
  shortfallByNodeToCome: "short_by_node_to_come_gpu_seconds",
  shortfallByPastQueues: "short_by_past_queues_gpu_seconds",
  shortfallByPromisedTwice: "short_by_promised_twice_gpu_seconds",
  shortfallByIndivisible: "short_indivisible_gpu_seconds",
  pending: "pending_gpu_seconds",
  judgedAllocated: "judged_allocated_gpu_seconds",
  guaranteedSeconds: "guaranteed_seconds",
  guaranteed: "guaranteed_gpu_seconds",
};

/** The columns in the order of `queueAmounts`. */
export const queueSums = queueAmounts.map((name) => queueColumns[name]);

/** These are NULL, which is not 0, in rows that do not have them. */
const maybeUnknown: ReadonlySet<string> = new Set(
  ([...Object.values(absentAmounts), "shortfallByIndivisible", "guaranteed"] as const).map(
    (name) => queueColumns[name],
  ),
);

const guaranteedAt = queueAmounts.indexOf("guaranteed");
const guaranteedSecondsAt = queueAmounts.indexOf("guaranteedSeconds");

/** Adds the sums of the row that was to be inserted to those of the existing row; NULL adds nothing. */
export const addExcludedQueueTime = `ON CONFLICT DO UPDATE SET ${queueSums
  .map((column) =>
    maybeUnknown.has(column)
      ? `${column} = CASE WHEN excluded.${column} IS NULL THEN queue_time.${column}
          ELSE coalesce(queue_time.${column}, 0) + excluded.${column} END`
      : `${column} = queue_time.${column} + excluded.${column}`,
  )
  .join(", ")}`;

/** Writes queue time, waits and evictions; `forget` drops the ids that a rolled back transaction has made. */
export function createQueueWriter(db: DatabaseSync) {
  const queueIds = createDimensionIds(db, "queues", ["scheduler", "kind", "queue", "domain", "team"]);
  const groupIds = createDimensionIds(db, "wait_groups", ["queue", "team", "priority_class", "size_class", "phase"]);
  const addTime = db.prepare(
    `INSERT INTO queue_time (daily, hour, queue, ${queueSums.join(", ")})
     VALUES (0, ?, ?, ${queueSums.map(() => "?").join(", ")}) ${addExcludedQueueTime}`,
  );
  const addWaits = db.prepare(
    "INSERT INTO waits (day, wait_group, bucket, waits, seconds) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET waits = waits.waits + excluded.waits, seconds = waits.seconds + excluded.seconds",
  );
  // Every process sees an eviction for as long as the objects report it: the key makes them one.
  const addEviction = db.prepare(
    `INSERT INTO evictions (key, at, scheduler, kind, namespace, name, team, queue, priority_class, reason, is_preemption,
       preemptor, preemptor_team, preemptor_queue, gpus, lost_gpu_seconds, is_upper_bound)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );

  function writeTimes(queues: PackedQueues): void {
    const { keys, hour, queue, amounts } = addUp([queues]);
    const names = tuples(keys, queueParts);
    for (let i = 0; i < hour.length; i += 1) {
      const inHour = hour[i] ?? 0;
      const id = queueIds.idOf(names[queue[i] ?? 0] ?? [], Math.floor(inHour / hoursPerDay));
      const sums: (number | null)[] = [...amounts.subarray(i * queueSums.length, (i + 1) * queueSums.length)];
      if (!((sums[guaranteedSecondsAt] ?? 0) > 0)) sums[guaranteedAt] = null;
      addTime.run(inHour, id, ...sums);
    }
  }

  function writeEvictions({ evictions }: PackedQueues): void {
    for (const e of evictions) {
      addEviction.run(
        e.key,
        e.at,
        e.scheduler,
        e.kind,
        e.namespace,
        e.name,
        e.team,
        e.queue,
        e.priorityClass,
        e.reason,
        e.isPreemption ? 1 : 0,
        e.preemptor?.name ?? null,
        e.preemptor?.team ?? null,
        e.preemptor?.queue ?? null,
        e.gpus,
        e.lostGpuSeconds,
        e.isUpperBound ? 1 : 0,
      );
    }
  }

  return {
    write({ queues }: PackedEntry): void {
      writeTimes(queues);
      for (const { day, group, bucket, waits, seconds } of queues.waits)
        addWaits.run(day, groupIds.idOf(group, day), bucket, waits, seconds);
      writeEvictions(queues);
    },
    forget(): void {
      queueIds.reload();
      groupIds.reload();
    },
  };
}
