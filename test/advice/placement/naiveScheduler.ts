import type { RandomStream } from "../../../simulator/random.ts";
import type { Hands } from "./carryOutSteps.ts";
import { type AffinityTerm, type DrawnCluster, type NodeObject, type PodObject, required } from "./drawnCluster.ts";

/** A cluster in which a plain scheduler puts each pod on any node that passes its filters, at random. */
export interface NaiveCluster extends Hands {
  /** Node of each pod by name; `null`: it waits. */
  readonly nodeOf: ReadonlyMap<string, string | null>;
  /** Tries to place every pod that waits. */
  placeWaiting(): void;
}

const gpusOf = (pod: PodObject): number => Number(pod.spec.containers[0]?.resources.limits["nvidia.com/gpu"] ?? 0);

/** The cluster as drawn. */
export function createNaiveCluster({ nodes, pods, volumes }: DrawnCluster, random: RandomStream): NaiveCluster {
  const cordoned = new Set<string>();
  const nodeOf = new Map(pods.map((pod) => [pod.metadata.name, pod.spec.nodeName ?? null] as const));
  const placed = () =>
    pods.flatMap((pod) => {
      const node = nodes.find(({ metadata }) => metadata.name === nodeOf.get(pod.metadata.name));
      return node === undefined ? [] : [{ pod, node }];
    });
  const near = (key: string, a: NodeObject, b: NodeObject): boolean =>
    a.metadata.labels[key] !== undefined && a.metadata.labels[key] === b.metadata.labels[key];
  const selects = ({ labelSelector: { matchLabels } }: AffinityTerm, { metadata: { labels } }: PodObject): boolean =>
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  const selected = ({ nodeSelector }: PodObject["spec"], node: NodeObject): boolean =>
    Object.entries(nodeSelector).every(([key, value]) => node.metadata.labels[key] === value);

  const hasFreeCapacity = (pod: PodObject, node: NodeObject): boolean => {
    const allocated = placed().filter((one) => one.node === node);
    return allocated.reduce((sum, one) => sum + gpusOf(one.pod), gpusOf(pod)) <= 4;
  };
  const hasPorts = (pod: PodObject, node: NodeObject): boolean => {
    const takes = (one: PodObject): boolean => (one.spec.containers[0]?.ports.length ?? 0) > 0;
    return !takes(pod) || !placed().some((one) => one.node === node && takes(one.pod));
  };
  const isFree = (pod: PodObject, node: NodeObject): boolean => {
    const own = pod.spec.affinity.podAntiAffinity?.[required] ?? [];
    return !placed().some(
      (other) =>
        own.some((term) => selects(term, other.pod) && near(term.topologyKey, node, other.node)) ||
        (other.pod.spec.affinity.podAntiAffinity?.[required] ?? []).some(
          (term) => selects(term, pod) && near(term.topologyKey, node, other.node),
        ),
    );
  };
  const isDrawn = (pod: PodObject, node: NodeObject): boolean =>
    (pod.spec.affinity.podAffinity?.[required] ?? []).every((term) => {
      if (node.metadata.labels[term.topologyKey] === undefined) return false;
      const others = placed().filter(
        (one) => selects(term, one.pod) && one.node.metadata.labels[term.topologyKey] !== undefined,
      );
      return (
        others.some((one) => near(term.topologyKey, node, one.node)) || (others.length === 0 && selects(term, pod))
      );
    });
  const isEven = (pod: PodObject, node: NodeObject): boolean =>
    pod.spec.topologySpreadConstraints.every((rule) => {
      const domain = (one: NodeObject): string | undefined => one.metadata.labels[rule.topologyKey];
      if (domain(node) === undefined) return false;
      const counted = nodes.filter((one) => domain(one) !== undefined && selected(pod.spec, one));
      const countIn = (value: string | undefined): number =>
        placed().filter((one) => counted.includes(one.node) && domain(one.node) === value && selects(rule, one.pod))
          .length;
      const least = Math.min(...counted.map((one) => countIn(domain(one))));
      return countIn(domain(node)) + (selects(rule, pod) ? 1 : 0) - least <= rule.maxSkew;
    });
  const hasVolumes = (pod: PodObject, node: NodeObject): boolean =>
    pod.spec.volumes.every(({ persistentVolumeClaim: { claimName } }) => {
      const at = volumes.find(({ claim }) => claim.metadata.name === claimName)?.volume.at;
      return at !== undefined && node.metadata.labels[at.key] === at.value;
    });
  const takes = (pod: PodObject, node: NodeObject): boolean =>
    !cordoned.has(node.metadata.name) &&
    selected(pod.spec, node) &&
    node.spec.taints.every(({ key }) => pod.spec.tolerations.some((one) => one.key === key)) &&
    [hasFreeCapacity, hasPorts, isFree, isDrawn, isEven, hasVolumes].every((filter) => filter(pod, node));

  const schedule = (pod: PodObject): string | null => {
    const [first, ...others] = nodes.filter((node) => takes(pod, node));
    const chosen = first === undefined ? null : random.pick([first, ...others]).metadata.name;
    nodeOf.set(pod.metadata.name, chosen);
    return chosen;
  };
  return {
    nodeOf,
    placeWaiting: () => {
      for (const pod of pods) if (nodeOf.get(pod.metadata.name) === null) schedule(pod);
    },
    setUnschedulable: async (node, isUnschedulable) => {
      if (isUnschedulable) cordoned.add(node);
      else cordoned.delete(node);
    },
    replace: async (_namespace, name) => {
      const pod = pods.find(({ metadata }) => metadata.name === name);
      if (pod === undefined) throw new Error(`no pod ${name}`);
      nodeOf.set(name, null);
      return schedule(pod);
    },
  };
}
