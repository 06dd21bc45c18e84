import type { PodView, Snapshot } from "../../join/snapshot.ts";
import type { TextMap } from "../../model/node.ts";
import { meets } from "../../model/queues/nodeMatch.ts";
import { type PersistentVolume, type PersistentVolumeClaim, volumeTopologyLabels } from "../../model/volumes.ts";

/** Finds the nodes to which the volumes of pods can be attached. */
export interface VolumeNodes {
  /** Why it is not known where a pod's volumes are, as part of a sentence; `null`: it is known. */
  unknownOf(pod: PodView): string | null;
  /** Whether every volume of a pod can be attached to a node with these labels. */
  allows(pod: PodView, labels: TextMap): boolean;
  /** Names of the pod's claims that only one node at a time can attach. */
  forOneNode(pod: PodView): readonly string[];
}

const right =
  "PersistentVolumeClaims and PersistentVolumes cannot be read: the Helm value rbac.optional.volumes=true allows it";

/** Makes a finder that looks up the volumes of a Snapshot. Pure. */
export function createVolumeNodes({ surroundings }: Snapshot): VolumeNodes {
  const claims = surroundings?.volumeClaims ?? null;
  const volumes = surroundings?.volumes ?? null;
  const claimOf = (namespace: string, name: string): PersistentVolumeClaim | undefined =>
    claims?.get(`${namespace}/${name}`);
  const volumeOf = (claim: PersistentVolumeClaim | undefined): PersistentVolume | undefined =>
    volumes?.get(claim?.volumeName ?? "");
  return {
    unknownOf({ namespace, volumeClaims = [] }) {
      if (volumeClaims.length === 0) return null;
      if (claims === null || volumes === null) return `mounts claim ${volumeClaims[0]}, and ${right}`;
      for (const name of volumeClaims) {
        const claim = claimOf(namespace, name);
        const volume = volumeOf(claim);
        if (claim === undefined) return `mounts claim ${name}, which is not there`;
        if (volume === undefined) return `mounts claim ${name}, which has no volume that is known`;
        if (volume.namesNodes) return `mounts claim ${name}, whose volume names its nodes (matchFields)`;
      }
      return null;
    },
    allows: ({ namespace, volumeClaims = [] }, labels) =>
      volumeClaims.every((name) => {
        const volume = volumeOf(claimOf(namespace, name));
        return volume === undefined || isReachable(volume, labels);
      }),
    forOneNode: ({ namespace, volumeClaims = [] }) =>
      volumeClaims.filter((name) => claimOf(namespace, name)?.isForOneNode === true),
  };
}

function isReachable({ nodeAffinity, topology }: PersistentVolume, labels: TextMap): boolean {
  if (nodeAffinity.length > 0 && !nodeAffinity.some((term) => term.every((one) => meets(labels, one)))) return false;
  // If a node has no label for its zone or region, the cluster has only one.
  if (!volumeTopologyLabels.some((key) => labels[key] !== undefined)) return true;
  return Object.keys(topology).every((key) => topology[key]?.split("__").includes(labels[key] ?? "") === true);
}
