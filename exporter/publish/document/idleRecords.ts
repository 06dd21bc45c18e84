import type { Analysis } from "../../analysis/analysis.ts";
import { addHourlyCost } from "../../analysis/prices/addHourlyCost.ts";
import { idleEntrySince } from "../../analysis/stateLimits.ts";
import { compareText } from "../../kernel/compareText.ts";
import type { IdleReason } from "../../model/idleReasons.ts";
import { momentOf } from "./order.ts";
import type { WorkloadRecord } from "./schema.ts";

type IdleRecord = WorkloadRecord["idle"][number];

/** The sums of the idle GPUs of one model that are idle for one reason. */
interface IdleSums {
  readonly model: string;
  readonly reason: IdleReason;
  gpus: number;
  /** Since when all of them have been idle, seconds since the epoch. */
  since: number;
  /** What they cost per hour, by currency. */
  readonly costs: Map<string, number>;
  unpricedGpus: number;
}

/**
 * The GPUs of each workload (by its index) that are in the state `idle`, by model and reason. Estimated holdings are left out:
 * the GPU that they are on is not known, so nobody can be asked about it.
 */
export function idleRecords({
  accountingEntries,
  snapshot,
  prices,
}: Analysis): ReadonlyMap<number, readonly IdleRecord[]> {
  const { pods, devices } = snapshot;
  const found = new Map<number, Map<string, IdleSums>>();
  for (const entry of accountingEntries.inState("idle")) {
    const { estimated, pod: index, device: deviceIndex, gpus, node } = entry;
    if (estimated || index === null || deviceIndex === null) continue;
    const pod = pods[index];
    const device = devices[deviceIndex];
    const since = idleEntrySince(entry, snapshot);
    if (pod === undefined || device === undefined || since === null) continue;
    const models = found.get(pod.workload) ?? new Map<string, IdleSums>();
    found.set(pod.workload, models);
    const { model } = device;
    const reason = entry.idleReason ?? "no-activity";
    const key = `${model}\n${reason}`;
    const sums = models.get(key) ?? { model, reason, gpus: 0, since: 0, costs: new Map(), unpricedGpus: 0 };
    models.set(key, sums);
    sums.gpus += gpus;
    sums.since = Math.max(sums.since, since);
    const price = prices.byNode.get(node);
    if (price === undefined) sums.unpricedGpus += gpus;
    else addHourlyCost(sums.costs, price, gpus);
  }
  return new Map([...found].map(([workload, models]) => [workload, [...models].sort(byName).map(toRecord)]));
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return compareText(one, other);
}

function toRecord([, sums]: readonly [string, IdleSums]): IdleRecord {
  const { model, reason, gpus, since, costs, unpricedGpus } = sums;
  return {
    model,
    reason,
    gpus,
    since: momentOf(since),
    costs: [...costs].sort(byName).map(([currency, perHour]) => ({ currency, perHour })),
    unpricedGpus,
  };
}
