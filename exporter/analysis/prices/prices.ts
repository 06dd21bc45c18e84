import type { CapacityType } from "../../model/capacityType.ts";
import type { PriceBasis, PriceSource, UnpricedReason } from "../../model/prices.ts";

/** What the GPUs of one node cost. */
export interface NodePrice {
  /** Cost of one physical GPU of the node per hour. Multiplied by the node's physical GPUs it is `perNodeHour`. */
  readonly perGpuHour: number;
  /** Cost of all its GPUs together per hour; with basis `whole-instance`, cost of the node. */
  readonly perNodeHour: number;
  readonly currency: string;
  readonly basis: PriceBasis;
  readonly source: PriceSource;
  /** The capacity type that the price is for; a node without a label counts as on-demand. */
  readonly capacityType: CapacityType;
  /** Since when the price is valid or when it was last checked, seconds since the epoch. */
  readonly date: number;
  /** Whether the price is older than `prices.staleDays`. */
  readonly isStale: boolean;
  /** Where the author of the price found it: bounded untrusted text. */
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
  /** Why these nodes have no price; `null` where there is a price. */
  readonly unpriced: UnpricedReason | null;
}

/** What all GPUs cost at one moment. */
export interface Prices {
  /** Prices of the counted nodes, by name of the node; a node that is not here is unpriced. */
  readonly byNode: ReadonlyMap<string, NodePrice>;
  /** Groups, ordered by pool, node pool, instance type, capacity type and price. */
  readonly groups: readonly PriceGroup[];
}

/** The value for a moment in which nothing has a price. */
export const nothingPriced: Prices = { byNode: new Map(), groups: [] };
