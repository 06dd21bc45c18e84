import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPriceCache, priceNodes } from "../../../exporter/analysis/prices/priceNodes.ts";
import type { NodePrice, Prices } from "../../../exporter/analysis/prices/prices.ts";
import type { NodeView } from "../../../exporter/join/snapshot.ts";
import { capacityTypes } from "../../../exporter/model/capacityType.ts";
import type { ListedPrice, PriceList } from "../../../exporter/model/prices.ts";
import { now } from "../../join/clusterBuilder.ts";
import { device, moment, nodeView } from "../momentBuilder.ts";
import { account, day, gpuShare, listed, pricedNodes, wholeInstance } from "./priceBuilder.ts";

/** A node of eight H100. */
const p5 = (parts: Partial<NodeView> = {}): NodeView =>
  nodeView({
    name: "p5-a",
    instanceType: "p5.48xlarge",
    nodePool: "training",
    provider: "aws",
    region: "us-east-1",
    physicalGpus: 8,
    devices: [],
    ...parts,
  });

function pricesOf(priceList: PriceList, nodes: readonly NodeView[], settings = wholeInstance): Prices {
  return priceNodes(moment({ nodes, priceList, devices: [], pods: [] }), settings);
}

/** The price of one node. */
function priceOf(priceList: PriceList, node: NodeView = p5(), settings = wholeInstance): NodePrice | undefined {
  return pricesOf(priceList, [node], settings).byNode.get(node.name);
}

const inTable = listed({
  source: "table",
  nodes: pricedNodes({ instanceType: "p5.48xlarge", provider: "aws" }),
  perNodeHour: 55.04,
});

describe("order of sources", () => {
  const inFile = listed({ nodes: pricedNodes({ instanceType: "p5.48xlarge" }), perNodeHour: 40 });
  const quoted = new Map([["p5-a", { perGpuHour: 2.34, perNodeHour: 48, at: now }]]);

  test("the file comes before OpenCost, OpenCost before the table", () => {
    expect(priceOf(account([inFile, inTable], { quoted }))).toMatchObject({ source: "file", perGpuHour: 5 });
    expect(priceOf(account([inTable], { quoted }))).toMatchObject({ source: "opencost", perGpuHour: 6 });
    expect(priceOf(account([inTable]))).toMatchObject({ source: "table", perGpuHour: 6.88, perNodeHour: 55.04 });
  });

  test("the table's prices by instance type come before those by model, wherever they are", () => {
    const byModel = listed({ source: "table", nodes: pricedNodes({ gpuModel: "H100" }), perGpuHour: 6.155 });
    expect(priceOf(account([byModel, inTable]))?.perGpuHour).toBe(6.88);
    expect(priceOf(account([byModel, inTable]), p5({ instanceType: null }))?.perGpuHour).toBe(6.155);
  });

  test("a price of another region than the node's says so, in its source and in its origin", () => {
    const ofVirginia = { ...inTable, regionOfPrice: "us-east-1", origin: "list" };
    expect(priceOf(account([ofVirginia]))).toMatchObject({ source: "table", origin: "list" });
    expect(priceOf(account([ofVirginia]), p5({ region: "eu-west-1" }))).toMatchObject({
      source: "table-other-region",
      perGpuHour: 6.88,
      origin: "list; a price of us-east-1, not of eu-west-1",
    });
    // Nobody knows where the node is, or the price is the same everywhere.
    expect(priceOf(account([ofVirginia]), p5({ region: null }))).toMatchObject({ source: "table", origin: "list" });
    expect(priceOf(account([inTable]), p5({ region: "eu-west-1" }))?.source).toBe("table");
  });

  test("within the file the first entry that fits decides, not the narrowest", () => {
    const general = listed({ perGpuHour: 3 });
    expect(priceOf(account([general, inFile]))?.perGpuHour).toBe(3);
    expect(priceOf(account([inFile, general]))?.perGpuHour).toBe(5);
  });

  test("no source: no price, and why", () => {
    expect(pricesOf(account([]), [p5()]).groups).toMatchObject([
      { price: null, unpriced: "no-price", physicalGpus: 8 },
    ]);
  });
});

describe("nodes that an entry fits", () => {
  test.each([
    ["instanceType", { instanceType: "p5.*" }, { instanceType: "g6.xlarge" }],
    ["gpuModel", { gpuModel: "H1*" }, { gpuModels: ["A100"] }],
    ["provider", { provider: "aws" }, { provider: "gcp" }],
    ["region", { region: "us-*" }, { region: "eu-west-1" }],
    ["nodePool", { nodePool: "tr*ing" }, { nodePool: "inference" }],
    ["labels", { labels: { owner: "lab-*" } }, { labels: { owner: "press" } }],
  ] as const)("by %s, and not where that is another or unknown", (field, nodes, other) => {
    const own = p5({ labels: { owner: "lab-1" } });
    const priced = account([listed({ nodes: pricedNodes(nodes) })]);
    expect(priceOf(priced, own)?.perGpuHour).toBe(10);
    expect(priceOf(priced, { ...own, ...other })).toBeUndefined();
    const unknown = field === "gpuModel" ? { gpuModels: [] } : field === "labels" ? { labels: {} } : { [field]: null };
    expect(priceOf(priced, { ...own, ...unknown })).toBeUndefined();
  });

  test("a label that is called __proto__ or constructor is no match for what every object has", () => {
    expect(priceOf(account([listed({ nodes: pricedNodes({ labels: { constructor: "*" } }) })]))).toBeUndefined();
  });

  test("an instance type of the table is of its cloud: a node of another has no such price, one that says none has", () => {
    expect(priceOf(account([inTable]), p5({ provider: "openstack" }))).toBeUndefined();
    expect(priceOf(account([inTable]), p5({ provider: null }))?.perGpuHour).toBe(6.88);
  });

  test("a node with two models is for no entry by one of them", () => {
    const mixed = p5({ gpuModels: ["A100", "H100"], pools: ["A100", "H100"] });
    expect(priceOf(account([listed({ nodes: pricedNodes({ gpuModel: "H100" }) })]), mixed)).toBeUndefined();
    expect(priceOf(account([listed({ nodes: pricedNodes({ gpuModel: "*100" }) })]), mixed)).toBeDefined();
  });
});

describe("how nodes are paid for", () => {
  test("a node without the label is taken for on-demand", () => {
    expect(priceOf(account([inTable]), p5({ capacityType: null }))).toMatchObject({ capacityType: "on-demand" });
  });

  test.each(["spot", "reserved"] as const)("a %s node never takes an on-demand price", (capacityType) => {
    const { byNode, groups } = pricesOf(account([inTable]), [p5({ capacityType })]);
    expect(byNode.size).toBe(0);
    expect(groups).toMatchObject([{ capacityType, unpriced: "no-price-for-capacity-type" }]);
  });

  test("a spot entry of the file is for spot nodes alone", () => {
    const spot = listed({ capacityType: "spot", perGpuHour: 2 });
    const { byNode } = pricesOf(account([spot, inTable]), [p5(), p5({ name: "p5-b", capacityType: "spot" })]);
    expect([byNode.get("p5-a")?.perGpuHour, byNode.get("p5-b")?.perGpuHour]).toEqual([6.88, 2]);
  });

  test("OpenCost knows what a spot node costs", () => {
    const quoted = new Map([["p5-a", { perGpuHour: null, perNodeHour: 16, at: now }]]);
    expect(priceOf(account([inTable], { quoted }), p5({ capacityType: "spot" }))).toMatchObject({
      perGpuHour: 2,
      capacityType: "spot",
    });
  });
});

describe("amounts", () => {
  test("a node's price is spread over its physical GPUs, those that fell off the bus included", () => {
    const broken = p5({ allocatableGpus: 7, devices: [0] });
    expect(priceOf(account([inTable]), broken)).toMatchObject({ perGpuHour: 6.88, perNodeHour: 55.04 });
  });

  test("an instance with a part of a GPU is one GPU that costs what the node does", () => {
    const g6f = listed({ source: "table", nodes: pricedNodes({ instanceType: "g6f.xlarge" }), perNodeHour: 0.2375 });
    const node = p5({ instanceType: "g6f.xlarge", physicalGpus: 1 });
    expect(priceOf(account([g6f]), node)).toMatchObject({ perGpuHour: 0.2375, perNodeHour: 0.2375 });
  });

  test("a price per GPU is the node's times its GPUs", () => {
    expect(priceOf(account([listed({ perGpuHour: 2.1 })]))).toMatchObject({ perGpuHour: 2.1, perNodeHour: 16.8 });
  });

  test("nodes without GPUs, and nodes whose GPUs nobody can count, are left out", () => {
    const nodes = [p5({ physicalGpus: 0 }), p5({ name: "b", physicalGpus: null })];
    expect(pricesOf(account([inTable]), nodes)).toEqual({ byNode: new Map(), groups: [] });
  });
});

describe("basis", () => {
  const quoted = new Map([["p5-a", { perGpuHour: 2.34, perNodeHour: 55.04, at: now }]]);

  test("OpenCost's node is whole-instance, its GPU is gpu-share", () => {
    expect(priceOf(account([], { quoted }))).toMatchObject({ basis: "whole-instance", perGpuHour: 6.88 });
    expect(priceOf(account([], { quoted }), p5(), gpuShare)).toMatchObject({
      basis: "gpu-share",
      perGpuHour: 2.34,
      perNodeHour: 18.72,
    });
  });

  test("what OpenCost does not say on the wished basis is taken on the other, and says so", () => {
    const node = new Map([["p5-a", { perGpuHour: null, perNodeHour: 55.04, at: now }]]);
    expect(priceOf(account([], { quoted: node }), p5(), gpuShare)?.basis).toBe("whole-instance");
    const gpu = new Map([["p5-a", { perGpuHour: 2.34, perNodeHour: null, at: now }]]);
    expect(priceOf(account([], { quoted: gpu }))?.basis).toBe("gpu-share");
  });

  test("a GPU that OpenCost prices at 0 is one that it does not know", () => {
    const nothing = new Map([["p5-a", { perGpuHour: 0, perNodeHour: 3.1, at: now }]]);
    expect(priceOf(account([], { quoted: nothing }))).toBeUndefined();
    expect(priceOf(account([inTable], { quoted: nothing }))?.source).toBe("table");
  });

  test("the file's entries on the wished basis come first, then its others, then the next source", () => {
    const whole = listed({ perGpuHour: 5 });
    const share = listed({ perGpuHour: 2, basis: "gpu-share" });
    expect(priceOf(account([share, whole]))?.perGpuHour).toBe(5);
    expect(priceOf(account([whole, share]), p5(), gpuShare)).toMatchObject({ perGpuHour: 2, basis: "gpu-share" });
    expect(priceOf(account([whole, inTable]), p5(), gpuShare)).toMatchObject({
      perGpuHour: 5,
      basis: "whole-instance",
    });
  });

  test("the table knows whole instances only, whatever is wished", () => {
    expect(priceOf(account([inTable]), p5(), gpuShare)?.basis).toBe("whole-instance");
  });
});

describe("dates", () => {
  const entry = (perGpuHour: number, validFrom: number | null) => listed({ perGpuHour, validFrom });

  test("a price that begins later is not used before", () => {
    expect(priceOf(account([entry(4, now + 1)]))).toBeUndefined();
    expect(priceOf(account([entry(4, now)]))?.perGpuHour).toBe(4);
  });

  test("of several for the same nodes, the one that began last counts, in whatever order they are", () => {
    const entries = [entry(7, null), entry(5, now - 20 * day), entry(6, now - 30 * day), entry(4, now + day)];
    expect(priceOf(account(entries))?.perGpuHour).toBe(5);
    expect(priceOf(account(entries.toReversed()))?.perGpuHour).toBe(5);
  });

  test("a newer price does not leave the place of its first entry", () => {
    const first = listed({ nodes: pricedNodes({ instanceType: "p5.*" }), perGpuHour: 6 });
    const general = listed({ perGpuHour: 3 });
    const newer = { ...first, perGpuHour: 5, validFrom: now - day };
    expect(priceOf(account([first, general, newer]))?.perGpuHour).toBe(5);
  });

  test("stale: checked more than staleDays ago", () => {
    expect(priceOf(account([listed({ date: now - 60 * day })]))?.isStale).toBe(false);
    expect(priceOf(account([listed({ date: now - 60 * day - 1 })]))?.isStale).toBe(true);
  });
});

describe("groups", () => {
  test("nodes that are paid for alike are one group; another price, pool or capacity type is another", () => {
    const nodes = [
      p5({ name: "a" }),
      p5({ name: "b" }),
      p5({ name: "c", capacityType: "spot" }),
      p5({ name: "d", nodePool: "research" }),
    ];
    const groups = pricesOf(account([inTable]), nodes).groups.map((group) => [
      group.nodePool,
      group.capacityType,
      group.nodes,
      group.physicalGpus,
      group.price?.perNodeHour ?? group.unpriced,
    ]);
    expect(groups).toEqual([
      ["research", null, 1, 8, 55.04],
      ["training", null, 2, 16, 55.04],
      ["training", "spot", 1, 8, "no-price-for-capacity-type"],
    ]);
  });

  test("the GPUs of a node with two models are in two pools, the node in the larger", () => {
    const node = p5({ gpuModels: ["A100", "H100"], pools: ["A100", "H100"], physicalGpus: 4, devices: [0, 1, 2] });
    const devices = [device({ pool: "H100" }), device({ pool: "H100" }), device({ pool: "A100" })];
    const snapshot = moment({ nodes: [node], devices, pods: [], priceList: account([listed()]) });
    const { groups } = priceNodes(snapshot, wholeInstance);
    expect(groups.map(({ pool, nodes, physicalGpus }) => [pool, nodes, physicalGpus])).toEqual([
      ["A100", 0, 1],
      ["H100", 1, 3],
    ]);
  });

  test("unknown-node: neither instance type nor model", () => {
    const node = p5({ instanceType: null, gpuModels: ["unknown"], pools: ["unknown"] });
    expect(pricesOf(account([inTable]), [node]).groups).toMatchObject([{ unpriced: "unknown-node" }]);
  });
});

describe("a large fleet of machines without published types, as openb's", () => {
  const models = ["V100M16", "V100M32", "P100", "T4", "A10", "G2", "G3"];
  const nodes = Array.from({ length: 1200 }, (_, index) => {
    const model = models[index % models.length] ?? "";
    const physicalGpus = [1, 2, 4, 8][index % 4] ?? 1;
    const instanceType = `openb.${model.toLowerCase()}.x${physicalGpus}`;
    return p5({ name: `n${index}`, gpuModels: [model], pools: [model], instanceType, provider: null, physicalGpus });
  });

  test("costs what its GPUs cost by model; what the file leaves out is unpriced, to the GPU", () => {
    const perGpuHour = new Map([
      ["V100*", 1.2],
      ["T4", 0.4],
      ["G?", 9],
      ["A1*", 1],
    ]);
    const entries = [...perGpuHour].map(([gpuModel, amount]) =>
      listed({ nodes: pricedNodes({ gpuModel }), perGpuHour: amount }),
    );
    const { byNode, groups } = pricesOf(account([...entries, inTable]), nodes);
    const cents = (one: NodeView): number => {
      const model = one.gpuModels[0] ?? "";
      const each = model.startsWith("V100") ? 120 : model === "T4" ? 40 : model === "A10" ? 100 : 0;
      return each * (one.physicalGpus ?? 0);
    };
    const total = nodes.reduce((sum, one) => sum + (byNode.get(one.name)?.perNodeHour ?? 0), 0);
    expect(Math.round(total * 100)).toBe(nodes.reduce((sum, one) => sum + cents(one), 0));
    const unpriced = groups.reduce((sum, one) => sum + (one.price === null ? one.physicalGpus : 0), 0);
    expect(unpriced).toBe(nodes.reduce((sum, one) => sum + (cents(one) === 0 ? (one.physicalGpus ?? 0) : 0), 0));
    expect(groups).toHaveLength(models.length * 4);
  });
});

describe("any fleet, any price list", () => {
  const word = fc.constantFrom("a", "b", "ab");
  const maybe = fc.option(word, { nil: null });
  const glob = fc.option(fc.constantFrom("a", "a*", "*b", "*"), { nil: null });
  const labels = fc.dictionary(fc.constantFrom("x", "y"), word, { noNullPrototype: true });
  const node = fc.record({
    nodePool: word,
    instanceType: maybe,
    capacityType: fc.option(fc.constantFrom(...capacityTypes), { nil: null }),
    provider: maybe,
    region: maybe,
    physicalGpus: fc.constantFrom(null, 0, 1, 4, 8),
    labels,
  });
  const price: fc.Arbitrary<ListedPrice> = fc
    .record({
      source: fc.constantFrom("file" as const, "table" as const),
      nodes: fc.record({
        instanceType: glob,
        gpuModel: fc.constantFrom(null, "H*"),
        provider: glob,
        region: glob,
        nodePool: glob,
        labels,
      }),
      capacityType: fc.constantFrom(...capacityTypes),
      perNodeHour: fc.constantFrom(null, 8, 16),
      basis: fc.constantFrom("whole-instance" as const, "gpu-share" as const),
      validFrom: fc.constantFrom(null, now - day, now - 2 * day, now + day),
      date: fc.integer({ min: now - 200 * day, max: now }),
    })
    .map((parts) => listed(parts));
  const fleet = fc
    .array(node, { maxLength: 12 })
    .map((parts) => parts.map((one, index) => p5({ ...one, name: `n${index}` })));

  /** Straight from the words of the documentation, one node at a time. */
  function obvious(prices: readonly ListedPrice[], one: NodeView): number | null {
    const gpus = one.physicalGpus ?? 0;
    if (gpus === 0) return null;
    const paid = one.capacityType ?? "on-demand";
    const glob = (asked: string | null, found: string | null): boolean =>
      asked === null || (found !== null && new RegExp(`^${asked.replaceAll("*", ".*")}$`).test(found));
    const isFor = ({ nodes, source }: ListedPrice): boolean =>
      glob(nodes.instanceType, one.instanceType) &&
      one.gpuModels.every((model) => glob(nodes.gpuModel, model)) &&
      ((source === "table" && nodes.instanceType !== null && one.provider === null) ||
        glob(nodes.provider, one.provider)) &&
      glob(nodes.region, one.region) &&
      glob(nodes.nodePool, one.nodePool) &&
      Object.entries(nodes.labels).every(([label, value]) => glob(value, one.labels[label] ?? null));
    const same = (a: ListedPrice, b: ListedPrice): boolean =>
      [a, b].every((x) => x.source === a.source && x.basis === a.basis && x.capacityType === a.capacityType) &&
      JSON.stringify([a.nodes, Object.entries(a.nodes.labels).sort()]) ===
        JSON.stringify([{ ...b.nodes, labels: a.nodes.labels }, Object.entries(b.nodes.labels).sort()]);
    const begun = prices.filter(({ validFrom }) => (validFrom ?? 0) <= now);
    for (const source of ["file", "table by type", "table by model"]) {
      for (const basis of ["whole-instance", "gpu-share"]) {
        // The table by type and by model is one source: what fits there on the wished basis comes first.
        const first = begun.find(
          (price) =>
            price.source === source.slice(0, price.source.length) &&
            (price.source === "file" || (price.nodes.instanceType !== null) === (source === "table by type")) &&
            price.basis === basis &&
            price.capacityType === paid &&
            isFor(price),
        );
        if (first === undefined) continue;
        const newest = begun
          .filter((price) => same(first, price))
          .reduce((best, price) => ((price.validFrom ?? 0) > (best.validFrom ?? 0) ? price : best));
        return newest.perNodeHour ?? (newest.perGpuHour ?? 0) * gpus;
      }
    }
    return null;
  }

  test("equals looking at each node alone", () => {
    fc.assert(
      fc.property(fc.array(price, { maxLength: 8 }), fleet, (prices, nodes) => {
        // One basis for the table: a table of two would have an order that it never has.
        const tables = prices.map((one) =>
          one.source === "table" ? { ...one, basis: "whole-instance" as const } : one,
        );
        const { byNode } = pricesOf(account(tables), nodes);
        for (const one of nodes) expect(byNode.get(one.name)?.perNodeHour ?? null).toBe(obvious(tables, one));
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  test("every counted GPU is in one group, priced or with a reason; a node's price is its GPUs' together", () => {
    fc.assert(
      fc.property(fc.array(price, { maxLength: 8 }), fleet, (prices, nodes) => {
        const { byNode, groups } = pricesOf(account(prices), nodes);
        const gpus = nodes.reduce((sum, one) => sum + (one.physicalGpus ?? 0), 0);
        expect(groups.reduce((sum, group) => sum + group.physicalGpus, 0)).toBe(gpus);
        for (const group of groups) expect((group.price === null) === (group.unpriced !== null)).toBe(true);
        const total = nodes.reduce((sum, one) => sum + (byNode.get(one.name)?.perNodeHour ?? 0), 0);
        const byGroup = groups.reduce((sum, one) => sum + (one.price?.perGpuHour ?? 0) * one.physicalGpus, 0);
        expect(byGroup).toBeCloseTo(total, 9);
      }),
      { seed: 8, numRuns: 300 },
    );
  });
});

describe("what is kept between moments", () => {
  const anyParts: fc.Arbitrary<Partial<NodeView>> = fc.oneof(
    fc.record({ instanceType: fc.constantFrom("p5.48xlarge", "other", null) }),
    fc.record({ nodePool: fc.constantFrom("training", "research") }),
    fc.record({ capacityType: fc.constantFrom("spot" as const, null) }),
    fc.record({ provider: fc.constantFrom("aws", "gcp", null) }),
    fc.record({ region: fc.constantFrom("us-east-1", "eu-west-1") }),
    fc.record({ physicalGpus: fc.constantFrom(null, 0, 4, 8) }),
    fc.record({ labels: fc.constantFrom({}, { tier: "gold" }, { tier: "iron" }, { other: "x" }) }),
    fc.record({ name: fc.constantFrom("p5-a", "p5-b", "p5-c", "p5-d") }),
    fc.record({ ready: fc.boolean() }),
    fc.constantFrom(
      { gpuModels: ["A100"], pools: ["A100"] },
      { gpuModels: ["A100", "H100"], pools: ["A100", "H100"], devices: [0, 1, 2] },
      { gpuModels: ["A100", "H100"], pools: ["A100", "H100"], devices: [0, 1] },
    ),
  );
  const devices = [device({ pool: "H100" }), device({ pool: "H100" }), device({ pool: "A100" })];
  const quote = { perGpuHour: 3, perNodeHour: null, at: now - 58 * day };
  const onlyGold = pricedNodes({ labels: { tier: "gold" } });
  const accounts = [
    account([]),
    account([inTable]),
    account([listed({ date: now - 59 * day }), listed({ perGpuHour: 20, validFrom: now + 2 * day }), inTable]),
    account([listed({ nodes: onlyGold, validFrom: now - day }), inTable]),
    account([inTable], { quoted: new Map([["p5-b", quote]]) }),
  ];
  const anyChange = fc.record({
    place: fc.nat(4),
    parts: fc.option(anyParts),
    isGone: fc.constantFrom(true, false, false, false),
    account: fc.option(fc.constantFrom(...accounts)),
    settings: fc.constantFrom(wholeInstance, wholeInstance, wholeInstance, gpuShare),
    days: fc.constantFrom(0, 0, 0, 0.5, 1, 2, -1),
  });

  test("changes no price, whatever becomes of nodes, price list and time", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...accounts),
        fc.array(anyChange, { minLength: 2, maxLength: 12 }),
        (first, changes) => {
          const cache = createPriceCache();
          let nodes = ["p5-a", "p5-b", "p5-c"].map((name) => p5({ name }));
          let [priceList, at] = [first, now];
          for (const { place, parts, isGone, account: next, settings, days } of changes) {
            if (isGone) nodes = nodes.toSpliced(place, 1);
            else if (parts !== null) nodes = nodes.toSpliced(place, 1, { ...(nodes[place] ?? p5()), ...parts });
            priceList = next ?? priceList;
            at += days * day;
            const snapshot = { ...moment({ nodes, priceList, devices, pods: [] }), at };
            const kept = priceNodes(snapshot, settings, cache);
            expect(kept).toEqual(priceNodes(snapshot, settings));
            expect(priceNodes({ ...snapshot, nodes: [...nodes] }, settings, cache)).toBe(cache.last?.prices);
          }
        },
      ),
      { seed: 31, numRuns: 1000 },
    );
  });

  test("is used as long as nothing changes that a price depends on", () => {
    const cache = createPriceCache();
    const priceList = account([listed({ date: now - 59 * day })]);
    const pricesAt = (at: number, parts: Partial<NodeView> = {}) =>
      priceNodes({ ...moment({ nodes: [p5(parts)], priceList, devices: [], pods: [] }), at }, wholeInstance, cache);
    const first = pricesAt(now);
    expect(pricesAt(now + 30)).toBe(first);
    expect(pricesAt(now + 60, { ready: false, allocatedByPods: 3, labels: { some: "label" } })).toBe(first);
    expect(first.byNode.get("p5-a")?.isStale).toBe(false);
    expect(pricesAt(now + day).byNode.get("p5-a")?.isStale).toBe(false);
    expect(pricesAt(now + day + 1).byNode.get("p5-a")?.isStale).toBe(true);
    expect(pricesAt(now).byNode.get("p5-a")?.isStale).toBe(false);
  });
});
