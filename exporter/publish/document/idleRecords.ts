import type { Analysis } from "../../analysis/analysis.ts";
import { quietSince } from "../../analysis/stateLimits.ts";
import { compareText } from "../../kernel/compareText.ts";
import { momentOf } from "./order.ts";
import type { WorkloadRecord } from "./schema.ts";

type IdleRecord = WorkloadRecord["idle"][number];

/** Idle GPUs of one model, being added up. */
interface IdleSums {
  gpus: number;
  /** Seconds since the epoch. */
  since: number;
  /** Per hour, by currency. */
  readonly costs: Map<string, number>;
  unpricedGpus: number;
}

/**
 * The GPUs of each workload (by its index) that are in the state `idle`, by model. Estimated holdings are left out: which GPU
 * they are on is not known, so that nobody can be asked about it.
 */
export function idleRecords({
  accountingEntries,
  snapshot,
  prices,
}: Analysis): ReadonlyMap<number, readonly IdleRecord[]> {
  const { pods, devices, at } = snapshot;
  const found = new Map<number, Map<string, IdleSums>>();
  for (const { state, estimated, pod: index, device: deviceIndex, gpus, node } of accountingEntries) {
    if (state !== "idle" || estimated || index === null || deviceIndex === null) continue;
    const pod = pods[index];
    const device = devices[deviceIndex];
    const idleSince = device?.holders.find((holder) => holder.pod === index)?.idleSince ?? null;
    if (pod === undefined || device === undefined || idleSince === null) continue;
    const models = found.get(pod.workload) ?? new Map<string, IdleSums>();
    found.set(pod.workload, models);
    const sums = models.get(device.model) ?? { gpus: 0, since: 0, costs: new Map(), unpricedGpus: 0 };
    models.set(device.model, sums);
    sums.gpus += gpus;
    sums.since = Math.max(sums.since, quietSince(idleSince, pod.boundAt ?? pod.createdAt ?? 0, at));
    const price = prices.byNode.get(node);
    if (price === undefined) sums.unpricedGpus += gpus;
    else sums.costs.set(price.currency, (sums.costs.get(price.currency) ?? 0) + gpus * price.perGpuHour);
  }
  return new Map([...found].map(([workload, models]) => [workload, [...models].sort(byName).map(toRecord)]));
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return compareText(one, other);
}

function toRecord([model, { gpus, since, costs, unpricedGpus }]: readonly [string, IdleSums]): IdleRecord {
  return {
    model,
    gpus,
    since: momentOf(since),
    costs: [...costs].sort(byName).map(([currency, perHour]) => ({ currency, perHour })),
    unpricedGpus,
  };
}
