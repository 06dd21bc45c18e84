import type { Config } from "../../config/schema.ts";
import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import type { ListedPrice } from "../../model/prices.ts";
import type { UnpricedReason } from "../../model/unpriced.ts";
import { listedPrice, type PriceLists, paidAs, quotedPrice, whyUnpriced } from "./findPrice.ts";
import { pricesInForce } from "./listedPrices.ts";
import { type NodeKind, nodeKinds } from "./nodeKinds.ts";
import { createPriceCache, keepPrices, knownPrices, type PriceCache } from "./priceCache.ts";
import { collectGroups } from "./priceGroups.ts";
import type { NodePrice, Prices } from "./prices.ts";

/** The settings that prices are found by. */
export type PriceSettings = Pick<Config["prices"], "basis" | "staleDays">;

/** Nodes of one kind that have the same price, or none. */
export interface PricedKind {
  readonly like: NodeView;
  readonly nodes: readonly NodeView[];
  readonly price: NodePrice | null;
  readonly unpriced: UnpricedReason | null;
}

/**
 * Finds the price of every counted node in the price list of the moment: the user's file, then OpenCost, then the table. A
 * price of a node is spread over the physical GPUs that it has, seen or not, so that one that falls off the bus changes
 * nothing. Pure but for the cache, which changes no answer.
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

/** The prices of the nodes of one kind: one for all, except where OpenCost says them apart. */
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
