import type { CapacityType } from "./capacityType.ts";
import type { TextMap } from "./node.ts";

/**
 * What a price of a GPU contains: the whole node (its CPU, memory and network included), divided over its GPUs, or only the
 * GPUs' own part of what the node costs.
 */
export const priceBases = ["whole-instance", "gpu-share"] as const;

export type PriceBasis = (typeof priceBases)[number];

/**
 * Where a price comes from, in order of precedence. `table-other-region`: the table has no price for the node's region, so that
 * the price of another region counts.
 */
export const priceSources = ["file", "opencost", "table", "table-other-region"] as const;

export type PriceSource = (typeof priceSources)[number];

/** The nodes that a price is for: they match all fields that are not `null`, and every label. A text may be a glob with `*`. */
export interface PricedNodes {
  readonly instanceType: string | null;
  /** Canonical GPU model. */
  readonly gpuModel: string | null;
  /** `aws`, `gcp`, `azure`, ...; it is recognised by the node's providerID or labels. */
  readonly provider: string | null;
  readonly region: string | null;
  readonly nodePool: string | null;
  readonly labels: TextMap;
}

/** One price of the user's file or of the table that is shipped. Exactly one of the two amounts is there. */
export interface ListedPrice {
  readonly source: "file" | "table";
  readonly nodes: PricedNodes;
  readonly capacityType: CapacityType;
  /** Price of one node per hour. */
  readonly perNodeHour: number | null;
  /** Price of one physical GPU per hour. */
  readonly perGpuHour: number | null;
  /** ISO 4217, or any word that the file's author uses. */
  readonly currency: string;
  readonly basis: PriceBasis;
  /** Since when the price holds, and when it was last checked; seconds since the epoch. */
  readonly validFrom: number | null;
  readonly date: number;
  /** Where the author of the price found it: a contract, a page, a file. */
  readonly origin: string;
  /**
   * For prices of the table: the region that the price is of, which counts elsewhere too; absent where it is the same
   * everywhere.
   */
  readonly regionOfPrice?: string;
}

/** OpenCost's prices of one node. */
export interface QuotedPrice {
  /**
   * Price per hour of one GPU of the node (`node_gpu_hourly_cost`), and of the whole node (`node_total_hourly_cost`); `null`:
   * unknown.
   */
  readonly perGpuHour: number | null;
  readonly perNodeHour: number | null;
  /** Time of the sample, seconds since the epoch. */
  readonly at: number;
}

/** All prices that are known at one moment. */
export interface PriceList {
  /** Listed prices, in the order in which they are tried. */
  readonly listed: readonly ListedPrice[];
  /** OpenCost's prices by node. */
  readonly quoted: ReadonlyMap<string, QuotedPrice>;
  readonly quotedCurrency: string;
}

/** The value for when nothing is known about costs. */
export const noPrices: PriceList = { listed: [], quoted: new Map(), quotedCurrency: "USD" };

/**
 * Why a node has no price. `no-price`: the price list has nothing for it; `no-price-for-capacity-type`: there is a price, but
 * not for the way in which the node is paid for (spot, reserved); `unknown-node`: the node does not show what instance type or
 * model it is.
 */
export const unpricedReasons = ["no-price", "no-price-for-capacity-type", "unknown-node"] as const;

export type UnpricedReason = (typeof unpricedReasons)[number];
