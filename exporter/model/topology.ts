import type { LabelRequirement } from "./queues/podNeeds.ts";

/** Where a level of the cluster's topology comes from. */
export const topologySources = ["configured", "kueue", "kai", "volcano", "nvlink", "cloud"] as const;

export type TopologySource = (typeof topologySources)[number];

/**
 * A level of the cluster's topology: a way of dividing nodes into domains, such as racks. Nodes are in the same domain if they
 * have the same values of all its labels. A node that lacks one of them, or has it empty, is in no domain of the level.
 */
export interface TopologyLevel {
  /**
   * The name by which people and schedulers know it, which no other level has: the configured name, the node label of the
   * level, or the name of a tier of HyperNodes.
   */
  readonly name: string;
  readonly source: TopologySource;
  /** The node labels that together name a domain, from the coarsest level of its topology to this one; empty for HyperNodes. */
  readonly labels: readonly string[];
  /** The Topology object that declares it; `null` if none does. */
  readonly object: string | null;
}

/** A Topology of Kueue (`kueue.x-k8s.io`) or KAI (`kai.scheduler`): levels by node labels, the coarsest first. */
export interface TopologyObject {
  readonly name: string;
  readonly levels: readonly {
    readonly nodeLabel: string;
    /** KAI: another name for the level; `null` without one. */
    readonly alias: string | null;
  }[];
}

/** A HyperNode of Volcano (`topology.volcano.sh/v1alpha1`): one domain of a tier. The lowest tier is the closest together. */
export interface HyperNode {
  readonly name: string;
  readonly tier: number;
  /** `spec.tierName`; `null` without one. */
  readonly tierName: string | null;
  readonly members: readonly HyperNodeMember[];
}

/** Nodes, or HyperNodes of a lower tier, that belong to a HyperNode. */
export interface HyperNodeMember {
  readonly type: "Node" | "HyperNode";
  /** `exact`: the name; `pattern`: a regular expression that is found in names; `labels`: of nodes only. Untrusted text. */
  readonly selector:
    | { readonly kind: "exact"; readonly name: string }
    | { readonly kind: "pattern"; readonly pattern: string }
    | { readonly kind: "labels"; readonly labels: readonly LabelRequirement[] };
}

/**
 * The level within whose domains the pods of a gang must be placed together. Only what is required blocks; what is preferred
 * does not.
 */
export interface RequiredTopology {
  readonly scheduler: "kueue" | "kai" | "volcano";
  /** Name of the Topology object; `null`: that of the flavor (Kueue), or HyperNodes (Volcano). Untrusted text. */
  readonly topology: string | null;
  /** The node label or alias of the level, or the name of a tier; `null` if the tier is given by its number. Untrusted text. */
  readonly level: string | null;
  /** The highest tier allowed (Volcano); `null` for all others. */
  readonly tier: number | null;
}

/** GPUs of the gangs for which it is counted how often they fit into the domains of a level. */
export const gangSizes = [8, 16, 32, 64, 128, 256] as const;

export type GangSize = (typeof gangSizes)[number];

/** The same sizes as texts, for labels. */
export const gangSizeNames = ["8", "16", "32", "64", "128", "256"] as const;

export type GangSizeName = (typeof gangSizeNames)[number];

/** The size as a text. */
export const gangSizeName = (size: GangSize): GangSizeName => `${size}`;
