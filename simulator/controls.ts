import type { ClusterControls } from "./api/write/controls.ts";
import { apply } from "./cluster/apply.ts";
import { disruptPod, removeNode, restartExporter } from "./cluster/removePod.ts";
import type { SimPod, World } from "./cluster/world.ts";
import type { FaultBoard } from "./faults.ts";
import { exporterDaemonSet } from "./objects/node.ts";
import type { Publisher } from "./objects/publisher.ts";

/** What the API's writes do to a world. */
export function createControls(world: World, publisher: Publisher, faults: FaultBoard): ClusterControls {
  return {
    removePod(namespace, name, by) {
      const pod = podNamed(world, namespace, name);
      if (pod !== undefined) disruptPod(world, pod, by === "eviction" ? "EvictionByEvictionAPI" : null);
      else if (namespace === exporterDaemonSet.namespace) restartExporterNamed(world, faults, name);
      publisher.publish();
    },
    deleteNode(name) {
      const node = world.nodesByName.get(name);
      if (node !== undefined) removeNode(world, node);
      publisher.publish();
    },
    change(info, wanted) {
      apply(world, info, wanted);
      publisher.publishWritten(info, wanted);
    },
  };
}

function podNamed(world: World, namespace: string, name: string): SimPod | undefined {
  for (const { spec, pods } of world.workloads) {
    const pod = spec.namespace === namespace ? pods.find((each) => each.name === name) : undefined;
    if (pod !== undefined) return pod;
  }
  return undefined;
}

function restartExporterNamed(world: World, faults: FaultBoard, name: string): void {
  const node = world.nodes.find(({ exporterPodName }) => exporterPodName === name);
  if (node === undefined) return;
  restartExporter(world, node);
  faults.restarted(node.spec.name);
}
