import type { DatabaseSync } from "node:sqlite";
import { queueAmounts } from "../posting.ts";
import { createDimensionIds } from "./dimensionIds.ts";
import type { PackedEntry } from "./packedEntry.ts";
import { addUp, type PackedQueues, queueParts } from "./packedQueues.ts";
import { hoursPerDay } from "./schema.ts";
import { addRowSql } from "./tables.ts";
import { tuples } from "./tupleList.ts";

const guaranteedAt = queueAmounts.indexOf("guaranteed");
const guaranteedSecondsAt = queueAmounts.indexOf("guaranteedSeconds");

/**
 * Creates the writer of queue time, waits, evictions and failures; its `forget` drops the ids that a rolled back transaction
 * has made.
 */
export function createQueueWriter(db: DatabaseSync) {
  const queueIds = createDimensionIds(db, "queues");
  const groupIds = createDimensionIds(db, "wait_groups");
  const addTime = db.prepare(addRowSql("queue_time"));
  const addWaits = db.prepare(addRowSql("waits"));
  // Every process sees an eviction for as long as the objects report it; the key makes all these reports one row.
  const addEviction = db.prepare(
    `INSERT INTO evictions (key, at, scheduler, kind, namespace, name, team, queue, priority_class, reason, is_preemption,
       preemptor, preemptor_team, preemptor_queue, gpus, lost_gpu_seconds, is_upper_bound)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );

  const addFailure = db.prepare(
    `INSERT INTO failures (key, at, kind, namespace, name, pod, team, error, gpus, lost_gpu_seconds, is_upper_bound)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );

  function writeTimes(queues: PackedQueues): void {
    const { keys, hour, queue, amounts } = addUp([queues]);
    const names = tuples(keys, queueParts);
    for (let i = 0; i < hour.length; i += 1) {
      const inHour = hour[i] ?? 0;
      const id = queueIds.idOf(names[queue[i] ?? 0] ?? [], Math.floor(inHour / hoursPerDay));
      const sums: (number | null)[] = [...amounts.subarray(i * queueAmounts.length, (i + 1) * queueAmounts.length)];
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
      for (const {
        key,
        at,
        kind,
        namespace,
        name,
        pod,
        team,
        error,
        gpus,
        lostGpuSeconds,
        isUpperBound,
      } of queues.failures)
        addFailure.run(key, at, kind, namespace, name, pod, team, error, gpus, lostGpuSeconds, isUpperBound ? 1 : 0);
    },
    forget(): void {
      queueIds.reload();
      groupIds.reload();
    },
  };
}
