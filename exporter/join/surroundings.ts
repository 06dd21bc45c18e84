import type { ClusterState } from "../model/cluster.ts";
import type { ClusterNode } from "../model/node.ts";
import type { NeighborPod } from "../model/podPlacement.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../model/volumes.ts";

/** What decides where pods may go, besides GPUs, CPU and memory. */
export interface Surroundings {
  /** Every node, with GPUs or without, by name. */
  readonly nodes: ReadonlyMap<string, ClusterNode>;
  /** `ClusterState.neighbors`; `null`: not known. */
  readonly neighbors: readonly NeighborPod[] | null;
  /** By `namespace/name`; `null`: they could not be read. */
  readonly volumeClaims: ReadonlyMap<string, PersistentVolumeClaim> | null;
  /** PersistentVolumes by name. */
  readonly volumes: ReadonlyMap<string, PersistentVolume> | null;
}

/** The facts that decide where pods may go, besides GPUs, CPU and memory, as far as they were read. */
export function surroundingsOf({ known, neighbors, ...state }: ClusterState): Surroundings {
  const { nodes, persistentVolumeClaims, persistentVolumes } = state;
  return {
    nodes: byName(nodes, ({ name }) => name),
    neighbors: known.has("pods") ? (neighbors ?? null) : null,
    volumeClaims: known.has("persistentVolumeClaims")
      ? byName(persistentVolumeClaims, ({ namespace, name }) => `${namespace}/${name}`)
      : null,
    volumes: known.has("persistentVolumes") ? byName(persistentVolumes, ({ name }) => name) : null,
  };
}

function byName<Item>(items: readonly Item[], nameOf: (item: Item) => string): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [nameOf(item), item] as const));
}
