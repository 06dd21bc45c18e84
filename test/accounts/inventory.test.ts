import { describe, expect, it } from "vitest";
import { countNodes } from "../../exporter/accounts/inventory.ts";
import type { NodePrice } from "../../exporter/analysis/prices/prices.ts";
import type { NodeView } from "../../exporter/join/snapshot.ts";
import type { IdleKind } from "../../exporter/model/idleKinds.ts";
import { moment, nodeView } from "../analysis/momentBuilder.ts";
import { now } from "../join/clusterBuilder.ts";

const price = (perNodeHour: number, currency = "USD"): NodePrice => ({
  perGpuHour: perNodeHour,
  perNodeHour,
  currency,
  basis: "whole-instance",
  source: "file",
  capacityType: "on-demand",
  date: now,
  isStale: false,
  origin: "",
});

interface Counted {
  readonly node?: Partial<NodeView>;
  readonly idle?: IdleKind;
  readonly isWarmPool?: boolean;
  readonly price?: NodePrice;
}

/** Node counts of nodes `n0`, `n1`, and so on. */
function counts(...all: readonly Counted[]) {
  const nodes = all.map(({ node = {} }, i) => nodeView({ name: `n${i}`, devices: [], ...node }));
  const idle = all.flatMap(({ idle: kind, isWarmPool = false }, i) =>
    kind === undefined ? [] : [{ node: i, kind, isWarmPool, since: now }],
  );
  const byNode = new Map(all.flatMap((one, i) => (one.price === undefined ? [] : [[`n${i}`, one.price] as const])));
  return countNodes({
    snapshot: moment({ nodes }),
    idleNodes: { nodes: idle, since: new Map(), warm: new Set() },
    prices: { byNode, groups: [] },
  });
}

describe("node time", () => {
  it.each<[string, Counted, string]>([
    ["that works", {}, "ready"],
    ["idle, with nothing allocated", { idle: "unallocated" }, "idle_unallocated"],
    ["idle, with idle holders", { idle: "allocated" }, "idle_allocated"],
    ["kept warm, with nothing allocated", { idle: "unallocated", isWarmPool: true }, "warm_unallocated"],
    ["kept warm, with idle holders", { idle: "allocated", isWarmPool: true }, "warm_allocated"],
    ["not Ready, whatever else", { idle: "allocated", node: { ready: false } }, "not_ready"],
    ["cordoned, whatever else", { idle: "allocated", node: { schedulable: false } }, "cordoned"],
    ["about which nothing is known", { node: { ready: null } }, "unknown"],
  ])("of a node %s", (_what, given, state) => {
    expect(counts(given)).toMatchObject([{ state, nodes: 1 }]);
  });

  it("costs what its nodes cost; nodes without a price, and of other currencies, are counted apart", () => {
    const found = counts({ price: price(10) }, { price: price(2.5) }, {}, { price: price(7, "EUR") });
    expect(found.map(({ nodes, currency, costPerHour }) => [nodes, currency, costPerHour])).toEqual([
      [2, "USD", 12.5],
      [1, null, null],
      [1, "EUR", 7],
    ]);
  });
});
