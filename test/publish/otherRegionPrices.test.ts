import { expect, it } from "vitest";
import { priceProblems } from "../../exporter/analysis/prices/priceProblems.ts";
import { buildDocument } from "../../exporter/publish/document/buildDocument.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import { renderPage } from "../../exporter/publish/prometheus/render.ts";
import { priceTexts } from "../../exporter/publish/terminal/costText.ts";
import { tablePrices } from "../../exporter/sources/prices/table.ts";
import { priceSourceText } from "../../review/words/names.ts";
import { account } from "../analysis/prices/priceBuilder.ts";
import { gfdLabels, gpuNode } from "../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../join/outcomes.ts";
import { health } from "./moment.ts";
import { readPage } from "./readPage.ts";

/** A p5.48xlarge in a region, priced by the table that Fairlead brings, which is of us-east-1. */
function inRegion(region: string) {
  const labels = {
    ...gfdLabels(8),
    "node.kubernetes.io/instance-type": "p5.48xlarge",
    "topology.kubernetes.io/region": region,
  };
  return analysed(snapshotOf({ nodes: [gpuNode("n", 8, { labels })], prices: account(tablePrices) }));
}

const otherRegion = "prices-of-other-region";

it("of another region: metrics, API, terminal, review and problems say so", () => {
  const analysis = inRegion("eu-west-1");
  const page = renderPage(
    buildFamilies({ analysis, health: health(), limits: { teams: 1000, series: 50_000 } }).families,
  );
  const perGpu = readPage(page.toString("utf8")).find(({ name }) => name === "fairlead_price_per_gpu_hour");
  expect([perGpu?.value, perGpu?.labels.get("price_source")]).toEqual([6.88, "table-other-region"]);
  const { prices } = buildDocument(analysis, []);
  expect(prices).toMatchObject([
    {
      price: {
        perNodeHour: 55.04,
        source: "table-other-region",
        origin: expect.stringMatching(/us-east-1 on-demand Linux; a price of us-east-1, not of eu-west-1$/),
      },
    },
  ]);
  expect(priceTexts(analysis)[0]).toContain("Fairlead's table, price of another region of 2026-07-20");
  expect(priceSourceText("table-other-region")).toBe("Fairlead's table, price of another region");
  const problems = priceProblems(analysis.snapshot, analysis.prices);
  expect(problems.find(({ code }) => code === otherRegion)?.message).toContain("8 GPUs (p5.48xlarge)");
});

it("of the node's own region: nothing says it", () => {
  const analysis = inRegion("us-east-1");
  expect(buildDocument(analysis, []).prices).toMatchObject([{ price: { source: "table" } }]);
  expect(priceTexts(analysis)[0]).toContain("Fairlead's table of 2026-07-20");
  expect(priceProblems(analysis.snapshot, analysis.prices).map(({ code }) => code)).not.toContain(otherRegion);
});
