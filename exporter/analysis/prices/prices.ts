import type { CapacityType } from "../../model/capacityType.ts";
import type { PriceBasis, PriceSource, UnpricedReason } from "../../model/prices.ts";

/** What the GPUs of one node cost. */
export interface NodePrice {
  /** For one physical GPU of the node, per hour. Multiplied by the node's physical GPUs it is `perNodeHour`. */
  readonly perGpuHour: number;
  /** Of all its GPUs together, per hour; with basis `whole-instance`, of the node. */
  readonly perNodeHour: number;
  readonly currency: string;
  readonly basis: PriceBasis;
  readonly source: PriceSource;
  /** The capacity type that it is the price for; a node without a label is taken for on-demand. */
  readonly capacityType: CapacityType;
  /** Since when it holds or when it was last checked, seconds since the epoch. */
  readonly date: number;
  /** Older than `prices.staleDays`. */
  readonly isStale: boolean;
  /** Where its author found it: bounded untrusted text. */
  readonly origin: string;
}

/** Nodes that are paid for alike, with their price. */
export interface PriceGroup {
  readonly pool: string;
  readonly nodePool: string;
  readonly instanceType: string | null;
  readonly capacityType: CapacityType | null;
  readonly nodes: number;
  readonly physicalGpus: number;
  readonly price: NodePrice | null;
  /** `null` where there is a price. */
  readonly unpriced: UnpricedReason | null;
}

/** What all GPUs cost at one moment. */
export interface Prices {
  /** By node, of the counted nodes; a node that is not here is unpriced. */
  readonly byNode: ReadonlyMap<string, NodePrice>;
  /** By pool, node pool, instance type, capacity type and price, sorted. */
  readonly groups: readonly PriceGroup[];
}

/** A moment in which nothing has a price. */
export const nothingPriced: Prices = { byNode: new Map(), groups: [] };
