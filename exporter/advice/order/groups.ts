import type { Snapshot } from "../../join/snapshot.ts";
import { hashOf, mix, type TraitHash } from "../../kernel/traitHash.ts";
import type { TextMap } from "../../model/node.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { volumeTopologyLabels } from "../../model/volumes.ts";
import { selects } from "../guards/selects.ts";
import { type LabelLink, linkNeeds, linkRules, linkTerms, neighborHash, type Rules } from "./podTraits.ts";
import type { CanRun, FirstOf } from "./things.ts";

/** What things share: namespaces, teams, queues, labels that someone asks for, claims, GPUs. */
export interface Groups {
  readonly traits: readonly TraitHash[];
  /** The groups of a thing, as `LinkedThings.linksOf` gives them; and the things of a group. */
  readonly groupsOf: (thing: number) => readonly number[];
  readonly membersOf: (group: number) => readonly number[];
}

/** Says that a thing belongs to a group: `kind` and `name` say which one, `how` what it has to do with it. */
type Belongs = (thing: number, kind: string, name: string, how: TraitHash) => void;

const member = hashOf("member");

/** The groups of a moment. Names of groups say nothing: only who is in them, and how. */
export function createGroups(snapshot: Snapshot, first: FirstOf, canRun: CanRun): Groups {
  const ids = new Map<string, number>();
  const traits: TraitHash[] = [];
  const members: number[][] = [];
  const own = new Map<number, number[]>();
  const { pods, workloads, queueing } = snapshot;
  const isRunnable = (thing: number): boolean => {
    if (thing < first.pod) return true;
    if (thing < first.workload) return canRun.pod(pods[thing - first.pod]);
    if (thing < first.gang) return canRun.workload(workloads[thing - first.workload]);
    return canRun.gang(queueing.gangs[thing - first.gang]);
  };
  const belongs: Belongs = (thing, kind, name, how) => {
    if (!isRunnable(thing)) return;
    const key = `${kind} ${name}`;
    const known = ids.get(key);
    const id = known ?? traits.push(hashOf("group", kind)) - 1;
    if (known === undefined) ids.set(key, id);
    const list = members[id];
    if (list === undefined) members[id] = [thing, how];
    else list.push(thing, how);
    const groups = own.get(thing);
    if (groups === undefined) own.set(thing, [first.group + id, how]);
    else groups.push(first.group + id, how);
  };
  for (const [i, { namespace, team, queue }] of [...workloads, ...queueing.gangs].entries()) {
    belongs(first.workload + i, "namespace", namespace, member);
    belongs(first.workload + i, "team", team, member);
    if (queue !== null) belongs(first.workload + i, "queue", queue, member);
  }
  addGpus(snapshot, first, belongs);
  const runnable = { ...snapshot, pods: pods.filter(canRun.pod) };
  addNodeLabels(runnable, first, belongs);
  addPods(snapshot, askedOfPods(runnable), first, belongs);
  addNeighbors(runnable, first, belongs);
  addBudgets(snapshot, first, belongs);
  return {
    traits,
    groupsOf: (thing) => own.get(thing) ?? [],
    membersOf: (group) => members[group - first.group] ?? [],
  };
}

/** Pods that hold parts of one GPU. */
function addGpus({ devices }: Snapshot, first: FirstOf, belongs: Belongs): void {
  for (const [i, { holders }] of devices.entries()) {
    if (holders.length > 1)
      for (const { pod, share } of holders) belongs(first.pod + pod, "card", `${i}`, hashOf(share));
  }
}

const nodeLabel = (key: string): string => `label of nodes ${key}`;
const podLabel = (key: string): string => `label of pods ${key}`;

/** Labels of nodes by which someone chooses: of others it does not matter which nodes have the same. */
function addNodeLabels(snapshot: Snapshot, first: FirstOf, belongs: Belongs): void {
  const asked = askedOfNodes(snapshot);
  for (const [i, { labels }] of snapshot.nodes.entries()) {
    addLabels(labels, asked, (key, value) => belongs(first.node + i, nodeLabel(key), value, member));
  }
}

function addLabels(labels: TextMap, asked: ReadonlySet<string>, add: (key: string, value: string) => void): void {
  for (const key of asked) {
    const value = labels[key];
    if (value !== undefined) add(key, value);
  }
}

/** Keys of nodes' labels that pods, their rules or their volumes ask for. */
function askedOfNodes({ pods, surroundings }: Snapshot): ReadonlySet<string> {
  const volumes = surroundings?.volumes ?? null;
  const asked = new Set<string>(volumes === null ? [] : volumeTopologyLabels);
  const seen = new Set<PodNeeds>();
  for (const { needs, placement } of pods) {
    if (needs !== null && !seen.has(needs)) linkNeeds(needs, (key) => asked.add(key));
    if (needs !== null) seen.add(needs);
    if (placement !== undefined) for (const key of topologyKeys(placement)) asked.add(key);
  }
  for (const one of surroundings?.neighbors ?? []) for (const key of topologyKeys(one)) asked.add(key);
  for (const { nodeAffinity } of volumes?.values() ?? []) linkTerms(nodeAffinity, (key) => asked.add(key));
  return asked;
}

const topologyKeys = ({ affinity = [], antiAffinity, spread = [] }: Rules): readonly string[] =>
  [...affinity, ...antiAffinity, ...spread].map(({ topologyKey }) => topologyKey);

/** What pods ask of nodes, of volumes and of other pods; and the labels of theirs that others ask for. */
function addPods(snapshot: Snapshot, asked: ReadonlySet<string>, first: FirstOf, belongs: Belongs): void {
  for (const [i, pod] of snapshot.pods.entries()) {
    const thing = first.pod + i;
    const toNodes: LabelLink = (key, value, how) => belongs(thing, nodeLabel(key), value, how);
    const toPods: LabelLink = (key, value, how) => belongs(thing, podLabel(key), value, how);
    if (pod.needs !== null) linkNeeds(pod.needs, toNodes);
    if (pod.gang !== null) belongs(thing, "gang", pod.gang.id, member);
    addLabels(pod.labels, asked, (key, value) => toPods(key, value, member));
    if (pod.placement !== undefined) linkRules(pod.placement, toPods);
    for (const claim of pod.volumeClaims ?? []) {
      belongs(thing, "claim", `${pod.namespace}/${claim}`, member);
      linkVolume(snapshot, `${pod.namespace}/${claim}`, toNodes);
    }
  }
}

function linkVolume({ surroundings }: Snapshot, claim: string, link: LabelLink): void {
  const volume = surroundings?.volumes?.get(surroundings.volumeClaims?.get(claim)?.volumeName ?? "");
  if (volume === undefined) return;
  linkTerms(volume.nodeAffinity, link);
  for (const key of Object.keys(volume.topology)) link(key, volume.topology[key] ?? "", hashOf("volume"));
}

/** What pods without GPUs, on their nodes, mean for where others go. */
function addNeighbors(snapshot: Snapshot, first: FirstOf, belongs: Belongs): void {
  const asked = askedOfPods(snapshot);
  const placeOf = new Map(snapshot.nodes.map(({ name }, i) => [name, i] as const));
  for (const one of snapshot.surroundings?.neighbors ?? []) {
    const place = placeOf.get(one.nodeName);
    if (place === undefined) continue;
    const beside = mix(hashOf("beside"), neighborHash(one));
    const toPods: LabelLink = (key, value, how) => belongs(first.node + place, podLabel(key), value, how);
    if (one.hostPorts.length > 0 || one.antiAffinity.length > 0) belongs(first.node + place, "neighbors", "", beside);
    addLabels(one.labels, asked, (key, value) => toPods(key, value, beside));
    linkRules(one, (key, value, how) => toPods(key, value, mix(beside, how)));
  }
}

/** Keys of pods' labels that rules ask for. */
function askedOfPods({ pods, surroundings }: Snapshot): ReadonlySet<string> {
  const asked = new Set<string>();
  for (const { placement } of pods) if (placement !== undefined) linkRules(placement, (key) => asked.add(key));
  for (const one of surroundings?.neighbors ?? []) linkRules(one, (key) => asked.add(key));
  return asked;
}

/** Pods under the same PodDisruptionBudget, with what it allows. */
function addBudgets({ podDisruptionBudgets, pods }: Snapshot, first: FirstOf, belongs: Belongs): void {
  if (podDisruptionBudgets === null || podDisruptionBudgets.length === 0) return;
  const byNamespace = Map.groupBy(podDisruptionBudgets, ({ namespace }) => namespace);
  for (const [i, { namespace, labels }] of pods.entries()) {
    for (const budget of byNamespace.get(namespace) ?? []) {
      const how = hashOf("budget", budget.disruptionsAllowed);
      if (selects(budget, labels)) belongs(first.pod + i, "budget", `${namespace}/${budget.name}`, how);
    }
  }
}
