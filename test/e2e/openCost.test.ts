import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPrices } from "../../cli/prices.ts";
import { pricesSchema } from "../../exporter/config/moneySchema.ts";
import type { PriceList } from "../../exporter/model/prices.ts";
import { type Listener, listen } from "../../simulator/listen.ts";
import { openCostPage } from "./openCostPage.ts";
import {
  hasPrometheus,
  hasVictoriaMetrics,
  type ScrapeJob,
  scrapeWithPrometheus,
  scrapeWithVictoriaMetrics,
} from "./scrapedByPrometheus.ts";

const page = openCostPage([
  { node: "p5-a", instanceType: "p5.48xlarge", gpus: 8, perGpu: 2.34, perNode: 55.04 },
  { node: "g6-a", instanceType: "g6.12xlarge", gpus: 4, perGpu: 0.9, perNode: 4.6016 },
  { node: "cpu-a", instanceType: "m5.large", gpus: 0, perGpu: 0, perNode: 0.096 },
]);

let openCost: Listener | null = null;
beforeAll(async () => {
  openCost = await listen((_request, response) => {
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(page);
  });
});
afterAll(() => openCost?.close());

/** OpenCost, scraped as its own documentation says, and once more as a job that does not honour its labels. */
function jobs(): readonly ScrapeJob[] {
  const target = (labels: Readonly<Record<string, string>>) => ({
    address: `127.0.0.1:${openCost?.port ?? 0}`,
    path: "/metrics",
    labels,
  });
  return [
    { name: "opencost", honorLabels: true, targets: [target({ cluster: "east" })] },
    {
      name: "opencost-renamed",
      honorLabels: false,
      targets: [target({ cluster: "west", node: "where-opencost-runs" })],
    },
  ];
}

async function accountOf(url: string, more: Readonly<Record<string, unknown>>): Promise<PriceList> {
  const settings = pricesSchema.parse({ table: false, openCost: { url, ...more } });
  const now = (): number => Date.now() / 1000;
  const source = createPrices(settings, now, now);
  await source.start();
  await source.stop();
  expect(source.problems()).toEqual([]);
  return source.read();
}

const amounts = ({ quoted }: PriceList) =>
  [...quoted].map(([node, { perGpuHour, perNodeHour }]) => [node, perGpuHour, perNodeHour]).sort();

const wanted = [
  ["g6-a", 0.9, 4.6016],
  ["p5-a", 2.34, 55.04],
];

describe.each([
  ["Prometheus", hasPrometheus, scrapeWithPrometheus],
  ["VictoriaMetrics", hasVictoriaMetrics, scrapeWithVictoriaMetrics],
] as const)("OpenCost's prices from %s", (_name, isThere, scrape) => {
  test.runIf(isThere())("are those of its page, by the label that names the node", async () => {
    const server = await scrape(jobs());
    try {
      expect(amounts(await accountOf(server.url, { matchers: { cluster: "east" } }))).toEqual(wanted);
      const renamed = { matchers: { cluster: "west" }, nodeLabel: "exported_node" };
      expect(amounts(await accountOf(server.url, renamed))).toEqual(wanted);
    } finally {
      await server.stop();
    }
  });
});
