import type { PodView, WorkloadView } from "../../join/snapshot.ts";
import { hashedOnce, hashOf, mix, type TraitHash, together } from "../../kernel/traitHash.ts";
import type { NeighborPod, PodPlacement, PodTerm, SpreadRule } from "../../model/podPlacement.ts";
import type { LabelRequirement, PodNeeds } from "../../model/queues/podNeeds.ts";

/** What someone has to do with a label: its key and value, and how it is meant. */
export type LabelLink = (key: string, value: string, how: TraitHash) => void;

const summed = (hashes: Iterable<TraitHash>): TraitHash => {
  let sum = 0;
  for (const hash of hashes) sum = together(sum, hash);
  return sum;
};

const requirementsHash = (all: readonly LabelRequirement[]): TraitHash =>
  summed(all.map(({ key, operator, values }) => hashOf(key, operator, values.length)));

/** What pods ask of a node, but for the values of labels: they may be names. */
export const needsHash = hashedOnce(({ requests, nodeSelector, nodeAffinity, tolerations }: PodNeeds): TraitHash => {
  const parts = [
    summed(Object.keys(requests).map((name) => hashOf(name, requests[name]))),
    summed(Object.keys(nodeSelector).map((key) => hashOf(key))),
    summed(nodeAffinity.map((term) => mix(term.length, requirementsHash(term)))),
    summed(tolerations.map(({ key, operator, value, effect }) => hashOf(key, operator, value, effect))),
  ];
  return parts.reduce(mix, 0);
});

/** The labels of nodes that pods ask for. */
export function linkNeeds({ nodeSelector, nodeAffinity }: PodNeeds, link: LabelLink): void {
  for (const key of Object.keys(nodeSelector)) link(key, nodeSelector[key] ?? "", hashOf("selector"));
  linkTerms(nodeAffinity, link);
}

/** The labels that terms of a node affinity ask for, of a pod or of a volume. */
export function linkTerms(terms: PodNeeds["nodeAffinity"], link: LabelLink): void {
  for (const term of terms) linkRequirements(term, hashOf("affinity", term.length), link);
}

/** The labels that a selector asks for. */
export function linkRequirements(all: readonly LabelRequirement[], how: TraitHash, link: LabelLink): void {
  for (const { key, operator, values } of all)
    for (const value of values) link(key, value, mix(how, hashOf(operator, values.length)));
}

/** What pods ask of the pods around them. */
export type Rules = Pick<PodPlacement, "antiAffinity"> & Partial<Pick<PodPlacement, "affinity" | "spread">>;

const termHash = ({ topologyKey, selector, namespaces }: PodTerm): TraitHash =>
  mix(hashOf(topologyKey, namespaces.length), requirementsHash(selector));

const spreadHash = ({ topologyKey, maxSkew, minDomains, heedsNodeRules, selector }: SpreadRule): TraitHash =>
  mix(hashOf(topologyKey, maxSkew, minDomains, heedsNodeRules), requirementsHash(selector));

const portsHash = (ports: PodPlacement["hostPorts"]): TraitHash =>
  summed(ports.map(({ port, protocol, address }) => hashOf(port, protocol, address)));

/** The labels of other pods that the rules of a pod look at. */
export function linkRules({ affinity = [], antiAffinity, spread = [] }: Rules, link: LabelLink): void {
  for (const term of affinity) linkRequirements(term.selector, mix(hashOf("draws"), termHash(term)), link);
  for (const term of antiAffinity) linkRequirements(term.selector, mix(hashOf("keeps apart"), termHash(term)), link);
  for (const rule of spread) linkRequirements(rule.selector, mix(hashOf("spreads"), spreadHash(rule)), link);
}

/** What a pod without GPUs means for where others go. */
export const neighborHash = ({ antiAffinity, hostPorts }: NeighborPod): TraitHash =>
  mix(summed(antiAffinity.map(termHash)), portsHash(hostPorts));

function placementHash({ affinity, antiAffinity, spread, hostPorts, unknown }: PodPlacement): TraitHash {
  const rules = [summed(affinity.map(termHash)), summed(antiAffinity.map(termHash)), summed(spread.map(spreadHash))];
  return [...rules, portsHash(hostPorts), unknown.length].reduce(mix, 0);
}

/** What a pod is by itself. */
export const podHash = hashedOnce((pod: PodView): TraitHash => {
  const { disruption, needs, placement, volumeClaims } = pod;
  const own = hashOf(
    pod.uid === null,
    pod.status,
    pod.gpus,
    pod.priorityClass,
    pod.priority,
    pod.workloadClass,
    pod.idleOptOut,
    pod.boundAt,
    pod.createdAt,
    pod.pendingSince,
    pod.checkpointedAt,
    pod.owner?.kind,
    volumeClaims?.length,
    disruption.isStatic,
    disruption.hasLocalStorage,
    disruption.forbiddenBy,
    pod.gang?.min,
    pod.gang?.bound,
  );
  const asked = needs === null ? own : mix(own, needsHash(needs));
  return placement === undefined ? asked : mix(asked, placementHash(placement));
});

/** What a workload is by itself. */
export const workloadHash = hashedOnce((view: WorkloadView): TraitHash => {
  const { job } = view;
  const own = hashOf(
    "workload",
    view.kind,
    view.priorityClass,
    view.priority,
    view.workloadClass,
    view.createdAt,
    view.pods.length,
    view.queueObject?.kind,
    view.gang?.min,
    job?.backoffLimit,
    job?.failed,
    job?.onDisruption,
    job?.isSuspended,
  );
  return view.owners.reduce((hash, owner) => mix(hash, hashOf(owner.kind)), own);
});
