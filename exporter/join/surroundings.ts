import type { ClusterState } from "../model/cluster.ts";
import type { Surroundings } from "./snapshot.ts";

/** What decides beside GPUs, CPU and memory where pods may go, as far as it was read. */
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
