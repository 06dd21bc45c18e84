import type { Snapshot } from "../../join/snapshot.ts";
import { isoDay } from "../../kernel/isoTime.ts";
import { type UnpricedReason, unpricedReasons } from "../../model/prices.ts";
import type { Problem, Severity } from "../../model/problem.ts";
import type { PriceGroup, Prices } from "./prices.ts";

/** The most instance types or models that are named in one line. */
const mostNamed = 4;

/**
 * What a person should know about the prices of a moment: old prices and missing ones. The problems are `info` if there is only
 * the table that Fairlead contains, and warnings for users with prices of their own. Without any price list there are no
 * problems, since nobody has asked for costs.
 */
export function priceProblems({ priceList, nodes, at }: Snapshot, { groups }: Prices): readonly Problem[] {
  const { quoted, listed } = priceList;
  if (quoted.size === 0 && listed.length === 0) return [];
  const severity = quoted.size > 0 || listed.some(({ source }) => source === "file") ? "warning" : "info";
  const isForeign = quoted.size > 0 && nodes.length > 0 && !nodes.some(({ name }) => quoted.has(name));
  return [
    ...(isForeign ? [foreignQuotes([...quoted.keys()], nodes[0]?.name ?? "")] : []),
    ...staleProblems(
      groups.filter(({ price }) => price?.isStale === true),
      at,
      severity,
    ),
    ...otherRegions(
      groups.filter(({ price }) => price?.source === "table-other-region"),
      severity,
    ),
    ...unpricedReasons.flatMap((reason) => unpricedProblems(reason, groups, severity)),
  ];
}

function foreignQuotes(named: readonly string[], node: string): Problem {
  return {
    source: "prices",
    code: "opencost-other-nodes",
    severity: "warning",
    subject: null,
    message: `OpenCost's prices name ${named.length} nodes, such as ${shown(named[0] ?? "")}, none of which has GPUs in this cluster (as ${shown(node)} has)`,
    nextStep: "Set prices.openCost.nodeLabel to the label that holds the node's name, or matchers to this cluster's.",
  };
}

function staleProblems(groups: readonly PriceGroup[], at: number, severity: Severity): readonly Problem[] {
  const gpus = sum(groups);
  if (gpus === 0) return [];
  const oldest = groups.reduce((least, { price }) => Math.min(least, price?.date ?? at), at);
  const day = isoDay(oldest);
  const days = Math.floor((at - oldest) / 86_400);
  return [
    {
      source: "prices",
      code: "stale-prices",
      severity,
      subject: null,
      message: `the prices of ${count(gpus)} (${named(groups)}) are older than they should be: the oldest is of ${day}, ${days} days ago`,
      nextStep:
        "Check them and give your own in the file that prices.file names, with today's date (fairlead price INSTANCE_TYPE prints the lines).",
    },
  ];
}

function otherRegions(groups: readonly PriceGroup[], severity: Severity): readonly Problem[] {
  const gpus = sum(groups);
  if (gpus === 0) return [];
  return [
    {
      source: "prices",
      code: "prices-of-other-region",
      severity,
      subject: null,
      message: `the table's prices of ${count(gpus)} (${named(groups)}) are of another region than their nodes: the same may cost up to twice as much there`,
      nextStep:
        "Give the prices of your region in the file that prices.file names (fairlead price INSTANCE_TYPE prints the lines).",
    },
  ];
}

const findings: Readonly<Record<UnpricedReason, string>> = {
  "no-price": "no source has a price for them",
  "no-price-for-capacity-type": "there are prices, but not for the way in which these nodes are paid for",
  "unknown-node": "their nodes say neither instance type nor GPU model",
};

function unpricedProblems(reason: UnpricedReason, all: readonly PriceGroup[], severity: Severity): readonly Problem[] {
  const groups = all.filter(({ unpriced }) => unpriced === reason);
  const gpus = sum(groups);
  if (gpus === 0) return [];
  return [
    {
      source: "prices",
      code: `unpriced-${reason}`,
      severity,
      subject: null,
      message: `${count(gpus)} ${gpus === 1 ? "has" : "have"} no price (${named(groups)}): ${findings[reason]}; their cost is unknown`,
      nextStep: unpricedNextStep(reason, groups[0]),
    },
  ];
}

function unpricedNextStep(reason: UnpricedReason, first: PriceGroup | undefined): string {
  if (reason === "unknown-node" || first === undefined)
    return "Add an entry with nodePool or labels to the file that prices.file names (prices.example.yaml shows the format).";
  const { instanceType, pool, capacityType } = first;
  const nodes = instanceType === null ? `gpuModel: ${shown(pool)}` : `instanceType: ${shown(instanceType)}`;
  const paid = capacityType === null || capacityType === "on-demand" ? "" : `, capacityType: ${capacityType}`;
  return `Add {${nodes}${paid}, perNodeHour: ..., date: ...} to the file that prices.file names (prices.example.yaml shows the format).`;
}

/** The instance types with the most GPUs, or pools where there is no type, as text. */
function named(groups: readonly PriceGroup[]): string {
  const gpus = new Map<string, number>();
  for (const { instanceType, pool, capacityType, physicalGpus } of groups) {
    const name = `${shown(instanceType ?? pool)}${capacityType === null || capacityType === "on-demand" ? "" : ` ${capacityType}`}`;
    gpus.set(name, (gpus.get(name) ?? 0) + physicalGpus);
  }
  const names = [...gpus].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([name]) => name);
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
  return names.slice(0, mostNamed).join(", ") + more;
}

function sum(groups: readonly PriceGroup[]): number {
  return groups.reduce((total, { physicalGpus }) => total + physicalGpus, 0);
}

function count(gpus: number): string {
  return `${Math.round(gpus * 100) / 100} ${gpus === 1 ? "GPU" : "GPUs"}`;
}

/** Makes a name safe to show, since names come from the cluster. */
function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
