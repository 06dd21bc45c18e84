import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningPrometheus } from "../../cli/demo/prometheus.ts";
import { buildExporter, type ExporterStack } from "../../cli/exporterStack.ts";
import { type Config, configSchema } from "../../exporter/config/schema.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import type { TelemetryPage } from "../../exporter/model/telemetry.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { anonymousCredentials } from "../../exporter/sources/kubernetes/credentials.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { plainData } from "../plainData.ts";
import { generatedScenario } from "../simulator/scenarios/generated.ts";
import { startAt } from "./accounting.ts";
import { count, hasPrometheus, inOrder, type ScrapeJob, scrapeWithPrometheus } from "./scrapedByPrometheus.ts";

/**
 * Clusters whose exporters speak all dialects, and where: a pod has several replicas of a GPU (2), rows name
 * processes (3), rows are copied for each sharer (6). All have MIG instances.
 */
const seeds = [1, 3, 6];
const nodes = 24;

/** How the server's series are selected, and which label names the node. */
interface View {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Jobs that scrape each exporter in this view. */
  readonly jobs: number;
  /** The server answers as of the moment in which it scraped an exporter of the job `operator`, so that a page has the age 0. */
  readonly asOfNewestScrape?: true;
}

const views: readonly View[] = [
  { name: "honor_labels: false, Kubernetes target labels", settings: { matchers: { job: "operator" } }, jobs: 1 },
  { name: "honor_labels: true, Kubernetes target labels", settings: { matchers: { job: "honored" } }, jobs: 1 },
  { name: "no target labels but the address", settings: { matchers: { job: "static" } }, jobs: 1 },
  {
    name: "a node label, and nothing else that names the exporter",
    settings: { matchers: { job: "relabelled" }, nodeLabel: "node" },
    jobs: 1,
  },
  { name: "four jobs that scrape the same exporters", settings: {}, jobs: 4 },
  { name: "scraped directly too", settings: { matchers: { job: "operator" }, scrapeToo: true }, jobs: 2 },
  {
    name: "scraped directly too, in the millisecond of a scrape",
    settings: { matchers: { job: "operator" }, scrapeToo: true },
    jobs: 2,
    asOfNewestScrape: true,
  },
];

describe.skipIf(!hasPrometheus()).each(seeds)("generated cluster %i, read through a real Prometheus", (seed) => {
  let simulator: Simulator;
  let prometheus: RunningPrometheus;
  let direct: Seen;
  const watched: Watched[] = [];

  beforeAll(async () => {
    simulator = await startSimulator({ scenario: generatedScenario(seed, nodes), seed, startAt });
    simulator.advance(60);
    const scraping = await watch(simulator, {});
    watched.push(scraping);
    direct = await scraping.see();
    prometheus = await scrapeWithPrometheus(jobsFor(scraping.stack));
  });
  afterAll(async () => {
    await Promise.all(watched.map(({ stop }) => stop()));
    await prometheus.stop();
    await simulator.stop();
  });

  it("has GPUs, instances and sharers to compare", () => {
    const devices = direct.pages.flatMap((page) => page.devices);
    expect(devices.length).toBeGreaterThan(nodes);
    expect(devices.some(({ gpuInstance }) => gpuInstance !== null)).toBe(true);
    expect(devices.some(({ virtualSlots }) => virtualSlots > 1)).toBe(true);
    const claimants = devices.flatMap((device) => device.claimants);
    expect(claimants.some(({ slots }) => slots > 1)).toBe(seed === 1);
    expect(claimants.some(({ processUtil }) => processUtil !== null)).toBe(seed === 3);
    expect(direct.snapshot.devices.some(({ holders }) => holders.length > 1)).toBe(true);
  });

  it.each(views)(
    "$name: every page and the whole snapshot are those of direct scraping",
    async ({ settings, jobs, asOfNewestScrape = false }) => {
      const url = asOfNewestScrape ? `${prometheus.url}?time=${await newestScrape(prometheus.url)}` : prometheus.url;
      const through = await watch(simulator, { dcgm: { prometheus: { url, ...settings } } });
      watched.push(through);
      const { pages, snapshot } = await through.see();
      for (const own of direct.pages) {
        const found = pages.filter(({ node }) => node === own.node);
        // An exporter may be scraped directly and by the server in one millisecond: two pages, as they are two sources'.
        const scrapes = new Set(found.map(({ target, receivedAt }) => `${target} ${receivedAt}`));
        expect(found.length, `pages of ${own.node}`).toBe(scrapes.size);
        expect(found.length, `pages of ${own.node}`).toBeGreaterThanOrEqual(1);
        expect(found.length, `pages of ${own.node}`).toBeLessThanOrEqual(jobs);
        for (const page of found) expect(comparable(page)).toEqual(comparable(own));
      }
      const atTheMoment = pages.filter(({ receivedAt }) => receivedAt === simulator.now());
      if (asOfNewestScrape) expect(atTheMoment.length).toBeGreaterThan(direct.pages.length);
      expect(new Set(pages.map(({ node }) => node))).toEqual(new Set(direct.pages.map(({ node }) => node)));
      expect(plainData(snapshot)).toEqual(plainData(direct.snapshot));
      expect(through.stack.problems()).toEqual(watched[0]?.stack.problems());
    },
  );

  it("is a source of its own on / and in fairlead_source_up", async () => {
    const through = watched.at(-1);
    if (through === undefined) throw new Error("nothing was watched");
    const started = await startServer({
      handler: through.stack.app,
      listenAddress: "127.0.0.1:0",
      web: openWebConfig,
      onProblem: () => {},
    });
    if (!started.ok) throw new Error(started.error);
    const text = (path: string): Promise<string> => fetch(started.server.url + path).then((answer) => answer.text());
    const [metrics, page] = await Promise.all([text("/metrics"), text("/")]);
    await started.server.close();
    for (const source of ["dcgm", "dcgm-prometheus"])
      expect(metrics).toContain(`fairlead_source_up{cluster="generated",source="${source}"} 1\n`);
    expect(page).toContain('<th scope="row">dcgm-prometheus</th><td class="ok">up</td>');
  });

  it("a node whose exporter is gone is unobserved within the age limit, and no other node is", async () => {
    const dcgm = { prometheus: { url: prometheus.url, matchers: { job: "operator" } } };
    const through = await watch(simulator, { dcgm });
    watched.push(through);
    const observed = async (): Promise<readonly string[]> => {
      const { snapshot } = await through.see();
      return [...new Set(snapshot.devices.filter(({ reading }) => reading !== null).map(({ node }) => node))].sort();
    };
    const before = await observed();
    const gone = before[0] ?? "";
    simulator.fault({ kind: "exporter-reset", target: { node: gone } });
    for (let tries = 0; tries < 100 && (await count(prometheus.url, 'up{job="operator"} == 0')) < 1; tries++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    simulator.advance(30);
    expect(await observed(), "30 s later").toEqual(before);
    simulator.advance(70);
    expect(await observed(), "100 s later").toEqual(before.filter((node) => node !== gone));
    expect(through.stack.problems()).toContainEqual(
      expect.objectContaining({ code: "server-missing-nodes", message: expect.stringContaining(gone) }),
    );
  });
});

interface Seen {
  readonly pages: readonly TelemetryPage[];
  readonly snapshot: Snapshot;
}

/** An exporter on the simulator, and one look at its pages and its snapshot. */
interface Watched {
  readonly stack: ExporterStack;
  see(): Promise<Seen>;
  stop(): Promise<void>;
}

async function watch(simulator: Simulator, settings: object): Promise<Watched> {
  const config: Config = configSchema.parse({ cluster: "generated", ...settings });
  const client = createApiClient(anonymousCredentials(simulator.apiUrl), systemClock);
  const { now, monotonic } = simulator;
  const stack = buildExporter({ config, client, now, monotonic, telemetryPath: "/metrics", users: {} });
  await stack.kubernetes.start();
  return {
    stack,
    async see() {
      await stack.dcgm.scrapeOnce(simulator.now());
      await stack.cycle.run();
      const snapshot = stack.cycle.latest()?.snapshot;
      if (snapshot === undefined) throw new Error(JSON.stringify(stack.problems()));
      return { pages: stack.dcgm.sources.flatMap((source) => source.read().pages), snapshot };
    },
    async stop() {
      await Promise.all([stack.dcgm.stop(), stack.kubernetes.stop()]);
      await client.close();
    },
  };
}

/** When the server scraped an exporter of the job `operator` last, as it writes it. */
async function newestScrape(url: string): Promise<string> {
  const query = encodeURIComponent('max(timestamp(DCGM_FI_DEV_GPU_UTIL{job="operator"}))');
  const answer = await fetch(`${url}/api/v1/query?query=${query}`);
  const found = /"value":\[[^,]*,"([\d.]+)"\]/.exec(await answer.text());
  if (found?.[1] === undefined) throw new Error("no exporter was scraped");
  return found[1];
}

/** The same exporters in four jobs, as they are found in the wild. */
function jobsFor(stack: ExporterStack): readonly ScrapeJob[] {
  const exporters = stack.kubernetes.read().exporterPods.map(({ namespace, name, nodeName, podIp, ports }) => {
    const address = `${podIp}:${Object.values(ports)[0]}`;
    return { address, nodeName, labels: { namespace, pod: name, container: "nvidia-dcgm-exporter" } };
  });
  const job = (
    name: string,
    honorLabels: boolean,
    labelsOf: (exporter: (typeof exporters)[number]) => Readonly<Record<string, string>>,
  ): ScrapeJob => ({
    name,
    honorLabels,
    targets: exporters.map((exporter) => ({
      address: exporter.address,
      path: "/metrics",
      labels: labelsOf(exporter),
    })),
  });
  return [
    job("operator", false, ({ labels }) => labels),
    job("honored", true, ({ labels }) => ({ ...labels, container: "exporter" })),
    job("static", false, () => ({})),
    job("relabelled", false, ({ nodeName, labels }) => ({ ...labels, instance: "behind-a-proxy", node: nodeName })),
  ];
}

/**
 * All of a page but: `target` (the server, not the exporter), `receivedAt` (when Prometheus scraped it), and `dropped`
 * (rows of metrics that are not asked for, and copies that the server merged, are not seen).
 */
function comparable({ node, hostLabel, devices }: TelemetryPage): object {
  return { node, hostLabel, devices: inOrder(devices) };
}
