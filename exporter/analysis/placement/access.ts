import type { NodeView } from "../../join/snapshot.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { takesNow } from "../freeCapacity/nodeRules.ts";
import { part } from "../freeCapacity/podDemand.ts";

/** What a shape demands of a node beside free capacity. */
export interface AccessRule {
  /** A key that is equal for rules that let in pods at the same nodes. */
  readonly key: string;
  readonly rules: PodNeeds;
  /** The GPU models that the node may have; empty: any model. */
  readonly models: readonly string[];
}

type NodeFacts = Pick<NodeView, "labels" | "taints" | "gpuModels">;

/** Whether a node's labels, taints and models let in pods with a rule. */
export function isLetIn(node: NodeFacts, { rules, models }: AccessRule): boolean {
  return (models.length === 0 || models.some((model) => node.gpuModels.includes(model))) && takesNow(node, rules);
}

/**
 * Nodes grouped into classes by what rules can distinguish: the labels that some rule names, taints and models. Each rule is
 * evaluated once per class of nodes. The cache is kept from one moment to the next, and changes no answer.
 */
export interface AccessCache {
  /** Changes whenever classes are numbered anew. */
  numbering: number;
  named: Set<string>;
  classOf: WeakMap<NodeView, number>;
  readonly ids: Map<string, number>;
  nodes: NodeFacts[];
  /** Whether a class is let in, by the key of a rule, then by class; `undefined` before it was evaluated. */
  readonly verdicts: Map<string, (boolean | undefined)[]>;
}

/** Creates an empty cache. */
export const createAccessCache = (): AccessCache => ({
  numbering: 0,
  named: new Set(),
  classOf: new WeakMap(),
  ids: new Map(),
  nodes: [],
  verdicts: new Map(),
});

const mostClasses = 50_000;
const mostRules = 10_000;

/** Prepares the cache for a moment with these rules: classes are kept as long as no rule names another label. */
export function knowRules(cache: AccessCache, rules: readonly AccessRule[]): void {
  const labels = new Set(rules.flatMap(({ rules: one }) => labelsOf(one)));
  const isKnown = [...labels].every((label) => cache.named.has(label));
  if (isKnown && cache.nodes.length <= mostClasses && cache.verdicts.size <= mostRules) return;
  cache.numbering += 1;
  cache.named = labels;
  cache.classOf = new WeakMap();
  cache.ids.clear();
  cache.nodes = [];
  cache.verdicts.clear();
}

function labelsOf({ nodeSelector, nodeAffinity }: PodNeeds): readonly string[] {
  return [...Object.keys(nodeSelector), ...nodeAffinity.flatMap((term) => term.map(({ key }) => key))];
}

/** The class of a node. */
export function classOf(cache: AccessCache, node: NodeView): number {
  const known = cache.classOf.get(node);
  if (known !== undefined) return known;
  const key = classKey(cache.named, node);
  const id = cache.ids.get(key) ?? cache.nodes.length;
  if (id === cache.nodes.length) {
    cache.ids.set(key, id);
    const { labels, taints, gpuModels } = node;
    cache.nodes.push({ labels, taints, gpuModels });
  }
  cache.classOf.set(node, id);
  return id;
}

function classKey(named: ReadonlySet<string>, { labels, taints, gpuModels }: NodeFacts): string {
  let key = "";
  if (named.size > 0)
    for (const label of Object.keys(labels)) if (named.has(label)) key += part(label) + part(labels[label] ?? "");
  for (const taint of taints) key += `&${part(taint.key)}${part(taint.value)}${taint.effect}`;
  for (const model of gpuModels) key += `|${part(model)}`;
  return key;
}

/** Returns, for one rule, the function that decides which classes it lets in. */
export function accessOf(cache: AccessCache, rule: AccessRule): (nodeClass: number) => boolean {
  const verdicts = cache.verdicts.get(rule.key) ?? [];
  if (verdicts.length === 0) cache.verdicts.set(rule.key, verdicts);
  return (nodeClass) => {
    const known = verdicts[nodeClass];
    if (known !== undefined) return known;
    const node = cache.nodes[nodeClass];
    const verdict = node !== undefined && isLetIn(node, rule);
    while (verdicts.length < nodeClass) verdicts.push(undefined);
    verdicts[nodeClass] = verdict;
    return verdict;
  };
}
