import { topologyMisfit } from "../../cluster/topology.ts";
import type { Workload, World } from "../../cluster/world.ts";
import type { KueueSpec, TopologyRequest } from "../../queues/spec.ts";
import type { KindedObject, ObjectMeta } from "../kubeObject.ts";

/** The name of the one Topology, which all flavors have. */
export const topologyName = "racks";

/** The Topology of Kueue, where the cluster has levels. */
export function topologyObjects(
  { topologyLevels }: KueueSpec,
  meta: (kind: string, name: string) => ObjectMeta,
): readonly KindedObject[] {
  if (topologyLevels === undefined) return [];
  const levels = topologyLevels.map((nodeLabel) => ({ nodeLabel }));
  return [{ kind: "kueue/Topology", object: { metadata: meta("topology", topologyName), spec: { levels } } }];
}

/** What a pod set asks of the topology, as Kueue writes it into the Workload. */
export const topologyRequest = (topology: TopologyRequest | undefined): object =>
  topology === undefined ? {} : { topologyRequest: { [topology.mode]: topology.label } };

/** Reason and message of a Workload that has no place in the topology; `null`: it has one. */
export function topologyReason(world: World, workload: Workload): readonly [reason: string, message: string] | null {
  const misfit = topologyMisfit(world, workload);
  if (misfit === null) return null;
  const fits = `topology "${topologyName}" allows to fit only ${misfit.pods} out of ${workload.spec.pods} pod(s)`;
  return ["TopologyPlacementFailed", `couldn't assign flavors to pod set main: ${fits}`];
}
