import type { ServerLatency } from "../../analysis/serving/serverLatency.ts";
import type { Recommendation } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import type { OwnGpus } from "./ownGpus.ts";
import { countWords, gpuWords } from "./words.ts";

/** Of more, the first are named. */
const mostNamed = 2;

/**
 * Who that serves would gain from these GPUs: workloads over their target of latency while requests wait, one replica of which fits
 * into a pool where it runs already, and whose autoscalers allow one more. The most waiting requests first.
 */
export function shortServers(
  { analysis }: AdviceMoment,
  { byPool }: Pick<OwnGpus, "byPool">,
): Recommendation["evidence"] {
  const { latencies, snapshot } = analysis;
  const short = latencies.filter(
    ({ isShort, limit, replicas }) => isShort && (limit?.maxReplicas ?? Number.POSITIVE_INFINITY) > replicas,
  );
  if (short.length === 0) return [];
  const pools = poolsOf(analysis, new Set(short.map(({ workload }) => workload)));
  const fits = ({ workload, gpusPerReplica }: ServerLatency): boolean =>
    gpusPerReplica !== null &&
    [...(pools.get(workload) ?? [])].some((pool) => (byPool.get(pool) ?? 0) >= gpusPerReplica);
  return short
    .filter(fits)
    .toSorted((one, other) => (other.waiting ?? 0) - (one.waiting ?? 0) || one.workload - other.workload)
    .slice(0, mostNamed)
    .flatMap(({ workload: index, gpusPerReplica, waiting }) => {
      const workload = snapshot.workloads[index];
      if (workload === undefined) return [];
      const who = `${workload.kind} ${fullName(workload)} of team ${workload.team}`;
      const why = `over its latency target, ${countWords(waiting ?? 0, "request")} wait`;
      return [
        { name: "would gain", value: `${who}: ${why}, one replica more takes ${gpuWords(gpusPerReplica ?? 0)} GPUs` },
      ];
    });
}

/** The pools of the GPUs that each of these workloads holds. */
function poolsOf(
  { snapshot }: AdviceMoment["analysis"],
  wanted: ReadonlySet<number>,
): ReadonlyMap<number, ReadonlySet<string>> {
  const pools = new Map<number, Set<string>>();
  for (const { pool, holders } of snapshot.devices)
    for (const { pod } of holders) {
      const workload = snapshot.pods[pod]?.workload ?? -1;
      if (wanted.has(workload)) pools.set(workload, (pools.get(workload) ?? new Set()).add(pool));
    }
  return pools;
}
