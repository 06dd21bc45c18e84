import type { Analysis } from "../analysis/analysis.ts";
import type { PodView, Snapshot } from "../join/snapshot.ts";
import { hashOf, mix, type TraitHash, together } from "../kernel/traitHash.ts";
import type { TextMap } from "../model/node.ts";
import type { PodPlacement } from "../model/podPlacement.ts";
import type { LabelRequirement, PodNeeds } from "../model/queues/podNeeds.ts";
import { volumeTopologyLabels } from "../model/volumes.ts";
import { selects } from "./guards/eviction.ts";
import { type MomentIndex, momentIndex } from "./momentIndex.ts";
import { hashOfData, nodeHash, podHash } from "./thingTraits.ts";

/** Hashes of what is around the nodes and pods of a moment, by their indices. */
export interface ThingsAround {
  readonly ofNode: (index: number) => TraitHash;
  readonly ofPod: (index: number) => TraitHash;
}

const mostLooked = 5000;

/** A label, and how something is connected with it. */
interface LabelLink {
  /** The label and the objects that have it: `nodes KEY=VALUE` or `pods KEY=VALUE`. */
  readonly label: string;
  readonly how: TraitHash;
}

/**
 * Hashes what is around each node and pod. Around a pod are the nodes and pods that it chooses or avoids by their labels, those
 * that choose it, its GPUs and its disruption budgets; around a node are its pods, and what chooses it by its labels. It
 * matters who has a label and who asks for it, not what it is called; labels that nobody asks for do not matter. Pods that
 * cannot run or ask for no GPUs do not count: otherwise anybody could use them to decide, at no cost, what becomes of the work
 * of others. If there are more nodes and pods than `mostLooked`, nothing counts as around them, because looking would take
 * longer than the advice.
 */
export function thingsAround(analysis: Analysis): ThingsAround {
  const { snapshot } = analysis;
  const { nodes, pods } = snapshot;
  if (nodes.length + pods.length > mostLooked) return { ofNode: () => 0, ofPod: () => 0 };
  const index = momentIndex(analysis);
  const asked = askedKeys(snapshot);
  const podLinks = pods.map((pod) => (counts(pod) ? linksOfPod(snapshot, pod, asked.ofPods) : []));
  const nodeLinks = nodes.map(({ labels }) => ownLabels("nodes", labels, asked.ofNodes));
  const podsOn = nodes.map(({ name }) => index.podsOn(name).flatMap((i) => (counts(pods[i]) ? [i] : [])));
  const own = pods.map((pod, i) => mix(podHash(pod), heldHash(index, pod, i)));
  const ownOf = (pod: number): TraitHash => own[pod] ?? 0;
  const nodeOwn = nodes.map((node, i) => mix(nodeHash(node), summed((podsOn[i] ?? []).map(ownOf))));
  const neighbors = (snapshot.surroundings?.neighbors ?? []).map((one) => {
    const rules = { affinity: [], spread: [], antiAffinity: one.antiAffinity };
    const links = [...ownLabels("pods", one.labels, asked.ofPods), ...linksOfRules(rules)];
    return { node: one.nodeName, own: hashOfData([one.antiAffinity, one.hostPorts]), links };
  });

  /** By label: a hash of everything that is connected with it. */
  const byLabel = new Map<string, TraitHash>();
  const add = (links: readonly LabelLink[], hash: TraitHash): void => {
    for (const { label, how } of links) byLabel.set(label, together(byLabel.get(label) ?? 0, mix(hash, how)));
  };
  for (const [i, links] of podLinks.entries()) add(links, ownOf(i));
  for (const [i, links] of nodeLinks.entries()) add(links, nodeOwn[i] ?? 0);
  for (const one of neighbors) add(one.links, one.own);
  const labelHash = (links: readonly LabelLink[]): TraitHash =>
    summed(links.map(({ label, how }) => mix(byLabel.get(label) ?? 0, how)));

  const ofPods = podLinks.map((links, i) => mix(ownOf(i), labelHash(links)));
  const besides = Map.groupBy(neighbors, ({ node }) => node);
  const ofNodes = nodes.map(({ name }, i) => {
    const around = (podsOn[i] ?? []).map((pod) => ofPods[pod] ?? 0);
    const beside = (besides.get(name) ?? []).map((one) => mix(one.own, labelHash(one.links)));
    return mix(mix(nodeOwn[i] ?? 0, labelHash(nodeLinks[i] ?? [])), mix(summed(around), summed(beside)));
  });
  return { ofNode: (node) => ofNodes[node] ?? 0, ofPod: (pod) => ofPods[pod] ?? 0 };
}

const summed = (hashes: readonly TraitHash[]): TraitHash => hashes.reduce(together, hashes.length);

const counts = (pod: PodView | undefined): boolean =>
  pod !== undefined && pod.impossible === undefined && pod.gpus !== 0;

/**
 * A hash of the parts of GPUs that a pod holds, where they are not whole GPUs of its own, and of what its disruption budgets
 * allow.
 */
function heldHash({ analysis, devicesOf, budgets }: MomentIndex, pod: PodView, index: number): TraitHash {
  const parts = devicesOf(index).flatMap((place) => {
    const { weight, slots, profile, unhealthy, holders = [] } = analysis.snapshot.devices[place] ?? {};
    const [first, ...others] = holders;
    if (weight === 1 && slots === 1 && unhealthy === false && others.length === 0 && first?.estimated === false)
      return [];
    const held = holders.filter((holder) => holder.pod === index).map(({ share, estimated }) => [share, estimated]);
    return [hashOfData([weight, slots, profile, unhealthy, holders.length, held])];
  });
  const own = budgets(pod.namespace).filter((budget) => selects(budget, pod.labels));
  return mix(summed(parts), summed(own.map(({ disruptionsAllowed }) => hashOfData(disruptionsAllowed))));
}

/** The keys of labels for which something asks. */
interface AskedKeys {
  readonly ofNodes: ReadonlySet<string>;
  readonly ofPods: ReadonlySet<string>;
}

function askedKeys({ pods, surroundings }: Snapshot): AskedKeys {
  const ofNodes = new Set<string>(surroundings?.volumes == null ? [] : volumeTopologyLabels);
  const ofPods = new Set<string>();
  const addRequirements = (keys: Set<string>, all: readonly LabelRequirement[]): void => {
    for (const { key } of all) keys.add(key);
  };
  const addRules = ({ affinity, antiAffinity, spread }: Rules): void => {
    for (const rule of [...affinity, ...antiAffinity, ...spread]) {
      ofNodes.add(rule.topologyKey);
      addRequirements(ofPods, rule.selector);
    }
  };
  for (const needs of new Set(pods.map((pod) => pod.needs))) {
    for (const key of Object.keys(needs?.nodeSelector ?? {})) ofNodes.add(key);
    for (const term of needs?.nodeAffinity ?? []) addRequirements(ofNodes, term);
  }
  for (const { placement } of pods) if (placement !== undefined) addRules(placement);
  for (const { antiAffinity } of surroundings?.neighbors ?? []) addRules({ affinity: [], spread: [], antiAffinity });
  for (const { nodeAffinity } of surroundings?.volumes?.values() ?? [])
    for (const term of nodeAffinity) addRequirements(ofNodes, term);
  return { ofNodes, ofPods };
}

type Rules = Pick<PodPlacement, "affinity" | "antiAffinity" | "spread">;

const has = hashOf("has");

function ownLabels(of: "nodes" | "pods", labels: TextMap, asked: ReadonlySet<string>): readonly LabelLink[] {
  return [...asked].flatMap((key) =>
    labels[key] === undefined ? [] : [{ label: `${of} ${key}=${labels[key]}`, how: has }],
  );
}

/** The labels of a pod, and the labels for which the pod, its volumes and its rules ask. */
function linksOfPod(snapshot: Snapshot, pod: PodView, asked: ReadonlySet<string>): readonly LabelLink[] {
  const { needs, placement, volumeClaims = [], namespace, labels } = pod;
  const { volumes, volumeClaims: claims } = snapshot.surroundings ?? {};
  const mounted = volumeClaims.flatMap((name): readonly LabelLink[] => {
    const volume = volumes?.get(claims?.get(`${namespace}/${name}`)?.volumeName ?? "");
    const claim = { label: `claim ${namespace}/${name}`, how: has };
    if (volume === undefined) return [claim];
    return [claim, ...linksOfTerms(volume.nodeAffinity), ...linksOfMap("volume", volume.topology)];
  });
  return [
    ...ownLabels("pods", labels, asked),
    ...(needs === null ? [] : [...linksOfMap("selector", needs.nodeSelector), ...linksOfTerms(needs.nodeAffinity)]),
    ...(placement === undefined ? [] : linksOfRules(placement)),
    ...mounted,
  ];
}

const linksOfMap = (how: string, labels: TextMap): readonly LabelLink[] =>
  Object.keys(labels).map((key) => ({ label: `nodes ${key}=${labels[key]}`, how: hashOf(how) }));

const linksOfTerms = (terms: PodNeeds["nodeAffinity"]): readonly LabelLink[] =>
  terms.flatMap((term) => linksOf("nodes", term, `affinity ${term.length}`));

const linksOfRules = ({ affinity, antiAffinity, spread }: Rules): readonly LabelLink[] => [
  ...affinity.flatMap(({ selector, topologyKey }) => linksOf("pods", selector, `draws ${topologyKey}`)),
  ...antiAffinity.flatMap(({ selector, topologyKey }) => linksOf("pods", selector, `keeps apart ${topologyKey}`)),
  ...spread.flatMap(({ selector, ...rule }) => linksOf("pods", selector, `spreads ${JSON.stringify(rule)}`)),
];

const linksOf = (of: "nodes" | "pods", all: readonly LabelRequirement[], how: string): readonly LabelLink[] =>
  all.flatMap(({ key, operator, values }) =>
    values.map((value) => ({ label: `${of} ${key}=${value}`, how: hashOf(`${how} ${operator} ${values.length}`) })),
  );
