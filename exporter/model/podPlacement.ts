import type { TextMap } from "./node.ts";
import type { LabelRequirement } from "./queues/podNeeds.ts";

/** Requirements on a pod's labels: all must hold; an empty list selects every pod. */
export type PodSelector = readonly LabelRequirement[];

/** A required term of pod affinity or anti-affinity (core/v1 `PodAffinityTerm`). */
export interface PodTerm {
  readonly topologyKey: string;
  readonly selector: PodSelector;
  /** Namespaces of the pods that it looks at; empty: the namespace of the pod itself. */
  readonly namespaces: readonly string[];
}

/** A topology spread constraint that keeps a pod waiting (`whenUnsatisfiable: DoNotSchedule`). */
export interface SpreadRule {
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** The number of domains below which the smallest domain counts as empty; 1 where it is not set. */
  readonly minDomains: number;
  readonly selector: PodSelector;
  /**
   * Whether only nodes that the pod's node selector and affinity allow are counted (`nodeAffinityPolicy: Honor`, the default).
   */
  readonly heedsNodeRules: boolean;
}

/** A port of the node that a container takes. */
export interface HostPort {
  readonly port: number;
  readonly protocol: string;
  /** `0.0.0.0`: all addresses of the node. */
  readonly address: string;
}

/** What a pod requires of the pods around it, besides what it requires of its node. Preferences are not included. */
export interface PodPlacement {
  readonly affinity: readonly PodTerm[];
  readonly antiAffinity: readonly PodTerm[];
  readonly spread: readonly SpreadRule[];
  readonly hostPorts: readonly HostPort[];
  /** What the scheduler will check but nothing here can judge, each as a part of a sentence about the pod. */
  readonly unknown: readonly string[];
}

/** A bound pod without GPUs, cut down to what decides where pods with GPUs may go. */
export interface NeighborPod {
  readonly namespace: string;
  readonly nodeName: string;
  readonly labels: TextMap;
  readonly antiAffinity: readonly PodTerm[];
  readonly hostPorts: readonly HostPort[];
}
