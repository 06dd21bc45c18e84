import type { Config } from "../exporter/config/schema.ts";
import { scheduleOnMachine } from "../exporter/sources/dcgm/dcgmSource.ts";
import { createGetPool, type GetPool } from "../exporter/sources/http/getPool.ts";
import type { KubernetesSource } from "../exporter/sources/kubernetes/kubernetesSource.ts";
import { createServingServerSource } from "../exporter/sources/serving/serverSource.ts";
import { createServingSource, type ServingSource } from "../exporter/sources/serving/servingSource.ts";
import { servingTargets } from "../exporter/sources/serving/targets.ts";
import { createSteadyClock } from "./steadyClock.ts";

/**
 * The requests of servers, best source first: pods that are asked themselves, then what a server scraped from them. Empty
 * where the configuration names neither. `pages` gets the pages of pods, by default by HTTP.
 */
export function servingSourcesOf(
  { serving, interval }: Config,
  kubernetes: Pick<KubernetesSource, "read">,
  now: () => number,
  monotonic: () => number,
  pages?: GetPool,
): readonly ServingSource[] {
  // As for GPU telemetry: a page is as old as it is, also after the wall clock was set.
  const steady = createSteadyClock(now, monotonic).now;
  const poolOf = (limits: {
    readonly timeoutSeconds: number;
    readonly maxBytes: number;
    readonly concurrency: number;
    readonly accept: string;
  }) =>
    createGetPool({
      ...limits,
      backOff: { firstSeconds: interval, maxSeconds: 4 * interval },
      keepAliveSeconds: 3 * interval,
      now: steady,
      random: Math.random,
    });
  const common = { intervalSeconds: interval, now: steady, schedule: scheduleOnMachine };
  const { discovery, prometheus, timeoutSeconds, maxPageBytes, concurrency } = serving;
  const sources: ServingSource[] = [];
  if (discovery.length > 0)
    sources.push(
      createServingSource({
        ...common,
        targets: () => servingTargets(kubernetes.read().pods, discovery),
        pool:
          pages ?? poolOf({ timeoutSeconds, maxBytes: maxPageBytes, concurrency, accept: "text/plain;version=0.0.4" }),
      }),
    );
  if (prometheus !== undefined)
    sources.push(
      createServingServerSource({
        ...common,
        server: prometheus,
        pods: () => kubernetes.read().pods,
        pool: poolOf({
          timeoutSeconds: prometheus.timeoutSeconds,
          maxBytes: prometheus.maxAnswerBytes,
          concurrency: 1,
          accept: "application/json",
        }),
      }),
    );
  return sources.map((source) => ({ ...source, scrapeOnce: () => source.scrapeOnce(steady()) }));
}
