import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { IdleNode } from "../../exporter/analysis/idleNodes/findIdleNodes.ts";
import type { NodePrice } from "../../exporter/analysis/prices/prices.ts";
import type { NodePoolView, NodeView } from "../../exporter/join/snapshot.ts";
import type { IdleKind } from "../../exporter/model/idleKinds.ts";
import { at, node, smallMoment } from "./moment.ts";

const hour = 3600;

/** A NodePool of Karpenter that is emptied after ten minutes; the rest can be given. */
export function nodePool(name: string, parts: Partial<NodePoolView> = {}): NodePoolView {
  return {
    name,
    manager: "karpenter",
    limitGpus: 64,
    consolidationPolicy: "WhenEmpty",
    consolidateAfterSeconds: 600,
    minNodes: null,
    maxNodes: null,
    capacityTypes: ["on-demand"],
    nodes: 1,
    physicalGpus: 8,
    ...parts,
  };
}

const price = (perNodeHour: number): NodePrice => ({
  perGpuHour: perNodeHour / 8,
  perNodeHour,
  currency: "USD",
  basis: "whole-instance",
  source: "file",
  capacityType: "on-demand",
  date: at,
  isStale: false,
  origin: "contract",
});

const nodes: readonly NodeView[] = [
  node({ name: "busy", nodePool: "train" }),
  node({ name: "empty-1", nodePool: "train" }),
  node({ name: "empty-2", nodePool: "train" }),
  node({ name: "allocated", nodePool: "burst", capacityType: "spot" }),
  node({ name: "warm", nodePool: "burst", capacityType: "spot" }),
];

const idle = (index: number, kind: IdleKind, hours: number, isWarmPool = false): IdleNode => ({
  node: index,
  kind,
  isWarmPool,
  since: at - hours * hour,
});

/** Two empty nodes, one of which has a price; one that is idle; one that is kept warm. */
export const idleNodeMoment: Analysis = {
  ...smallMoment,
  snapshot: {
    ...smallMoment.snapshot,
    nodes,
    nodePools: [
      nodePool("burst", {
        manager: "cluster-autoscaler",
        consolidationPolicy: null,
        consolidateAfterSeconds: null,
        limitGpus: null,
        minNodes: 1,
        maxNodes: 8,
      }),
      nodePool("train", { nodes: 3 }),
    ],
  },
  prices: {
    byNode: new Map([
      ["empty-1", price(55.04)],
      ["allocated", price(20)],
    ]),
    groups: [],
  },
  idleNodes: {
    nodes: [
      idle(1, "unallocated", 2),
      idle(2, "unallocated", 5),
      idle(3, "allocated", 1),
      idle(4, "unallocated", 9, true),
    ],
    since: new Map(),
    warm: new Set([4]),
  },
};
