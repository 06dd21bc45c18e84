import { kindInfo } from "../api/kinds.ts";
import { type ObjectStore, objectKey } from "../api/store.ts";
import type { Card, SimNode, SimPod, Workload, World } from "../cluster/world.ts";
import { monitoringClaim, podClaim, resourceSlice, sharedClaim } from "./dra.ts";
import type { KubeObject } from "./kubeObject.ts";
import { nodeObject } from "./node.ts";
import { ownerObjects } from "./owners.ts";
import {
  disruptionBudget,
  exporterPod,
  exporterPodUid,
  fixedObjects,
  reservationNamespace,
  reservationPod,
} from "./platform.ts";
import { podObject } from "./pod.ts";
import { queueObjects } from "./queues/queueObjects.ts";

/** Writes what changed in the world into the store of API objects. */
export interface Publisher {
  publish(): void;
}

/** Puts the objects that never change at once; all others come with each `publish`. */
export function createPublisher(world: World, store: ObjectStore): Publisher {
  const reservations = new Map<Card, string>();
  const sliceGenerations = new Map<SimNode, { healthy: number; generation: number }>();
  const budgets = new Set<Workload>();
  const queueObjectsNow = new Map<
    string,
    { readonly kind: string; readonly namespace: string | undefined; readonly name: string }
  >();

  const put = (kind: string, object: KubeObject): void => store.put(kindInfo(kind).shelf, object);
  for (const { kind, object } of fixedObjects(world)) put(kind, object);

  function publishNode(node: SimNode): void {
    put("Node", nodeObject(world, node));
    if (node.spec.exporter !== null) put("Pod", exporterPod(node, node.spec.exporter.portName));
    if (node.spec.mode.kind !== "dra") return;
    const healthy = node.cards.filter((card) => card.healthy).length;
    const last = sliceGenerations.get(node) ?? { healthy, generation: 1 };
    const generation = last.healthy === healthy ? last.generation : last.generation + 1;
    sliceGenerations.set(node, { healthy, generation });
    put("ResourceSlice", resourceSlice(node, generation));
    if (node.spec.mode.monitoringClaim && node.spec.exporter !== null) {
      put("ResourceClaim", monitoringClaim(node, exporterPodUid(node)));
    }
  }

  function publishPod(pod: SimPod): void {
    const { workload } = pod;
    if (!world.workloads.has(workload)) return;
    put("Pod", podObject(world, pod));
    if (pod.claim !== null) put("ResourceClaim", podClaim(pod, pod.claim));
    if (workload.claim !== null) put("ResourceClaim", sharedClaim(workload, workload.claim));
    if (workload.spec.kind === "Deployment" && workload.spec.pods > 1) budgets.add(workload);
  }

  function publishReservation(card: Card): void {
    const published = reservations.get(card);
    const { reservation } = card;
    if (published !== undefined && published !== reservation?.name)
      store.remove("pods", reservationNamespace, published);
    if (reservation === null) {
      reservations.delete(card);
      return;
    }
    put("Pod", reservationPod(card, reservation));
    reservations.set(card, reservation.name);
  }

  function removeWorkload(workload: Workload): void {
    const { namespace } = workload.spec;
    for (const pod of workload.pods) {
      store.remove("pods", namespace, pod.name);
      if (pod.claim !== null) store.remove("resourceclaims", namespace, pod.claim.name);
    }
    if (workload.claim !== null) store.remove("resourceclaims", namespace, workload.claim.name);
    for (const { kind, object } of ownerObjects(workload)) {
      store.remove(kindInfo(kind).shelf, namespace, object.metadata.name);
    }
    if (store.get("poddisruptionbudgets", objectKey(namespace, workload.name)) !== undefined) {
      store.remove("poddisruptionbudgets", namespace, workload.name);
    }
  }

  function publishWorkloads(): void {
    for (const workload of world.removedWorkloads) removeWorkload(workload);
    for (const workload of world.newWorkloads) {
      if (!world.workloads.has(workload)) continue;
      for (const { kind, object } of ownerObjects(workload)) put(kind, object);
    }
    world.removedWorkloads.clear();
    world.newWorkloads.clear();
  }

  function publishQueues(): void {
    const gone = new Map(queueObjectsNow);
    queueObjectsNow.clear();
    for (const { kind, object } of queueObjects(world)) {
      const { namespace, name } = object.metadata;
      const key = `${kind}/${objectKey(namespace, name)}`;
      put(kind, object);
      queueObjectsNow.set(key, { kind, namespace, name });
      gone.delete(key);
    }
    for (const { kind, namespace, name } of gone.values()) store.remove(kindInfo(kind).shelf, namespace, name);
  }

  function publishBudgets(): void {
    for (const workload of budgets) {
      if (world.workloads.has(workload)) put("PodDisruptionBudget", disruptionBudget(workload));
    }
    budgets.clear();
  }

  return {
    publish() {
      for (const pod of world.removedPods) {
        // Its scheduler says why before it deletes it.
        if (pod.disruption !== undefined) put("Pod", podObject(world, pod));
        store.remove("pods", pod.workload.spec.namespace, pod.name);
      }
      world.removedPods.clear();
      publishQueues();
      publishWorkloads();
      for (const node of world.dirtyNodes) publishNode(node);
      for (const card of world.dirtyCards) publishReservation(card);
      for (const pod of world.dirtyPods) publishPod(pod);
      publishBudgets();
      world.dirtyNodes.clear();
      world.dirtyCards.clear();
      world.dirtyPods.clear();
    },
  };
}
