import { describe, expect, it } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { NodePoolView } from "../../../exporter/join/snapshot.ts";
import { noAdvice } from "../../../exporter/model/recommendation.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { nodeFacts } from "../../../exporter/publish/explain/nodeFacts.ts";
import { buildFamilies } from "../../../exporter/publish/families.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { idleNodeLines } from "../../../exporter/publish/terminal/idleNodeLines.ts";
import { layOut, plainTerminal } from "../../../exporter/publish/terminal/layout.ts";
import { idleNodeMoment, nodePool } from "../idleNodeMoment.ts";
import { at, health, smallMoment } from "../moment.ts";
import { wholeStartPage } from "../pages/wholeStartPage.ts";
import { readPage } from "../readPage.ts";
import { runningTotals } from "../runningTotals.ts";

const limits = { teams: 1000, series: 50_000 };
const page = readPage(
  renderPage(
    buildFamilies({ analysis: idleNodeMoment, health: health(), limits, accounts: runningTotals(idleNodeMoment) })
      .families,
  ).toString("utf8"),
);

/** Values of a metric by the values of these labels; each set of labels is there once. */
function values(name: string, ...labels: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const sample of page) {
    if (sample.name !== name) continue;
    const key = labels.map((label) => sample.labels.get(label) ?? "").join(" ");
    expect(found).not.toHaveProperty([key]);
    found[key] = sample.value;
  }
  return found;
}

describe("on the page", () => {
  const kind = ["node_pool", "capacity_type", "idle_kind", "warm_pool"] as const;

  it("idle nodes are counted by kind, warm ones apart, with 0 for kinds without a node", () => {
    expect(values("fairlead_idle_nodes", ...kind)).toEqual({
      "train on-demand unallocated false": 2,
      "train on-demand allocated false": 0,
      "burst spot unallocated false": 0,
      "burst spot allocated false": 1,
      "burst spot unallocated true": 1,
      "burst spot allocated true": 0,
    });
  });

  it("the longest streak is that of a node that is idle now", () => {
    expect(values("fairlead_idle_node_longest_seconds", "node_pool", "idle_kind", "warm_pool")).toEqual({
      "train unallocated false": 5 * 3600,
      "burst allocated false": 3600,
      "burst unallocated true": 9 * 3600,
    });
  });

  it("costs are those of nodes with a price", () => {
    const perHour = { "train on-demand unallocated false USD": 55.04, "burst spot allocated false USD": 20 };
    expect(values("fairlead_idle_node_cost_per_hour", ...kind, "currency")).toEqual(perHour);
    const total = values("fairlead_idle_node_cost_total", ...kind, "currency");
    expect(Object.keys(total).sort()).toEqual(Object.keys(perHour).sort());
    expect(total["train on-demand unallocated false USD"]).toBeCloseTo((55.04 * 30) / 3600, 9);
  });

  it("seconds and hours are those of the counted half minute", () => {
    expect(values("fairlead_idle_node_seconds_total", ...kind)).toEqual({
      "train on-demand unallocated false": 60,
      "burst spot allocated false": 30,
      "burst spot unallocated true": 30,
    });
    const hours = values("fairlead_idle_node_hours", "node_pool", "idle_kind", "warm_pool", "window");
    expect(hours["train unallocated false 7d"]).toBeCloseTo(60 / 3600, 9);
    expect(hours["train allocated false 24h"]).toBe(0);
    expect(hours["burst unallocated true 24h"]).toBeCloseTo(30 / 3600, 9);
    expect(values("fairlead_idle_node_covered_ratio", "window")["24h"]).toBeCloseTo(30 / 86_400, 12);
  });

  it("node pools have their managers and bounds", () => {
    expect(values("fairlead_node_pool_info", "node_pool", "manager", "consolidation_policy")).toEqual({
      "burst cluster-autoscaler ": 1,
      "train karpenter WhenEmpty": 1,
    });
    expect(values("fairlead_node_pool_limit_gpus", "node_pool")).toEqual({ train: 64 });
    expect(values("fairlead_node_pool_bound_nodes", "node_pool", "bound")).toEqual({ "burst min": 1, "burst max": 8 });
    expect(values("fairlead_node_pool_consolidate_after_seconds", "node_pool")).toEqual({ train: 600 });
  });

  it("nothing is said about idle nodes where objects were not read", () => {
    const coverage = { objects: false, telemetry: true, uncountedNodes: [] };
    const blind = { ...smallMoment, snapshot: { ...smallMoment.snapshot, coverage } };
    const names = buildFamilies({ analysis: blind, health: health(), limits }).families.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("fairlead_idle_node"))).toEqual([]);
  });
});

describe("in the document", () => {
  const document = buildDocument(idleNodeMoment);

  it("nodes say in which way they are idle, since when, and whether they are kept warm", () => {
    const time = (hours: number): string => new Date((at - hours * 3600) * 1000).toISOString();
    expect(document.nodes.map(({ name, idle, idleSince, warmPool }) => [name, idle, idleSince, warmPool])).toEqual([
      ["allocated", "allocated", time(1), false],
      ["busy", null, null, false],
      ["empty-1", "unallocated", time(2), false],
      ["empty-2", "unallocated", time(5), false],
      ["warm", "unallocated", time(9), true],
    ]);
  });

  it("node pools count their idle nodes", () => {
    expect(document.nodePools).toMatchObject([
      {
        nodePool: "burst",
        manager: "cluster-autoscaler",
        minNodes: 1,
        maxNodes: 8,
        idleUnallocated: 0,
        idleAllocated: 1,
        warm: 1,
      },
      { nodePool: "train", manager: "karpenter", limitGpus: 64, idleUnallocated: 2, idleAllocated: 0, warm: 0 },
    ]);
  });
});

describe("in a terminal", () => {
  const withPools = (...nodePools: readonly NodePoolView[]): Analysis => ({
    ...idleNodeMoment,
    snapshot: { ...idleNodeMoment.snapshot, nodePools },
  });

  const shown = (analysis: Analysis) => layOut(idleNodeLines(analysis), plainTerminal).split("\n");

  it("both kinds are shown apart, with the longest streak, what is known of the cost, and the next step", () => {
    expect(shown(idleNodeMoment)).toEqual([
      "IDLE NODES",
      "  2 nodes run for nobody (train 2), for up to 5 h, $ 55.04 per hour (1 unpriced)",
      "    -> scale their node pools in, or label nodes that are kept ready on purpose (idle.warmPools)",
      "  1 node allocated, and nothing there works (burst 1), for up to 1 h, $ 20.00 per hour",
      "    -> ask who holds them: fairlead explain node NAME; /nodes?idle=allocated lists them",
      "  beside 1 node kept warm on purpose",
    ]);
  });

  it("nothing is said without idle nodes", () => {
    expect(idleNodeLines(smallMoment)).toEqual([]);
  });

  it("a NodePool that Karpenter never empties is named, and a group at its smallest size", () => {
    const never = nodePool("train", { consolidateAfterSeconds: null });
    expect(shown(withPools(never))[2]).toContain("Karpenter never consolidates NodePool train");
    const least = nodePool("train", { manager: "cluster-autoscaler", minNodes: 3, nodes: 3 });
    expect(shown(withPools(least))[2]).toContain("smallest size of 3");
  });
});

describe("on the start page", () => {
  it("idle nodes are there with their next step, and text of the cluster is escaped", () => {
    const nodes = idleNodeMoment.snapshot.nodes.map((one) => ({ ...one, nodePool: "<b>&" }));
    const hostile = { ...idleNodeMoment, snapshot: { ...idleNodeMoment.snapshot, nodes } };
    const html = wholeStartPage({
      health: health(),
      analysis: hostile,
      at,
      advice: noAdvice,
      problems: [],
      telemetryPath: "/metrics",
    });
    expect(html).toContain("<h2>Idle nodes</h2>");
    expect(html).toContain("2 nodes run for nobody (&lt;b&gt;&amp; 2)");
    expect(html).not.toContain("<b>&");
  });
});

describe("in an explanation", () => {
  it("a node says whether it is idle, and why", () => {
    const idleOf = (index: number) => {
      const node = idleNodeMoment.snapshot.nodes[index];
      return node === undefined ? [] : nodeFacts(node, idleNodeMoment).filter(({ name }) => name === "idle");
    };
    expect(idleOf(0)).toEqual([]);
    expect(idleOf(2)).toMatchObject([{ value: "unallocated for 5 h", how: "nothing holds a GPU there" }]);
    expect(idleOf(3)).toMatchObject([
      { value: "allocated for 1 h", how: "everything that is allocated there is idle" },
    ]);
    expect(idleOf(4)[0]?.how).toContain("idle.warmPools");
  });
});
