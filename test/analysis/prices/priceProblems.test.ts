import { describe, expect, test } from "vitest";
import { priceNodes } from "../../../exporter/analysis/prices/priceNodes.ts";
import { priceProblems } from "../../../exporter/analysis/prices/priceProblems.ts";
import type { NodeView } from "../../../exporter/join/snapshot.ts";
import type { PriceList } from "../../../exporter/model/prices.ts";
import { now } from "../../join/clusterBuilder.ts";
import { moment, nodeView } from "../momentBuilder.ts";
import { account, day, listed, pricedNodes, wholeInstance } from "./priceBuilder.ts";

function problemsOf(priceList: PriceList, nodes: readonly NodeView[]) {
  const snapshot = moment({ nodes, devices: [], pods: [], priceList });
  return priceProblems(snapshot, priceNodes(snapshot, wholeInstance));
}

const eight = (name: string, parts: Partial<NodeView> = {}): NodeView =>
  nodeView({ name, physicalGpus: 8, instanceType: "p5.48xlarge", devices: [], ...parts });

describe("what a person should know of prices", () => {
  test("nothing where all are priced and young", () => {
    expect(problemsOf(account([listed()]), [eight("a")])).toEqual([]);
  });

  test("stale prices: one line with the GPUs, the oldest date and what to do", () => {
    const old = listed({ nodes: pricedNodes({ nodePool: "old" }), date: now - 124 * day });
    const nodes = [eight("a"), eight("b", { nodePool: "old" }), eight("c", { nodePool: "old" })];
    const oldest = new Date((now - 124 * day) * 1000).toISOString().slice(0, 10);
    expect(problemsOf(account([old, listed()]), nodes)).toMatchObject([
      {
        code: "stale-prices",
        message: `the prices of 16 GPUs (p5.48xlarge) are older than they should be: the oldest is of ${oldest}, 124 days ago`,
        nextStep: expect.stringContaining("fairlead price INSTANCE_TYPE"),
      },
    ]);
  });

  test("GPUs without a price: one line for each reason, with what to add", () => {
    const nodes = [
      eight("a", { capacityType: "spot" }),
      eight("b", { instanceType: "mystery.large", physicalGpus: 1 }),
      eight("c", { instanceType: null, gpuModels: ["unknown"], pools: ["unknown"] }),
    ];
    const found = problemsOf(account([listed({ nodes: pricedNodes({ instanceType: "p5.*" }) })]), nodes);
    expect(found.map(({ code, message }) => [code, message])).toEqual([
      [
        "unpriced-no-price",
        "1 GPU has no price (mystery.large): no source has a price for them; their cost is unknown",
      ],
      [
        "unpriced-no-price-for-capacity-type",
        "8 GPUs have no price (p5.48xlarge spot): there are prices, but not for the way in which these nodes are paid for; their cost is unknown",
      ],
      [
        "unpriced-unknown-node",
        "8 GPUs have no price (unknown): their nodes say neither instance type nor GPU model; their cost is unknown",
      ],
    ]);
    expect(found[1]?.nextStep).toContain("{instanceType: p5.48xlarge, capacityType: spot, perNodeHour: ...");
  });

  test("with the table alone it is worth knowing; it is a warning for those who keep prices of their own", () => {
    const table = listed({ source: "table", nodes: pricedNodes({ instanceType: "p4*" }) });
    expect(problemsOf(account([table]), [eight("a")])).toMatchObject([{ severity: "info" }]);
    const own = listed({ nodes: pricedNodes({ instanceType: "p4*" }) });
    expect(problemsOf(account([own]), [eight("a")])).toMatchObject([{ severity: "warning" }]);
  });

  test("without any price list nobody asked", () => {
    expect(problemsOf(account([]), [eight("a")])).toEqual([]);
  });

  test("many instance types are counted, not listed; a long name is cut", () => {
    const nodes = Array.from({ length: 9 }, (_, i) => eight(`n${i}`, { instanceType: `${i}${"x".repeat(300)}` }));
    const [problem] = problemsOf(account([listed({ nodes: pricedNodes({ provider: "other" }) })]), nodes);
    expect(problem?.message).toContain("and 5 more");
    expect(problem?.message.length).toBeLessThan(600);
  });

  test("prices of OpenCost for other nodes only: the label or the cluster is wrong", () => {
    const quoted = new Map([["elsewhere", { perGpuHour: 1, perNodeHour: 8, at: now }]]);
    const found = problemsOf(account([listed()], { quoted }), [eight("a")]);
    expect(found).toMatchObject([{ code: "opencost-other-nodes" }]);
    const own = new Map([["a", { perGpuHour: 1, perNodeHour: 8, at: now }]]);
    expect(problemsOf(account([listed()], { quoted: own }), [eight("a")])).toEqual([]);
  });
});
