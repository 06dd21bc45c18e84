import { selects } from "../../model/queues/nodeMatch.ts";
import type { HyperNode, HyperNodeMember } from "../../model/topology.ts";
import type { LevelDomains, PlacedNode } from "./levels.ts";

/** Nodes as indices. */
type NodeSet = ReadonlySet<number>;

/**
 * The tiers of Volcano's HyperNodes as levels, the highest and so coarsest first. The HyperNodes of a tier are its domains. A
 * node that is in two of them counts for the first by name: Volcano's webhook allows a node in one only.
 */
export function tierLevels(nodes: readonly PlacedNode[], hyperNodes: readonly HyperNode[]): readonly LevelDomains[] {
  if (hyperNodes.length === 0) return [];
  const before = lastTiers.get(hyperNodes);
  if (before !== undefined && isAsBefore(before, nodes)) return before.levels;
  const levels = findTiers(nodes, hyperNodes);
  const usesLabels = hyperNodes.some(({ members }) => members.some(({ selector }) => selector.kind === "labels"));
  lastTiers.set(hyperNodes, { nodes, usesLabels, levels });
  return levels;
}

/** The tiers that were found last; patterns make them too slow to find in each cycle. It changes no answer. */
interface LastTiers {
  readonly nodes: readonly PlacedNode[];
  readonly usesLabels: boolean;
  readonly levels: readonly LevelDomains[];
}

const lastTiers = new WeakMap<readonly HyperNode[], LastTiers>();

function isAsBefore({ nodes: last, usesLabels }: LastTiers, nodes: readonly PlacedNode[]): boolean {
  return (
    last.length === nodes.length &&
    last.every(
      (node, index) => node.name === nodes[index]?.name && (!usesLabels || node.labels === nodes[index]?.labels),
    )
  );
}

function findTiers(nodes: readonly PlacedNode[], hyperNodes: readonly HyperNode[]): readonly LevelDomains[] {
  const membersOf = memberFinder(nodes, hyperNodes);
  const tiers = Map.groupBy([...hyperNodes].sort(byName), ({ tier }) => tier);
  return [...tiers]
    .sort(([a], [b]) => b - a)
    .map(([tier, domains]) => {
      const domainOfNode = new Int32Array(nodes.length).fill(-1);
      for (const [index, { name }] of domains.entries())
        for (const node of membersOf(name)) if (domainOfNode[node] === -1) domainOfNode[node] = index;
      return {
        name: tierLevelName(tier, domains),
        source: "volcano",
        labels: [],
        object: null,
        tier,
        domains: domains.map(({ name }) => name),
        domainOfNode,
      };
    });
}

const byName = (a: HyperNode, b: HyperNode): number => (a.name < b.name ? -1 : 1);

/** The name of a tier where all its HyperNodes agree on one, else its number. */
function tierLevelName(tier: number, domains: readonly HyperNode[]): string {
  const [first = null, ...others] = new Set(domains.map(({ tierName }) => tierName));
  return first === null || others.length > 0 ? `tier ${tier}` : first;
}

function memberFinder(nodes: readonly PlacedNode[], hyperNodes: readonly HyperNode[]): (name: string) => NodeSet {
  const byNodeName = new Map(nodes.map(({ name }, index) => [name, index]));
  const byHyperNode = new Map(hyperNodes.map((one) => [one.name, one]));
  const known = new Map<string, Set<number>>();
  const find = (name: string): NodeSet => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const found = new Set<number>();
    // It is known before its members are, so that HyperNodes that name each other in a circle come to an end.
    known.set(name, found);
    for (const { type, selector } of byHyperNode.get(name)?.members ?? []) {
      const members = type === "Node" ? [nodesOf(selector)] : hyperNodesOf(selector).map(find);
      for (const own of members) for (const node of own) found.add(node);
    }
    return found;
  };
  const nodesOf = (selector: HyperNodeMember["selector"]): readonly number[] => {
    if (selector.kind === "exact") {
      const index = byNodeName.get(selector.name);
      return index === undefined ? [] : [index];
    }
    const matches =
      selector.kind === "pattern"
        ? ({ name }: PlacedNode) => matchesPattern(selector.pattern, name)
        : ({ labels }: PlacedNode) => selects({ nodeSelector: {}, nodeAffinity: [selector.labels] }, labels);
    return nodes.flatMap((node, index) => (matches(node) ? [index] : []));
  };
  const hyperNodesOf = (selector: HyperNodeMember["selector"]): readonly string[] => {
    if (selector.kind === "exact") return [selector.name];
    if (selector.kind === "labels") return [];
    return [...byHyperNode.keys()].filter((name) => matchesPattern(selector.pattern, name));
  };
  return find;
}

/**
 * Whether a name contains what a pattern describes, as Go's regular expressions read it. A pattern is untrusted text, and this
 * language's own engine can take for ever on some. So patterns with a repeated group, with more than two unbounded repetitions,
 * or with anything else than the common syntax match nothing.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  return regExpOf(pattern)?.test(name) ?? false;
}

const compiled = new Map<string, RegExp | null>();
const maxCompiled = 4096;

function regExpOf(pattern: string): RegExp | null {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= maxCompiled) compiled.clear();
  const made = isHarmless(pattern) ? toRegExp(pattern) : null;
  compiled.set(pattern, made);
  return made;
}

function isHarmless(pattern: string): boolean {
  if (!/^[\w.^$|()[\]{}?*+,\\/ -]*$/.test(pattern) || /\\[^dwsDWS.\-/]/.test(pattern)) return false;
  const bare = pattern.replace(/\\./g, "x").replace(/\[[^\]]*\]/g, "x");
  return !/\)[*+?{]|\(\?/.test(bare) && (bare.match(/[*+]|\{\d*,\}/g) ?? []).length <= 2 && !/\{\d{3,}/.test(bare);
}

function toRegExp(pattern: string): RegExp | null {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return null;
  }
}
