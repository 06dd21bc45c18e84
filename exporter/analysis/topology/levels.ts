import type { NodeView } from "../../join/snapshot.ts";
import { isSameList } from "../../kernel/isSameList.ts";
import { sameData } from "../../kernel/sameData.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { TopologyLevel, TopologyObject, TopologySource } from "../../model/topology.ts";
import { nodeLabels } from "../../model/wellKnown.ts";
import { tierLevels } from "./hyperNodes.ts";

/** A level with the domain of each node. */
export interface LevelDomains extends TopologyLevel {
  /** The tier of Volcano's HyperNodes; absent for levels of labels. */
  readonly tier?: number;
  /** Names of its domains, in their order. A name is untrusted text. */
  readonly domains: readonly string[];
  /** Index into `domains` for each node, parallel to the nodes; -1: it is in no domain of this level. */
  readonly domainOfNode: Int32Array;
}

/** A level that the configuration names. */
export interface ConfiguredLevel {
  readonly name: string;
  readonly nodeLabel: string;
}

/** The greatest number of levels; those beyond it are left out. No topology object may have more. */
export const maxLevels = 16;

/** A level before it is known which nodes have its labels. */
interface LevelDefinition extends TopologyLevel {
  /** Labels that a node needs besides: schedulers ignore nodes that lack a label of any level of the topology. */
  readonly needed: readonly string[];
}

/** Levels that node labels of NVIDIA and of clouds show, each from the coarsest to the finest. */
const wellKnown: readonly (readonly [TopologySource, readonly string[]])[] = [
  ["cloud", [nodeLabels.zone]],
  ["cloud", [nodeLabels.gceBlock, nodeLabels.gceSubblock, nodeLabels.gceHost]],
  ["cloud", [nodeLabels.awsNetworkLayer1, nodeLabels.awsNetworkLayer2, nodeLabels.awsNetworkLayer3]],
  ["cloud", [nodeLabels.awsUltraServer]],
  ["nvlink", [nodeLabels.gpuClique]],
];

/** What the place of a node is found by. */
export type PlacedNode = Pick<NodeView, "name" | "labels">;

type TopologyObjects = Pick<QueueObjects, "kueueTopologies" | "kaiTopologies" | "volcanoHyperNodes">;

/**
 * The levels of the cluster's topology: first those of the configuration, then those that Kueue, KAI and Volcano declare, then
 * those that labels show by themselves, unless levels are configured. Levels by the same labels are one level. A level that
 * labels show is left out if it says nothing: if all nodes are in one domain, or each is alone in its own. Pure; the order of
 * nodes changes nothing.
 */
export function findLevels(
  nodes: readonly PlacedNode[],
  configured: readonly ConfiguredLevel[],
  objects: TopologyObjects,
  cache: LevelsCache = createLevelsCache(),
): readonly LevelDomains[] {
  const before = cache.last;
  if (before !== null && isSameList(before.configured, configured) && isSameTopology(before, nodes, objects)) {
    cache.last = { ...before, nodes };
    return before.levels;
  }
  const levels = levelsOf(nodes, configured, objects);
  cache.last = { nodes, configured, objects, levels };
  return levels;
}

/** The levels of the moment before, which are those of this one while nodes and objects are the same. It changes no answer. */
export interface LevelsCache {
  last: {
    readonly nodes: readonly PlacedNode[];
    readonly configured: readonly ConfiguredLevel[];
    readonly objects: TopologyObjects;
    readonly levels: readonly LevelDomains[];
  } | null;
}

/** Creates an empty cache. */
export const createLevelsCache = (): LevelsCache => ({ last: null });

function isSameTopology(
  { nodes: last, objects: then }: NonNullable<LevelsCache["last"]>,
  nodes: readonly PlacedNode[],
  objects: TopologyObjects,
): boolean {
  return (
    then.kueueTopologies === objects.kueueTopologies &&
    then.kaiTopologies === objects.kaiTopologies &&
    then.volcanoHyperNodes === objects.volcanoHyperNodes &&
    last.length === nodes.length &&
    last.every((node, index) => isSameNode(node, nodes[index]))
  );
}

const isSameNode = (node: PlacedNode, now: PlacedNode | undefined): boolean =>
  node === now ||
  (now !== undefined && node.name === now.name && (node.labels === now.labels || sameData(node.labels, now.labels)));

function levelsOf(
  nodes: readonly PlacedNode[],
  configured: readonly ConfiguredLevel[],
  { kueueTopologies, kaiTopologies, volcanoHyperNodes }: TopologyObjects,
): readonly LevelDomains[] {
  const declared = [
    ...configuredLevels(configured),
    ...objectLevels("kueue", kueueTopologies),
    ...objectLevels("kai", kaiTopologies),
  ];
  const shown = configured.length > 0 ? [] : wellKnown.flatMap(([source, labels]) => nested(source, labels));
  const levels = [
    ...unique(declared).map((level) => domainsOf(level, nodes)),
    ...tierLevels(nodes, volcanoHyperNodes),
  ].filter(({ domainOfNode }) => domainOfNode.some((domain) => domain >= 0));
  const isDeclared = new Set(levels.flatMap(({ labels }) => labels));
  const found = shown.filter(({ name }) => !isDeclared.has(name)).map((level) => domainsOf(level, nodes));
  return withOwnNames([...levels, ...found.filter(saysSomething)].slice(0, maxLevels));
}

function objectLevels(source: TopologySource, topologies: readonly TopologyObject[]): readonly LevelDefinition[] {
  return [...topologies]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name: object, levels }) => {
      const needed = levels.map(({ nodeLabel }) => nodeLabel);
      return needed.map((name, index) => ({ name, source, labels: needed.slice(0, index + 1), needed, object }));
    });
}

/** One level for each list of labels by which nodes are divided. */
function unique(levels: readonly LevelDefinition[]): readonly LevelDefinition[] {
  const byLabels = new Map<string, LevelDefinition>();
  for (const level of levels) {
    const key = JSON.stringify([level.labels, [...new Set([...level.labels, ...level.needed])].sort()]);
    if (!byLabels.has(key)) byLabels.set(key, level);
  }
  return [...byLabels.values()];
}

/** Levels of one name get the name of their object, or their number, behind it. */
function withOwnNames(levels: readonly LevelDomains[]): readonly LevelDomains[] {
  const taken = new Set<string>();
  return levels.map((level) => {
    let { name } = level;
    if (taken.has(name) && level.object !== null) name = `${level.name} (${level.object})`;
    for (let i = 2; taken.has(name); i++) name = `${level.name} (${i})`;
    taken.add(name);
    return name === level.name ? level : { ...level, name };
  });
}

function configuredLevels(levels: readonly ConfiguredLevel[]): readonly LevelDefinition[] {
  const labels = levels.map(({ nodeLabel }) => nodeLabel);
  return levels.map(({ name }, index) => ({
    name,
    source: "configured",
    labels: labels.slice(0, index + 1),
    needed: [],
    object: null,
  }));
}

function nested(source: TopologySource, labels: readonly string[]): readonly LevelDefinition[] {
  return labels.map((name, index) => ({ name, source, labels: labels.slice(0, index + 1), needed: [], object: null }));
}

function domainsOf({ needed, ...level }: LevelDefinition, nodes: readonly PlacedNode[]): LevelDomains {
  const keys: (string | null)[] = nodes.map(({ labels }) =>
    needed.some((label) => labelValue(labels, label) === null) ? null : keyOf(level.labels, labels),
  );
  const names = namesOf(new Set(keys.filter((key) => key !== null)));
  const sorted = [...names].sort(([, a], [, b]) => (a < b ? -1 : 1));
  const indices = new Map(sorted.map(([key], index) => [key, index]));
  return {
    ...level,
    domains: sorted.map(([, name]) => name),
    domainOfNode: Int32Array.from(keys, (key) => (key === null ? -1 : (indices.get(key) ?? -1))),
  };
}

/** A character that no label value has. */
const separator = "/";

function keyOf(labels: readonly string[], of: NodeView["labels"]): string | null {
  let key = "";
  for (const label of labels) {
    const value = labelValue(of, label);
    if (value === null) return null;
    key = key === "" ? value : `${key}${separator}${value}`;
  }
  return key;
}

function labelValue(labels: NodeView["labels"], label: string): string | null {
  const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
  return value === undefined || value === "" ? null : value;
}

/** What the domains are called: the value of their last label, or all values where another domain has the same last one. */
function namesOf(keys: ReadonlySet<string>): ReadonlyMap<string, string> {
  const lastOf = (key: string): string => key.slice(key.lastIndexOf(separator) + 1);
  const times = new Map<string, number>();
  for (const key of keys) times.set(lastOf(key), (times.get(lastOf(key)) ?? 0) + 1);
  return new Map([...keys].map((key) => [key, times.get(lastOf(key)) === 1 ? lastOf(key) : key]));
}

function saysSomething({ domains, domainOfNode }: LevelDomains): boolean {
  if (domains.length === 0) return false;
  const inside = domainOfNode.reduce((sum, domain) => sum + (domain < 0 ? 0 : 1), 0);
  const isOne = domains.length === 1 && inside === domainOfNode.length;
  return !isOne && domains.length < inside;
}
