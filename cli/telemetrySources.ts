import type { Config } from "../exporter/config/schema.ts";
import { latest } from "../exporter/kernel/once.ts";
import { gpuLikeResource } from "../exporter/model/gpuResource.ts";
import { type BelievedExporters, createExporterBelief } from "../exporter/sources/dcgm/believedExporters.ts";
import { createDcgmSource, type DcgmSource, scheduleOnMachine } from "../exporter/sources/dcgm/dcgmSource.ts";
import { discoverTargets } from "../exporter/sources/dcgm/discover.ts";
import { withPodProcesses } from "../exporter/sources/dcgm/podProcesses.ts";
import { createPodProcessSource, type PodProcessSource } from "../exporter/sources/dcgm/podProcessSource.ts";
import { createPrometheusSource } from "../exporter/sources/dcgm/prometheusSource.ts";
import { createGetPool, type GetPool } from "../exporter/sources/http/getPool.ts";
import type { Rounds } from "../exporter/sources/http/rounds.ts";
import type { KubernetesSource } from "../exporter/sources/kubernetes/kubernetesSource.ts";
import type { KubernetesState } from "../exporter/sources/kubernetes/state.ts";
import type { ServingSource } from "../exporter/sources/serving/servingSource.ts";
import { acceptedPage, pagePool } from "./pagePool.ts";
import { servingSourcesOf } from "./servingSource.ts";
import { createSteadyClock } from "./steadyClock.ts";

/** All sources of telemetry that the configuration asks for. */
export interface TelemetrySources {
  /** The sources of GPU telemetry, best first: only the best source of a node counts. */
  readonly sources: readonly DcgmSource[];
  /** The sources of the requests of servers, best first; empty if none is asked. */
  readonly serving: readonly ServingSource[];
  /** Starts all sources; resolves when the first attempt of each is over. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Runs one full round of each source at once, as of `now` (seconds since the epoch). */
  scrapeOnce(now: number): Promise<void>;
}

/**
 * Creates the sources: the exporters themselves, and a Prometheus server where one is configured. With a server, discovered
 * exporters are only looked up, to know on which nodes they run, unless they are to be scraped, too; listed targets are always
 * scraped. `pages` gets the exporters' pages, by default by HTTP, and `servingPages` those of servers.
 */
export function createTelemetrySources(
  config: Config,
  kubernetes: Pick<KubernetesSource, "read">,
  now: () => number,
  monotonic: () => number,
  pages?: GetPool,
  servingPages?: GetPool,
): TelemetrySources {
  const { prometheus, targets } = config.dcgm;
  // The age of a page must be right even after the wall clock was set back: a dead exporter must not look alive for hours.
  const steady = createSteadyClock(now, monotonic).now;
  const exporters = exporterLookup(kubernetes, monotonic);
  const isScraping = prometheus === undefined || prometheus.scrapeToo || targets.length > 0;
  const sources = [
    ...(isScraping ? [createScraper(config, exporters, steady, pages ?? exporterPages(config, steady))] : []),
    ...(prometheus === undefined
      ? []
      : [createServerSource(config, prometheus, { kubernetes, exporters }, now, monotonic)]),
  ];
  const processes = processSource(config, kubernetes, steady, monotonic);
  const [first] = sources;
  if (first !== undefined) {
    const reported = {
      ...first,
      problems: () => [...first.problems(), ...exporters.last().problems, ...(processes?.problems() ?? [])],
    };
    sources.splice(0, 1, reported);
  }
  const serving = servingSourcesOf(config, kubernetes, steady, servingPages);
  const all = async (run: (source: Rounds) => Promise<void>): Promise<void> => {
    await Promise.all([...sources, ...serving, ...(processes === null ? [] : [processes])].map(run));
  };
  return {
    sources: processes === null ? sources : sources.map((source) => withProcesses(source, processes)),
    serving,
    start: () => all((source) => source.start()),
    stop: () => all((source) => source.stop()),
    scrapeOnce: (at) => all((source) => source.scrapeOnce(at)),
  };
}

/** The exporters of pods' processes; `null` where the configuration selects none. */
function processSource(
  config: Config,
  kubernetes: Pick<KubernetesSource, "read">,
  steady: () => number,
  monotonic: () => number,
): PodProcessSource | null {
  const { podProcesses } = config.dcgm;
  if (podProcesses.length === 0) return null;
  const lookup = exporterLookup(kubernetes, monotonic, true);
  const source = createPodProcessSource({
    targets: () => discoverTargets(lookup.find().pods, podProcesses, []),
    pool: exporterPages(config, steady),
    intervalSeconds: config.interval,
    now: steady,
    schedule: scheduleOnMachine,
  });
  return { ...source, scrapeOnce: () => source.scrapeOnce(steady()) };
}

function withProcesses(source: DcgmSource, processes: PodProcessSource): DcgmSource {
  return {
    ...source,
    read: () => {
      const state = source.read();
      return { ...state, pages: withPodProcesses(state.pages, processes.read()) };
    },
  };
}

function exporterPages({ dcgm, interval }: Config, steady: () => number): GetPool {
  const { timeoutSeconds, maxPageBytes: maxBytes, concurrency } = dcgm;
  return pagePool({ timeoutSeconds, maxBytes, concurrency, accept: acceptedPage }, interval, steady);
}

/** Looks up the exporters that are believed; while pods cannot be read, the last known ones remain. */
interface ExporterLookup {
  /** Looks them up anew, which is a walk over all nodes: once before each round is enough. */
  find(): BelievedExporters;
  /** What the last lookup found. */
  last(): BelievedExporters;
}

function exporterLookup(
  kubernetes: Pick<KubernetesSource, "read">,
  monotonic: () => number,
  ofProcesses = false,
): ExporterLookup {
  const belief = createExporterBelief();
  let last: BelievedExporters = { pods: [], rejected: [], problems: [], isSettled: false };
  let seen: Pick<KubernetesState, "exporterPods" | "nodes"> & { readonly knowsNodes: boolean } = {
    exporterPods: [],
    nodes: [],
    knowsNodes: false,
  };
  return {
    find: () => {
      const { exporterPods, known, nodes } = kubernetes.read();
      if (!known.has("pods")) return last;
      const knowsNodes = known.has("nodes");
      const isSame =
        seen.exporterPods === exporterPods && seen.nodes === nodes && seen.knowsNodes === knowsNodes && last.isSettled;
      if (isSame) return last;
      seen = { exporterPods, nodes, knowsNodes };
      const withGpus = nodes.filter(({ capacity }) => Object.keys(capacity).some((name) => gpuLikeResource(name)));
      const gpuNodes = knowsNodes ? new Set(withGpus.map(({ name }) => name)) : null;
      const meant = exporterPods.filter(({ isOfProcesses = false }) => isOfProcesses === ofProcesses);
      last = belief.believe(meant, gpuNodes, monotonic());
      return last;
    },
    last: () => last,
  };
}

function createScraper(config: Config, exporters: ExporterLookup, steady: () => number, pool: GetPool): DcgmSource {
  const { prometheus, discovery, targets } = config.dcgm;
  const isDiscovering = prometheus === undefined || prometheus.scrapeToo;
  const targetsOf = latest((pods: BelievedExporters["pods"]) => discoverTargets(pods, discovery, targets));
  const source = createDcgmSource({
    // While pods cannot be read, the last known exporters are asked: without them, not even the GPUs would be known.
    targets: () => targetsOf(isDiscovering ? exporters.find().pods : noPods),
    pool,
    intervalSeconds: config.interval,
    limits: { maxGpus: config.dcgm.maxGpusPerPage },
    now: steady,
  });
  return { ...source, scrapeOnce: () => source.scrapeOnce(steady()) };
}

const noPods: BelievedExporters["pods"] = [];

/** The number of bytes that are kept of an error's body: enough for the server's reason. */
const errorBytes = 4096;

function createServerSource(
  config: Config,
  settings: NonNullable<Config["dcgm"]["prometheus"]>,
  {
    kubernetes,
    exporters,
  }: { readonly kubernetes: Pick<KubernetesSource, "read">; readonly exporters: ExporterLookup },
  now: () => number,
  monotonic: () => number,
): DcgmSource {
  const pool = createGetPool({
    timeoutSeconds: settings.timeoutSeconds,
    maxBytes: settings.maxAnswerBytes,
    errorBytes,
    concurrency: 1,
    // A server that fails is asked again in the next interval: there is only one, and all telemetry hangs on it.
    backOff: { firstSeconds: config.interval / 2, maxSeconds: config.interval / 2 },
    accept: "application/json",
    keepAliveSeconds: 3 * config.interval,
    now: monotonic,
    random: Math.random,
  });
  return createPrometheusSource({
    server: {
      ...settings,
      caFile: settings.caFile ?? null,
      nodeLabel: settings.nodeLabel ?? null,
    },
    pool,
    intervalSeconds: config.interval,
    ...(settings.maxSampleAgeSeconds === undefined ? {} : { maxSampleAgeSeconds: settings.maxSampleAgeSeconds }),
    exporters: exporters.find,
    knownNodes: () => {
      const { known, nodes } = kubernetes.read();
      return known.has("nodes") ? new Set(nodes.map(({ name }) => name)) : null;
    },
    limits: { maxGpus: config.dcgm.maxGpusPerPage },
    now,
  });
}
