import type { ClusterState, ExporterPodRef, ObjectKind } from "../../model/cluster.ts";

/** A pod that may be an exporter: it matched one of the configured label selectors in a configured namespace. */
export interface ExporterPod extends ExporterPodRef {
  readonly podIp: string;
  /** Container ports by name. */
  readonly ports: Readonly<Record<string, number>>;
  readonly ready: boolean;
  /** The controller that made it. */
  readonly owner: { readonly kind: string; readonly name: string } | null;
  /** Seconds since the epoch; `null` where the object does not say. */
  readonly createdAt: number | null;
}

/** What the Kubernetes source knows: the objects of a cycle, and where exporters run. */
export interface KubernetesState extends Omit<ClusterState, "telemetry" | "prices" | "problems"> {
  readonly exporterPods: readonly ExporterPod[];
  /** Last resource version seen per kind, bookmarks included; a kind that was never listed is absent. */
  readonly resourceVersions: Readonly<Partial<Record<ObjectKind, string>>>;
  /** All pods that the API has, with or without GPUs. */
  readonly podCount: number;
}
