import { unknownModel } from "../../join/gpuModel.ts";
import type { NodeView } from "../../join/snapshot.ts";
import type { CapacityType } from "../../model/capacityType.ts";
import type { ListedPrice, PriceBasis, QuotedPrice } from "../../model/prices.ts";
import type { UnpricedReason } from "../../model/unpriced.ts";
import { firstPrice, isFor, type PricedNode } from "./listedPrices.ts";
import type { NodePrice } from "./prices.ts";

/** The lists of one moment, apart because OpenCost is between them. */
export interface PriceLists {
  /** Of the user's file, that are in force. */
  readonly file: readonly ListedPrice[];
  /** Of the table: those by instance type, then those by model. */
  readonly table: readonly ListedPrice[];
  readonly wished: PriceBasis;
  /** Seconds since the epoch; a price of before is stale. */
  readonly staleBefore: number;
}

/** How a node is paid for, as far as its price goes: clouds label only what is not on demand. */
export function paidAs(capacityType: CapacityType | null): CapacityType {
  return capacityType ?? "on-demand";
}

/** What a list says of a node with so many GPUs; `null`: nothing. */
export function listedPrice(
  list: readonly ListedPrice[],
  node: PricedNode,
  capacityType: CapacityType,
  gpus: number,
  { wished, staleBefore }: Pick<PriceLists, "wished" | "staleBefore">,
): NodePrice | null {
  const found = firstPrice(list, node, capacityType, wished);
  if (found === null) return null;
  const { perNodeHour, perGpuHour, currency, basis, date } = found;
  const amounts =
    perNodeHour !== null ? byNode(perNodeHour, gpus) : perGpuHour !== null ? byGpu(perGpuHour, gpus) : null;
  if (amounts === null) return null;
  return { ...amounts, currency, basis, ...sourceFor(found, node), capacityType, date, isStale: date < staleBefore };
}

/** A price of another region than the node's says so. Of a node without a region nobody knows. */
function sourceFor({ source, origin, regionOfPrice }: ListedPrice, { region }: PricedNode) {
  if (regionOfPrice === undefined || region === null || region === regionOfPrice) return { source, origin };
  return { source: "table-other-region", origin: `${origin}; a price of ${regionOfPrice}, not of ${region}` } as const;
}

/** What OpenCost says of a node, on the wished basis if it says that; `null`: nothing that can be used. */
export function quotedPrice(
  quoted: QuotedPrice,
  capacityType: CapacityType,
  gpus: number,
  currency: string,
  { wished, staleBefore }: Pick<PriceLists, "wished" | "staleBefore">,
): NodePrice | null {
  const { perGpuHour, perNodeHour, at } = quoted;
  // OpenCost prices GPUs that it does not know at 0, and the node at its CPU and memory alone.
  if (perGpuHour === 0) return null;
  const whole = perNodeHour === null || perNodeHour === 0 ? null : byNode(perNodeHour, gpus);
  const share = perGpuHour === null ? null : byGpu(perGpuHour, gpus);
  const isWhole = whole !== null && (wished === "whole-instance" || share === null);
  const amounts = isWhole ? whole : share;
  if (amounts === null) return null;
  const basis = isWhole ? "whole-instance" : "gpu-share";
  const origin = isWhole ? "OpenCost: node_total_hourly_cost" : "OpenCost: node_gpu_hourly_cost";
  return { ...amounts, currency, basis, source: "opencost", capacityType, date: at, isStale: at < staleBefore, origin };
}

function byNode(perNodeHour: number, gpus: number): Pick<NodePrice, "perGpuHour" | "perNodeHour"> {
  return { perGpuHour: perNodeHour / gpus, perNodeHour };
}

function byGpu(perGpuHour: number, gpus: number): Pick<NodePrice, "perGpuHour" | "perNodeHour"> {
  return { perGpuHour, perNodeHour: perGpuHour * gpus };
}

/** Why a node has no price. */
export function whyUnpriced(node: NodeView, lists: PriceLists): UnpricedReason {
  const isOtherwisePaid = (price: ListedPrice) => isFor(price, node);
  if (lists.file.some(isOtherwisePaid) || lists.table.some(isOtherwisePaid)) return "no-price-for-capacity-type";
  const isNamed = node.gpuModels.some((model) => model !== unknownModel);
  return node.instanceType === null && !isNamed ? "unknown-node" : "no-price";
}
