import type { Config } from "../../config/schema.ts";
import { unknownModel } from "../../join/gpuModel.ts";
import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import type { CapacityType } from "../../model/capacityType.ts";
import type { ListedPrice, PriceBasis, PriceList, QuotedPrice, UnpricedReason } from "../../model/prices.ts";
import { firstPrice, isFor, type PricedNode, pricesInForce } from "./listedPrices.ts";
import { isPricedAs, type NodeKind, nodeKinds } from "./nodeKinds.ts";
import { collectGroups } from "./priceGroups.ts";
import type { NodePrice, Prices } from "./prices.ts";

/** The settings by which prices are found. */
export type PriceSettings = Pick<Config["prices"], "basis" | "staleDays">;

/** Nodes of one kind that have the same price, or none. */
export interface PricedKind {
  readonly like: NodeView;
  readonly nodes: readonly NodeView[];
  readonly price: NodePrice | null;
  readonly unpriced: UnpricedReason | null;
}

/**
 * Finds the price of every counted node in the price list of the moment: the user's file, then OpenCost, then the table. The
 * price of a node is spread over the physical GPUs that it has, seen or not, so that a GPU that falls off the bus changes
 * nothing. Pure except for the cache, which changes no answer.
 */
export function priceNodes(
  snapshot: Snapshot,
  settings: PriceSettings,
  cache: PriceCache = createPriceCache(),
): Prices {
  const known = knownPrices(cache, snapshot, settings);
  if (known !== null) return known;
  const { priceList, nodes, devices, at } = snapshot;
  const listed = pricesInForce(priceList.listed, at);
  const table = listed.filter(({ source }) => source === "table");
  const lists: PriceLists = {
    file: listed.filter(({ source }) => source === "file"),
    table: [...table.filter(byInstanceType), ...table.filter((price) => !byInstanceType(price))],
    wished: settings.basis,
    staleBefore: at - settings.staleDays * 86_400,
  };
  const labels = [...new Set(lists.file.flatMap((price) => Object.keys(price.nodes.labels)))];
  const kinds = nodeKinds(nodes, labels);
  const byNode = new Map<string, NodePrice>();
  const priced: PricedKind[] = [];
  for (const kind of kinds) {
    for (const part of priceKind(kind, snapshot, lists)) {
      priced.push(part);
      if (part.price === null) continue;
      for (const { name } of part.nodes) byNode.set(name, part.price);
    }
  }
  const prices = { byNode, groups: collectGroups(priced, (node) => devicesOf(node, devices)) };
  keepPrices(cache, snapshot, settings, labels, prices);
  return prices;
}

function byInstanceType({ nodes }: ListedPrice): boolean {
  return nodes.instanceType !== null;
}

function devicesOf(node: NodeView, devices: readonly Device[]): readonly Device[] {
  return node.devices.flatMap((index) => devices[index] ?? []);
}

/** The prices of the nodes of one kind: one price for all, except where OpenCost distinguishes the nodes. */
function priceKind(kind: NodeKind, { priceList }: Snapshot, lists: PriceLists): readonly PricedKind[] {
  const { like, nodes } = kind;
  const gpus = like.physicalGpus ?? 0;
  const capacityType = paidAs(like.capacityType);
  const byFile = listedPrice(lists.file, like, capacityType, gpus, lists);
  if (byFile !== null) return [{ like, nodes, price: byFile, unpriced: null }];
  const { quoted, quotedCurrency } = priceList;
  const rest: NodeView[] = [];
  const byQuote = new Map<number, Map<number, { price: NodePrice; nodes: NodeView[] }>>();
  for (const node of quoted.size === 0 ? [] : nodes) {
    const quote = quoted.get(node.name);
    const price = quote === undefined ? null : quotedPrice(quote, capacityType, gpus, quotedCurrency, lists);
    if (price === null) {
      rest.push(node);
      continue;
    }
    const ofDate = byQuote.get(price.date) ?? new Map<number, { price: NodePrice; nodes: NodeView[] }>();
    byQuote.set(price.date, ofDate);
    const known = ofDate.get(price.perNodeHour);
    if (known === undefined || known.price.basis !== price.basis)
      ofDate.set(price.perNodeHour, { price, nodes: [node] });
    else known.nodes.push(node);
  }
  const others = quoted.size === 0 ? nodes : rest;
  const fromTable = others.length === 0 ? null : listedPrice(lists.table, like, capacityType, gpus, lists);
  const unpriced = fromTable === null ? whyUnpriced(like, lists) : null;
  return [
    ...[...byQuote.values()].flatMap((ofDate) =>
      [...ofDate.values()].map(({ price, nodes: same }) => ({ like, nodes: same, price, unpriced: null })),
    ),
    ...(others.length === 0 ? [] : [{ like, nodes: others, price: fromTable, unpriced }]),
  ];
}

/** The price lists of one moment; they are separate because OpenCost comes between them. */
interface PriceLists {
  /** The prices of the user's file that are in force. */
  readonly file: readonly ListedPrice[];
  /** The prices of the table: those by instance type, then those by model. */
  readonly table: readonly ListedPrice[];
  readonly wished: PriceBasis;
  /** Seconds since the epoch; a price with an older date is stale. */
  readonly staleBefore: number;
}

/** The capacity type by which a node is priced: clouds label only nodes that are not on demand. */
function paidAs(capacityType: CapacityType | null): CapacityType {
  return capacityType ?? "on-demand";
}

/** The price that a list has for a node with this many GPUs; `null`: it has none. */
function listedPrice(
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

/** The source of a price; a price of another region than the node's is marked. Without the node's region this is unknown. */
function sourceFor({ source, origin, regionOfPrice }: ListedPrice, { region }: PricedNode) {
  if (regionOfPrice === undefined || region === null || region === regionOfPrice) return { source, origin };
  return { source: "table-other-region", origin: `${origin}; a price of ${regionOfPrice}, not of ${region}` } as const;
}

/** OpenCost's price of a node, on the wanted basis if it has one; `null`: it has none that can be used. */
function quotedPrice(
  quoted: QuotedPrice,
  capacityType: CapacityType,
  gpus: number,
  currency: string,
  { wished, staleBefore }: Pick<PriceLists, "wished" | "staleBefore">,
): NodePrice | null {
  const { perGpuHour, perNodeHour, at } = quoted;
  // OpenCost prices unknown GPUs at 0, and the node only by its CPU and memory.
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
function whyUnpriced(node: NodeView, lists: PriceLists): UnpricedReason {
  const isOtherwisePaid = (price: ListedPrice) => isFor(price, node);
  if (lists.file.some(isOtherwisePaid) || lists.table.some(isOtherwisePaid)) return "no-price-for-capacity-type";
  const isNamed = node.gpuModels.some((model) => model !== unknownModel);
  return node.instanceType === null && !isNamed ? "unknown-node" : "no-price";
}

/** The prices of the previous moment, as long as nothing changes on which they depend. The cache changes no answer. */
export interface PriceCache {
  last: KnownPrices | null;
}

/** Prices, and the facts for which they were found. */
interface KnownPrices {
  readonly prices: Prices;
  readonly nodes: readonly NodeView[];
  readonly account: PriceList;
  readonly settings: PriceSettings;
  /** The labels that the price list reads. */
  readonly labels: readonly string[];
  /** The time from which and before which they are valid, seconds since the epoch. */
  readonly from: number;
  readonly until: number;
}

/** Creates an empty cache. */
export const createPriceCache = (): PriceCache => ({ last: null });

/** The prices of the previous moment, if they are also those of this moment; `null`: this is not known. */
function knownPrices(cache: PriceCache, snapshot: Snapshot, settings: PriceSettings): Prices | null {
  const { last } = cache;
  const { nodes, at } = snapshot;
  if (last === null || at < last.from || at >= last.until) return null;
  if (last.account !== snapshot.priceList || nodes.length !== last.nodes.length) return null;
  if (last.settings.basis !== settings.basis || last.settings.staleDays !== settings.staleDays) return null;
  if (!nodes.every((node, index) => isPricedAs(last.nodes[index], node, last.labels))) return null;
  // Most nodes will be the same objects next time.
  cache.last = { ...last, nodes };
  return last.prices;
}

/** Keeps the prices of a moment for the following moments. */
function keepPrices(
  cache: PriceCache,
  { nodes, priceList: account, at }: Snapshot,
  settings: PriceSettings,
  labels: readonly string[],
  prices: Prices,
): void {
  let until = Number.POSITIVE_INFINITY;
  for (const { validFrom } of account.listed)
    if (validFrom !== null && validFrom > at) until = Math.min(until, validFrom);
  for (const { price } of prices.groups)
    if (price !== null && !price.isStale) until = Math.min(until, price.date + settings.staleDays * 86_400);
  cache.last = { prices, nodes, account, settings, labels, from: at, until };
}
