import type { PodView, Snapshot } from "../../join/snapshot.ts";
import { once, oncePer } from "../../kernel/once.ts";
import type { ClusterNode, TextMap } from "../../model/node.ts";
import type { NeighborPod, PodPlacement, PodTerm, SpreadRule } from "../../model/podPlacement.ts";
import { selects } from "../../model/queues/nodeMatch.ts";
import { collide, looksAt, takesLabels } from "./matching.ts";
import { createVolumeNodes, type VolumeNodes } from "./volumeNodes.ts";

/** Where pods are while a plan is tried. */
export interface Whereabouts {
  /** Name of the node of a pod (index into `Snapshot.pods`); `null`: it is on none. */
  nodeOf(pod: number): string | null;
  /** Additional pods, each like a pod of the Snapshot (index). */
  readonly added: readonly { readonly like: number; readonly node: string }[];
}

/**
 * The requirements of the scheduler on a place besides the node's labels, taints and resources: affinity and anti-affinity
 * (also that of pods that stay, against the one that comes), topology spread, host ports, and volumes that are bound to nodes
 * or zones. The rules are those of kube-scheduler's filter plugins InterPodAffinity, PodTopologySpread, NodePorts,
 * VolumeBinding and VolumeZone.
 */
export interface PlacementRules {
  /** Whether any rule, of the pod itself or of other pods, may decide where a pod (index) goes. */
  concerns(pod: number): boolean;
  /** Why it is not known where a pod may go, as part of a sentence about it; `null`: it is known. */
  unknownOf(pod: number): string | null;
  /** Whether a rule about pods, not about volumes, asks something of this pod's place that cannot be judged here. */
  isUndecided(pod: number): boolean;
  /** Whether a pod like this one (index) may be placed on a node (name). */
  allows(like: number, node: string, where: Whereabouts): boolean;
  readonly volumes: VolumeNodes;
}

/** The pods that a term or a spread rule looks at. */
interface LookedAt {
  /** Indices into `Snapshot.pods`, whether the pods are on a node or not. */
  readonly pods: readonly number[];
  readonly neighbors: readonly NeighborPod[];
}

/** A term of a pod that stays, and where that pod is. */
interface AllocatedTerm {
  readonly term: PodTerm;
  readonly pod: number | null;
  readonly node: string;
}

/** The rules of a Snapshot; they keep what was looked up once. */
export const placementRulesOf = oncePer(createRules);

const noPlacement: PodPlacement = { affinity: [], antiAffinity: [], spread: [], hostPorts: [], unknown: [] };
const placementOf = (pod: PodView | undefined): PodPlacement => pod?.placement ?? noPlacement;

function createRules(snapshot: Snapshot): PlacementRules {
  const { pods, surroundings } = snapshot;
  const neighbors = surroundings?.neighbors ?? [];
  const nodes = [...(surroundings?.nodes.values() ?? [])];
  const volumes = createVolumeNodes(snapshot);
  const labelsOf = once(() => labelsByNode(snapshot));
  const topology = (node: string | null, key: string): string | undefined =>
    node === null ? undefined : labelsOf().get(node)?.[key];
  const ruled: number[] = [];
  for (let i = 0; i < pods.length; i++) if (pods[i]?.placement !== undefined) ruled.push(i);
  const watched = watchedNamespaces(pods, ruled, neighbors);
  const portsOn = Map.groupBy(
    neighbors.filter(({ hostPorts }) => hostPorts.length > 0),
    ({ nodeName }) => nodeName,
  );
  const withPorts = ruled.filter((i) => placementOf(pods[i]).hostPorts.length > 0);
  const podsIn = once(() => Map.groupBy(pods.keys(), (i) => pods[i]?.namespace ?? ""));
  const seen = new Map<PodTerm | SpreadRule, Map<string, LookedAt>>();

  function lookedAt(rule: PodTerm | SpreadRule, namespace: string): LookedAt {
    const own = seen.get(rule) ?? new Map<string, LookedAt>();
    seen.set(rule, own);
    const known = own.get(namespace);
    if (known !== undefined) return known;
    const spaces = "namespaces" in rule && rule.namespaces.length > 0 ? rule.namespaces : [namespace];
    const found: LookedAt = {
      pods: spaces.flatMap((space) =>
        (podsIn().get(space) ?? []).filter((i) => takesLabels(rule.selector, pods[i]?.labels ?? {})),
      ),
      neighbors: neighbors.filter((one) => spaces.includes(one.namespace) && takesLabels(rule.selector, one.labels)),
    };
    own.set(namespace, found);
    return found;
  }

  /** Yields the node of each pod that all of the rules look at. */
  function* nodesOf(rules: readonly (PodTerm | SpreadRule)[], namespace: string, where: Whereabouts) {
    const [first, ...others] = rules;
    if (first === undefined) return;
    const isSeen = (pod: PodView | NeighborPod): boolean => others.every((rule) => isOf(rule, namespace, pod));
    const { pods: own, neighbors: beside } = lookedAt(first, namespace);
    for (const i of own) {
      const pod = pods[i];
      const node = where.nodeOf(i);
      if (pod !== undefined && node !== null && isSeen(pod)) yield node;
    }
    for (const one of beside) if (isSeen(one)) yield one.nodeName;
    for (const { like, node } of where.added) {
      const pod = pods[like];
      if (pod !== undefined && isOf(first, namespace, pod) && isSeen(pod)) yield node;
    }
  }

  const isNear = (key: string, value: string, others: Iterable<string>): boolean => {
    for (const other of others) if (topology(other, key) === value) return true;
    return false;
  };

  function keepsAway(pod: PodView, node: string, where: Whereabouts): boolean {
    return placementOf(pod).antiAffinity.some((term) => {
      const value = topology(node, term.topologyKey);
      return value !== undefined && isNear(term.topologyKey, value, nodesOf([term], pod.namespace, where));
    });
  }

  const allocated: readonly AllocatedTerm[] = [
    ...neighbors.flatMap(({ antiAffinity, nodeName, namespace }) =>
      antiAffinity.map((term) => ({ term: within(term, namespace), pod: null, node: nodeName })),
    ),
    ...ruled.flatMap((i) => {
      const { namespace = "" } = pods[i] ?? {};
      return placementOf(pods[i]).antiAffinity.map((term) => ({ term: within(term, namespace), pod: i, node: "" }));
    }),
  ];
  const allocatedAgainst = new Map<number, readonly AllocatedTerm[]>();

  function isKeptAway(like: number, pod: PodView, node: string, where: Whereabouts): boolean {
    const against = allocatedAgainst.get(like) ?? allocated.filter(({ term }) => looksAt(term, "", pod));
    allocatedAgainst.set(like, against);
    const isAt = (term: PodTerm, other: string | null): boolean => {
      const value = topology(node, term.topologyKey);
      return value !== undefined && topology(other, term.topologyKey) === value;
    };
    if (against.some((one) => isAt(one.term, one.pod === null ? one.node : where.nodeOf(one.pod)))) return true;
    return where.added.some(({ like: other, node: at }) => {
      const { namespace = "" } = pods[other] ?? {};
      return placementOf(pods[other]).antiAffinity.some((term) => looksAt(term, namespace, pod) && isAt(term, at));
    });
  }

  function isDrawn(pod: PodView, node: string, where: Whereabouts): boolean {
    const { affinity } = placementOf(pod);
    if (affinity.length === 0) return true;
    if (affinity.some(({ topologyKey }) => topology(node, topologyKey) === undefined)) return false;
    const company = [...nodesOf(affinity, pod.namespace, where)];
    if (affinity.every(({ topologyKey: key }) => isNear(key, topology(node, key) ?? "", company))) return true;
    const isAlone = !company.some((other) =>
      affinity.some(({ topologyKey }) => topology(other, topologyKey) !== undefined),
    );
    // Of pods that attract each other, the first may go anywhere.
    return isAlone && affinity.every((term) => looksAt(term, pod.namespace, pod));
  }

  function isEven(pod: PodView, node: string, where: Whereabouts): boolean {
    const { spread } = placementOf(pod);
    if (spread.length === 0) return true;
    const able = nodes.filter(({ labels }) => spread.every(({ topologyKey }) => labels[topologyKey] !== undefined));
    return spread.every((rule) => {
      const value = topology(node, rule.topologyKey);
      if (value === undefined) return false;
      const counts = podsByDomain(rule, pod, able, where);
      const least = counts.size < rule.minDomains ? 0 : Math.min(...counts.values());
      const own = takesLabels(rule.selector, pod.labels) ? 1 : 0;
      return (counts.get(value) ?? 0) + own - least <= rule.maxSkew;
    });
  }

  /** The number of pods that a spread rule looks at, by the topology values of the nodes that count for it. */
  function podsByDomain(
    rule: SpreadRule,
    { needs, namespace }: PodView,
    able: readonly ClusterNode[],
    where: Whereabouts,
  ): ReadonlyMap<string, number> {
    const counted = able.filter(({ labels }) => !rule.heedsNodeRules || needs === null || selects(needs, labels));
    const domainOf = new Map(counted.map(({ name, labels }) => [name, labels[rule.topologyKey] ?? ""] as const));
    const counts = new Map<string, number>();
    for (const value of domainOf.values()) counts.set(value, 0);
    for (const other of nodesOf([rule], namespace, where)) {
      const value = domainOf.get(other);
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return counts;
  }

  function hasPorts(pod: PodView, node: string, where: Whereabouts): boolean {
    const { hostPorts } = placementOf(pod);
    if (hostPorts.length === 0) return true;
    const taken = [
      ...(portsOn.get(node) ?? []).map((one) => one.hostPorts),
      ...withPorts.filter((i) => where.nodeOf(i) === node).map((i) => placementOf(pods[i]).hostPorts),
      ...where.added.filter((one) => one.node === node).map(({ like }) => placementOf(pods[like]).hostPorts),
    ];
    return !taken.some((others) => collide(hostPorts, others));
  }

  function undecidedOf(pod: PodView | undefined): string | null {
    const { unknown, affinity, antiAffinity, spread, hostPorts } = placementOf(pod);
    if (unknown[0] !== undefined) return `cannot be placed for certain: ${unknown[0]}`;
    const looksAround = affinity.length + antiAffinity.length + spread.length + hostPorts.length > 0;
    return looksAround && (surroundings?.neighbors ?? null) === null
      ? "asks something of the pods around it, and not all of them are known"
      : null;
  }

  return {
    volumes,
    concerns: (index) => {
      const pod = pods[index];
      if (pod === undefined) return false;
      return pod.placement !== undefined || pod.volumeClaims !== undefined || watched.has(pod.namespace);
    },
    unknownOf: (index) => {
      const pod = pods[index];
      return pod === undefined ? null : (undecidedOf(pod) ?? volumes.unknownOf(pod));
    },
    isUndecided: (index) => undecidedOf(pods[index]) !== null,
    allows: (like, node, where) => {
      const pod = pods[like];
      if (pod === undefined) return false;
      return (
        volumes.allows(pod, labelsOf().get(node) ?? {}) &&
        hasPorts(pod, node, where) &&
        !keepsAway(pod, node, where) &&
        !isKeptAway(like, pod, node, where) &&
        isDrawn(pod, node, where) &&
        isEven(pod, node, where)
      );
    },
  };
}

/** The same term with an explicit list of the namespaces that it looks at. */
const within = (term: PodTerm, namespace: string): PodTerm =>
  term.namespaces.length > 0 ? term : { ...term, namespaces: [namespace] };

const isOf = (rule: PodTerm | SpreadRule, namespace: string, pod: PodView | NeighborPod): boolean =>
  "namespaces" in rule
    ? looksAt(rule, namespace, pod)
    : pod.namespace === namespace && takesLabels(rule.selector, pod.labels);

function labelsByNode({ nodes, surroundings }: Snapshot): ReadonlyMap<string, TextMap> {
  const all: readonly Pick<ClusterNode, "name" | "labels">[] = [...nodes, ...(surroundings?.nodes.values() ?? [])];
  return new Map(all.map(({ name, labels }) => [name, labels] as const));
}

/** The namespaces at which some rule looks. */
function watchedNamespaces(
  pods: readonly PodView[],
  ruled: readonly number[],
  neighbors: readonly NeighborPod[],
): ReadonlySet<string> {
  const watched = new Set<string>();
  const watch = (terms: readonly PodTerm[], namespace: string): void => {
    for (const { namespaces } of terms)
      for (const space of namespaces.length === 0 ? [namespace] : namespaces) watched.add(space);
  };
  for (const i of ruled) {
    const { namespace = "" } = pods[i] ?? {};
    const { affinity, antiAffinity, spread } = placementOf(pods[i]);
    watch([...affinity, ...antiAffinity], namespace);
    if (spread.length > 0) watched.add(namespace);
  }
  for (const { antiAffinity, namespace } of neighbors) watch(antiAffinity, namespace);
  return watched;
}
