import type { Snapshot } from "../../join/snapshot.ts";
import type { Steps } from "../../kernel/steps.ts";
import type { TextMap } from "../../model/node.ts";
import { type NodeRoom, nodeRoom } from "./nodeRoom.ts";

/** Nodes by the value of a label; made for a label when first asked. */
type LabelIndex = Map<string, Map<string, NodeRoom[]>>;

/** The nodes of one quota domain. */
export interface DomainRooms {
  readonly nodes: readonly NodeRoom[];
  /** Of those, the ones with something free, the fewest free GPUs first. */
  readonly open: readonly NodeRoom[];
  /** Free physical GPUs. */
  readonly free: number;
  readonly labelsOfNodes: LabelIndex;
  readonly labelsOfOpen: LabelIndex;
}

const nodesPerStep = 1000;

/** What every domain has and has free; parallel to `Queueing.domains`. A node of several domains is in each with its devices there. */
export function* domainRooms(snapshot: Snapshot): Steps<readonly DomainRooms[]> {
  const { domains } = snapshot.queueing;
  const domainOf = new Map<string, number>();
  for (const [index, { pools }] of domains.entries()) for (const pool of pools) domainOf.set(pool, index);
  const nodes: NodeRoom[][] = domains.map(() => []);
  for (const [i, node] of snapshot.nodes.entries()) {
    if (i % nodesPerStep === nodesPerStep - 1) yield;
    const requests = requestsOf(snapshot, node.name);
    let last = -1;
    for (const index of indexesOf(node.pools, domainOf)) {
      if (index === last) continue;
      last = index;
      nodes[index]?.push(nodeRoom(snapshot, node, requests, (pool) => domainOf.get(pool) === index));
    }
  }
  return nodes.map((all) => {
    const open = all.filter(({ now }) => now !== null).sort(fewestFirst);
    const free = open.reduce((sum, { now }) => sum + (now?.gpus ?? 0), 0);
    return { nodes: all, open, free, labelsOfNodes: new Map(), labelsOfOpen: new Map() };
  });
}

const fewestFirst = (a: NodeRoom, b: NodeRoom): number =>
  (a.now?.gpus ?? 0) - (b.now?.gpus ?? 0) || (a.node.name < b.node.name ? -1 : 1);

const nothing = { pods: 0, cpuMilli: 0, memoryBytes: 0 };

const requestsOf = ({ requestsByNode }: Snapshot, node: string) =>
  requestsByNode === null ? null : (requestsByNode.get(node) ?? nothing);

function indexesOf(pools: readonly string[], domainOf: ReadonlyMap<string, number>): readonly number[] {
  return pools
    .map((pool) => domainOf.get(pool))
    .filter((index) => index !== undefined)
    .sort((a, b) => a - b);
}

/** The nodes among `nodes` that may match a node selector: those with its rarest label. */
export function withLabels(nodes: readonly NodeRoom[], index: LabelIndex, selector: TextMap): readonly NodeRoom[] {
  let fewest = nodes;
  for (const [label, value] of Object.entries(selector)) {
    const found = valuesOf(nodes, index, label).get(value) ?? [];
    if (found.length < fewest.length) fewest = found;
  }
  return fewest;
}

function valuesOf(nodes: readonly NodeRoom[], index: LabelIndex, label: string): ReadonlyMap<string, NodeRoom[]> {
  const known = index.get(label);
  if (known !== undefined) return known;
  const values = new Map<string, NodeRoom[]>();
  for (const room of nodes) {
    const { labels } = room.node;
    const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
    if (value === undefined) continue;
    const list = values.get(value);
    if (list === undefined) values.set(value, [room]);
    else list.push(room);
  }
  index.set(label, values);
  return values;
}
