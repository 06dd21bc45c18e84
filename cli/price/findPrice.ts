import { firstPrice, isFor, type PricedNode, pricesInForce } from "../../exporter/analysis/prices/listedPrices.ts";
import { nearestName } from "../../exporter/config/nearestName.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { gpusOfInstanceType } from "../../exporter/join/instanceTypes.ts";
import { bareRecord } from "../../exporter/kernel/bareRecord.ts";
import type { CapacityType } from "../../exporter/model/capacityType.ts";
import type { ListedPrice, PriceBasis, PriceList } from "../../exporter/model/prices.ts";
import { type TableRow, tableRows } from "../../exporter/sources/prices/table.ts";

/** What a price is asked for. */
export interface PriceQuestion {
  readonly instanceType: string | null;
  readonly gpuModel: string | null;
  readonly provider: string | null;
  readonly capacityType: CapacityType;
}

/** A price of one source. */
export interface FoundPrice {
  readonly source: "file" | "table";
  /** Price of a node; `null` if only its price per GPU is known and the number of its GPUs is not. */
  readonly perNodeHour: number | null;
  readonly perGpuHour: number | null;
  readonly currency: string;
  readonly basis: PriceBasis;
  /** The date of the price, seconds since the epoch. */
  readonly date: number;
  readonly ageDays: number;
  readonly isStale: boolean;
  readonly origin: string;
  /**
   * The region of the price, which may be another elsewhere; `null`: the price is the same everywhere, or its region is
   * unknown.
   */
  readonly region: string | null;
}

/** A list price of the same GPU model elsewhere. */
export interface ComparedPrice {
  readonly provider: string;
  readonly instanceType: string | null;
  readonly gpus: number;
  readonly perGpuHour: number;
  readonly currency: string;
  readonly date: number;
}

/** What a kind of node costs, or what is missing. */
export interface PriceAnswer extends PriceQuestion {
  /** The number of GPUs of one node; `null` where it is not known. */
  readonly gpus: number | null;
  /** The price that counts, and then the prices of other sources. */
  readonly prices: readonly FoundPrice[];
  /** Other ways to pay for the same node for which there are prices. */
  readonly otherCapacityTypes: readonly CapacityType[];
  readonly compared: readonly ComparedPrice[];
  /** Instance types with similar names that have a price; only where this one has none. */
  readonly near: readonly string[];
  /** Entries of the file that were not tried, because they ask for a node pool, a region or labels. */
  readonly untried: number;
  /** Whether OpenCost is configured: a running exporter prefers its prices to those of the table. */
  readonly hasOpenCost: boolean;
}

const mostCompared = 12;
const mostNear = 3;

/** Looks up what a kind of node costs, as a cycle would without OpenCost; `at` in seconds since the epoch. */
export function findPrice(
  question: PriceQuestion,
  account: PriceList,
  settings: Config["prices"],
  at: number,
): PriceAnswer {
  const row = rowOf(question);
  const gpuModel = question.gpuModel ?? row?.gpuModel ?? null;
  const gpus = row?.gpus ?? gpusOfInstanceType(question.instanceType ?? undefined);
  const node: PricedNode = {
    instanceType: question.instanceType,
    gpuModels: gpuModel === null ? [] : [gpuModel],
    provider: question.provider ?? row?.provider ?? null,
    region: null,
    nodePool: "",
    labels: bareRecord(),
  };
  const inForce = pricesInForce(account.listed, at);
  const lists = (["file", "table"] as const).map((source) => inForce.filter((price) => price.source === source));
  const found = lists.flatMap((list) => firstPrice(list, node, question.capacityType, settings.basis) ?? []);
  const others = inForce.filter((price) => price.capacityType !== question.capacityType && isFor(price, node));
  return {
    ...question,
    gpuModel,
    provider: node.provider,
    gpus,
    prices: found.map((price) => foundPrice(price, gpus, settings.staleDays, at)),
    otherCapacityTypes: [...new Set(others.map(({ capacityType }) => capacityType))].sort(),
    compared: comparedWith(gpuModel, node.provider),
    near: found.length > 0 ? [] : nearNames(question.instanceType),
    untried: inForce.filter(asksForMore).length,
    hasOpenCost: settings.openCost !== undefined,
  };
}

function rowOf({ instanceType, provider }: PriceQuestion): TableRow | undefined {
  if (instanceType === null) return undefined;
  return tableRows.find((row) => row.instanceType === instanceType && (provider === null || row.provider === provider));
}

function asksForMore({ nodes }: ListedPrice): boolean {
  return nodes.nodePool !== null || nodes.region !== null || Object.keys(nodes.labels).length > 0;
}

function foundPrice(price: ListedPrice, gpus: number | null, staleDays: number, at: number): FoundPrice {
  const { source, perNodeHour, perGpuHour, currency, basis, date, origin, regionOfPrice } = price;
  const ageDays = Math.max(0, Math.floor((at - date) / 86_400));
  return {
    source,
    perNodeHour: perNodeHour ?? (perGpuHour === null || gpus === null ? null : perGpuHour * gpus),
    perGpuHour: perGpuHour ?? (perNodeHour === null || gpus === null ? null : perNodeHour / gpus),
    currency,
    basis,
    date,
    ageDays,
    isStale: date < at - staleDays * 86_400,
    origin,
    region: regionOfPrice ?? null,
  };
}

/** Prices of the same GPU model from other providers, the cheapest per GPU first. */
function comparedWith(gpuModel: string | null, provider: string | null): readonly ComparedPrice[] {
  if (gpuModel === null) return [];
  return tableRows
    .filter((row) => row.gpuModel === gpuModel && row.provider !== provider)
    .map((row) => ({
      provider: row.provider,
      instanceType: row.instanceType,
      gpus: row.gpus,
      perGpuHour: row.perNodeHour / row.gpus,
      currency: row.currency,
      date: row.date,
    }))
    .sort((a, b) => a.perGpuHour - b.perGpuHour)
    .slice(0, mostCompared);
}

function nearNames(instanceType: string | null): readonly string[] {
  if (instanceType === null) return [];
  const names = new Set(tableRows.flatMap((row) => row.instanceType ?? []));
  names.delete(instanceType);
  const near: string[] = [];
  while (near.length < mostNear) {
    const name = nearestName(instanceType, [...names]);
    if (name === null) return near;
    near.push(name);
    names.delete(name);
  }
  return near;
}
