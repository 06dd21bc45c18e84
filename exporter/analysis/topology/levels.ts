import type { NodeView } from "../../join/snapshot.ts";
import type { TopologyLevel, TopologySource } from "../../model/topology.ts";
import { nodeLabels } from "../../model/wellKnown.ts";

/** A level with the domain of each node. */
export interface LevelDomains extends TopologyLevel {
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

type LabeledNode = Pick<NodeView, "labels">;

/**
 * The levels of the cluster's topology. What is configured comes first, then what labels show, unless levels are configured. A
 * level that labels show is left out if it says nothing: if all nodes are in one domain, or each is alone in its own. Pure; the
 * order of nodes changes nothing.
 */
export function findLevels(
  nodes: readonly LabeledNode[],
  configured: readonly ConfiguredLevel[],
): readonly LevelDomains[] {
  const declared = configuredLevels(configured);
  const shown = configured.length > 0 ? [] : wellKnown.flatMap(([source, labels]) => nested(source, labels));
  const known = declared.map((level) => domainsOf(level, nodes)).filter(({ domains }) => domains.length > 0);
  const found = shown.map((level) => domainsOf(level, nodes)).filter(saysSomething);
  return [...known, ...found].slice(0, maxLevels);
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

function domainsOf({ needed, ...level }: LevelDefinition, nodes: readonly LabeledNode[]): LevelDomains {
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
