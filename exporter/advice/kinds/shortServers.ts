import type { ServerLatency } from "../../analysis/serving/serverLatency.ts";
import { oncePer } from "../../kernel/once.ts";
import type { Recommendation } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName } from "../momentIndex.ts";
import type { OwnGpus } from "./ownGpus.ts";
import { countWords, gpuWords } from "./words.ts";

/** The most workloads that are named. */
const mostNamed = 2;

/**
 * Who would gain from released GPUs: serving workloads that miss their latency target while requests wait, of which one more
 * replica fits into a pool where they run already, and whose autoscalers allow one more. Those with the most waiting requests
 * come first.
 */
export function shortServers(
  { analysis }: AdviceMoment,
  { byPool }: Pick<OwnGpus, "byPool">,
): Recommendation["evidence"] {
  const { short, pools } = shortOf(analysis);
  const fits = ({ workload, gpusPerReplica }: ServerLatency): boolean =>
    gpusPerReplica !== null &&
    [...(pools.get(workload) ?? [])].some((pool) => (byPool.get(pool) ?? 0) >= gpusPerReplica);
  return short
    .filter(fits)
    .toSorted((one, other) => (other.waiting ?? 0) - (one.waiting ?? 0) || one.workload - other.workload)
    .slice(0, mostNamed)
    .flatMap(({ workload: index, gpusPerReplica, waiting }) => {
      const workload = analysis.snapshot.workloads[index];
      if (workload === undefined) return [];
      const who = `${workload.kind} ${fullName(workload)} of team ${workload.team}`;
      const why = `over its latency target, ${countWords(waiting ?? 0, "request")} wait`;
      return [
        { name: "would gain", value: `${who}: ${why}, one replica more takes ${gpuWords(gpusPerReplica ?? 0)} GPUs` },
      ];
    });
}

/**
 * The workloads that would gain from GPUs, and the pools where they run. They are the same for all GPUs that could be released.
 */
const shortOf = oncePer(({ latencies, snapshot }: AdviceMoment["analysis"]) => {
  const short = latencies.filter(
    ({ isShort, limit, replicas }) => isShort && (limit?.maxReplicas ?? Number.POSITIVE_INFINITY) > replicas,
  );
  return { short, pools: poolsOf(snapshot, new Set(short.map(({ workload }) => workload))) };
});

/** The pools of the GPUs that each of these workloads holds, by index of the workload. */
function poolsOf(
  { devices, pods }: AdviceMoment["analysis"]["snapshot"],
  wanted: ReadonlySet<number>,
): ReadonlyMap<number, ReadonlySet<string>> {
  const pools = new Map<number, Set<string>>();
  if (wanted.size === 0) return pools;
  for (const { pool, holders } of devices)
    for (const { pod } of holders) {
      const workload = pods[pod]?.workload ?? -1;
      if (wanted.has(workload)) pools.set(workload, (pools.get(workload) ?? new Set()).add(pool));
    }
  return pools;
}
