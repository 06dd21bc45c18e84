import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PriceOptions, priceCommand } from "../../../cli/price/priceCommand.ts";
import { run } from "../../../cli/run.ts";
import { parsePriceFile } from "../../../exporter/sources/prices/readPriceFile.ts";
import { captureIo } from "../captureIo.ts";

const at = Date.UTC(2026, 10, 21) / 1000;
let folder = "";
let configFile = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-price-"));
  configFile = path.join(folder, "fairlead.yaml");
  writeFileSync(configFile, "prices: {file: prices.yaml}\n");
  writeFileSync(
    path.join(folder, "prices.yaml"),
    "date: 2026-11-01\norigin: contract 7\nprices:\n  - {instanceType: p5.48xlarge, perNodeHour: 41.28}\n  - {instanceType: p5.48xlarge, nodePool: lab, perGpuHour: 2}\n",
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function price(options: Partial<PriceOptions>) {
  const io = captureIo();
  const defaults = { instanceType: null, gpuModel: null, provider: null, configFile: null } as const;
  const code = await priceCommand({ ...defaults, capacityType: "on-demand", output: "table", ...options }, io, at);
  return { code, out: io.stdout(), err: io.stderr() };
}

describe("fairlead price", () => {
  test("says what a node costs, by which source, of which date and on which basis, and what others ask", async () => {
    const { code, out } = await price({ instanceType: "p5.48xlarge" });
    expect(code).toBe(0);
    expect(out).toContain("costs 55.04 USD per node and hour, 6.88 USD per GPU and hour");
    expect(out).toContain("aws/karpenter-provider-aws");
    expect(out).toContain("region  us-east-1: in other regions the price is another");
    expect(out).toContain("2026-07-20, 124 days ago: stale");
    expect(out).toContain("whole-instance");
    expect(out).toMatch(/^ {2}coreweave +any +8 +6\.155 USD {2}2026-09-20$/m);
    expect(out).not.toMatch(/^ {2}aws /m);
  });

  test("says no region of a price that is the same everywhere", async () => {
    const { out } = await price({ instanceType: "BM.GPU.H100.8" });
    expect(out).toContain("costs 80.00 USD per node and hour");
    expect(out).not.toContain("  region  ");
  });

  test("has the user's file first, and what the table says beside it", async () => {
    const { code, out } = await price({ instanceType: "p5.48xlarge", configFile });
    expect(code).toBe(0);
    expect(out).toContain("costs 41.28 USD per node and hour, 5.16 USD per GPU and hour");
    expect(out).toContain("your file: contract 7");
    expect(out).toContain("the table says 55.04 USD per node and hour");
    expect(out).toContain("not tried: 1 entry of the file");
  });

  test("of a spot node guesses nothing", async () => {
    const { code, out } = await price({ instanceType: "p5.48xlarge", capacityType: "spot" });
    expect(code).toBe(1);
    expect(out).toContain("has no price");
    expect(out).toContain("there is a price for on-demand, which says nothing of this one");
  });

  test("of an unknown type says similar names, and the lines to add, which are an entry once the amount is there", async () => {
    const { code, out } = await price({ instanceType: "p5.49xlarge" });
    expect(code).toBe(1);
    expect(out).toContain("similar names with a price: p5.48xlarge");
    const lines = out.slice(out.indexOf("prices:\n")).replace("perNodeHour: #", "perNodeHour: 12 #");
    expect(parsePriceFile(lines, "prices.yaml")).toMatchObject({
      ok: true,
      value: [{ perNodeHour: 12, nodes: { instanceType: "p5.49xlarge" }, date: at }],
    });
  });

  test("of a GPU model of a provider", async () => {
    const { code, out } = await price({ gpuModel: "H200", provider: "coreweave" });
    expect(code).toBe(0);
    expect(out).toContain("6.305 USD per GPU and hour");
    expect(out).toMatch(/^ {2}azure +Standard_ND96isr_H200_v5/m);
  });

  test("a part of a GPU costs what the node does", async () => {
    expect((await price({ instanceType: "g6f.xlarge" })).out).toContain(
      "g6f.xlarge (0.125 x L4), on-demand, costs 0.2375 USD per node and hour, 1.9 USD per GPU and hour",
    );
  });

  test("as JSON", async () => {
    const known: unknown = JSON.parse((await price({ instanceType: "p5.48xlarge", configFile, output: "json" })).out);
    expect(known).toMatchObject({
      gpus: 8,
      price: { source: "file", perGpuHour: 5.16, date: "2026-11-01", ageDays: 20, isStale: false },
      others: [{ source: "table", perNodeHour: 55.04 }],
    });
    const unknown: unknown = JSON.parse((await price({ instanceType: "x", output: "json" })).out);
    expect(unknown).toMatchObject({ price: null, others: [], compared: [] });
  });

  test("a name with control characters does not reach the terminal as it is", async () => {
    const { out } = await price({ instanceType: "x\u001b[31m\nprices: [" });
    expect(out).not.toContain("\u001b");
    expect(out).toContain('- instanceType: "x');
  });

  test("asked for nothing says how to ask; a wrong capacity type is refused", async () => {
    expect(await price({})).toMatchObject({ code: 2, err: expect.stringContaining("Next step:") });
    const io = captureIo();
    expect(await run(["price", "p5.48xlarge", "--capacity-type", "free"], io)).toBe(2);
    expect(io.stderr()).toContain("on-demand, spot, reserved");
  });
});

describe("a configuration whose price file is wrong", () => {
  test("is refused by check-config, with the file's errors", async () => {
    const bad = path.join(folder, "bad.yaml");
    writeFileSync(bad, "prices: {file: bad-prices.yaml}\n");
    writeFileSync(path.join(folder, "bad-prices.yaml"), "date: 2026-11-01\nprices: [{perNodeHour: 0}]\n");
    const io = captureIo();
    expect(await run(["check-config", bad], io)).toBe(1);
    expect(io.stderr()).toContain("bad-prices.yaml has 1 error");
    expect(io.stderr()).toContain("prices[0].perNodeHour: found 0, expected more than 0");
  });
});

describe("inspect of a dump", () => {
  test("prices its nodes from file and table, and says which have no price", async () => {
    const node = (name: string, type: string, labels: Readonly<Record<string, string>> = {}) => ({
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        uid: name,
        labels: {
          "node.kubernetes.io/instance-type": type,
          "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
          ...labels,
        },
      },
      spec: { providerID: `aws:///us-east-1a/i-${name}` },
      status: { capacity: { "nvidia.com/gpu": "8" }, allocatable: { "nvidia.com/gpu": "8" } },
    });
    const items = [
      node("a", "p5.48xlarge"),
      node("b", "p5en.48xlarge"),
      node("c", "p5.48xlarge", { "karpenter.sh/capacity-type": "spot" }),
    ];
    const dump = path.join(folder, "nodes.json");
    writeFileSync(dump, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    const io = captureIo();
    const args = ["inspect", dump, "-o", "json", "--config.file", configFile, "--at", "2026-11-21T00:00:00Z"];
    expect(await run(args, io)).toBe(0);
    expect(JSON.parse(io.stdout())).toMatchObject({
      nodes: [
        { name: "a", pricePerHour: 41.28, currency: "USD", provider: "aws" },
        { name: "b", pricePerHour: 63.296 },
        { name: "c", pricePerHour: null, currency: null },
      ],
      pools: [{ unpricedGpus: 8, price: { gpus: 16, source: null, isStale: true } }],
      problems: expect.arrayContaining([
        expect.objectContaining({ code: "stale-prices" }),
        expect.objectContaining({ code: "unpriced-no-price-for-capacity-type" }),
      ]),
    });
  });
});
