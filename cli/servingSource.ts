import type { Config } from "../exporter/config/schema.ts";
import { scheduleOnMachine } from "../exporter/sources/dcgm/dcgmSource.ts";
import type { GetPool } from "../exporter/sources/http/getPool.ts";
import type { KubernetesSource } from "../exporter/sources/kubernetes/kubernetesSource.ts";
import { createServingServerSource } from "../exporter/sources/serving/serverSource.ts";
import { createServingSource, type ServingSource } from "../exporter/sources/serving/servingSource.ts";
import { servingTargets } from "../exporter/sources/serving/targets.ts";
import { acceptedPage, pagePool } from "./pagePool.ts";

/**
 * The sources of the requests of servers, best first: the pods themselves, then what a Prometheus server scraped from them.
 * Empty where the configuration names neither. `pages` gets the pages of pods, by default by HTTP. `steady` shows seconds since
 * the epoch, and does not jump when the wall clock is set.
 */
export function servingSourcesOf(
  { serving, interval }: Config,
  kubernetes: Pick<KubernetesSource, "read">,
  steady: () => number,
  pages?: GetPool,
): readonly ServingSource[] {
  const common = { intervalSeconds: interval, now: steady, schedule: scheduleOnMachine };
  const { discovery, monitors, prometheus, timeoutSeconds, maxPageBytes, concurrency } = serving;
  const sources: ServingSource[] = [];
  if (discovery.length > 0)
    sources.push(
      createServingSource({
        ...common,
        targets: (onUnreadable) => {
          const { pods, monitors: read } = kubernetes.read();
          const believed = read == null ? null : { monitors: read, others: monitors.namespaces };
          return servingTargets(pods, discovery, believed, onUnreadable);
        },
        pool:
          pages ??
          pagePool({ timeoutSeconds, maxBytes: maxPageBytes, concurrency, accept: acceptedPage }, interval, steady),
      }),
    );
  if (prometheus !== undefined)
    sources.push(
      createServingServerSource({
        ...common,
        server: prometheus,
        pods: () => kubernetes.read().pods,
        pool: pagePool(
          {
            timeoutSeconds: prometheus.timeoutSeconds,
            maxBytes: prometheus.maxAnswerBytes,
            concurrency: 1,
            accept: "application/json",
          },
          interval,
          steady,
        ),
      }),
    );
  return sources.map((source) => ({ ...source, scrapeOnce: () => source.scrapeOnce(steady()) }));
}
