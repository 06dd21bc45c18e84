import type { JsonValue } from "../../exporter/model/recommendation.ts";
import { type KindInfo, kindInfo } from "../api/kinds.ts";
import { type ObjectStore, objectKey } from "../api/store.ts";
import { amended } from "../api/write/change.ts";
import { mergeDifference, mergePatch } from "../api/write/mergePatch.ts";
import type { PhysicalGpu, SimNode, SimPod, Workload, World } from "../cluster/world.ts";
import { at, isObject, itemsAt, textAt, toJson } from "../json.ts";
import { disruptionBudgets } from "./budgets.ts";
import { monitoringClaim, podClaim, resourceSlice, sharedClaim } from "./dra.ts";
import type { KubeObject } from "./kubeObject.ts";
import { exporterDaemonSet, nodeObject } from "./node.ts";
import { ownerObjects } from "./owners.ts";
import { exporterPod, exporterPodUid, fixedObjects, reservationNamespace, reservationPod } from "./platform.ts";
import { podObject } from "./pod.ts";
import { queueObjects } from "./queues/queueObjects.ts";

/** Writes what changed in the world into the store of API objects. */
export interface Publisher {
  publish(): void;
  /** Publishes the world, together with what someone wrote into an object and the cluster does not make of itself. */
  publishWritten(info: KindInfo, wanted: KubeObject): void;
}

/** Creates a publisher, which puts the objects that never change at once; all others come with each `publish`. */
export function createPublisher(world: World, store: ObjectStore): Publisher {
  const reservations = new Map<PhysicalGpu, string>();
  const sliceGenerations = new Map<SimNode, { health: string; generation: number }>();
  const budgets = new Set<Workload>();
  const overlays = createOverlays();
  /** Objects as the cluster makes them, without what was written into them. */
  const made = new Map<string, KubeObject>();
  const queueObjectsNow = new Map<
    string,
    { readonly kind: string; readonly namespace: string | undefined; readonly name: string }
  >();

  const madeKey = (shelf: string, namespace: string | undefined, name: string): string =>
    `${shelf}/${objectKey(namespace, name)}`;
  function putOn(shelf: string, object: KubeObject): void {
    made.set(madeKey(shelf, object.metadata.namespace, object.metadata.name), object);
    store.put(shelf, overlays.over(shelf, object));
  }
  const put = (kind: string, object: KubeObject): void => putOn(kindInfo(kind).shelf, object);
  function remove(shelf: string, namespace: string | undefined, name: string): void {
    const key = madeKey(shelf, namespace, name);
    const object = made.get(key);
    if (object !== undefined) overlays.drop(shelf, object);
    made.delete(key);
    store.remove(shelf, namespace, name);
  }
  for (const { kind, object } of fixedObjects(world)) put(kind, object);

  function publishNode(node: SimNode): void {
    put("Node", nodeObject(world, node));
    if (node.spec.exporter !== null) put("Pod", exporterPod(node, node.spec.exporter.portName));
    if (node.spec.mode.kind !== "dra") return;
    const health = node.physicalGpus.map(({ healthy, xid }) => (healthy ? (xid?.code ?? 0) : "lost")).join();
    const last = sliceGenerations.get(node) ?? { health, generation: 1 };
    const generation = last.health === health ? last.generation : last.generation + 1;
    sliceGenerations.set(node, { health, generation });
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
    budgets.add(workload);
  }

  function publishReservation(physicalGpu: PhysicalGpu): void {
    const published = reservations.get(physicalGpu);
    const { reservation } = physicalGpu;
    if (published !== undefined && published !== reservation?.name) remove("pods", reservationNamespace, published);
    if (reservation === null) {
      reservations.delete(physicalGpu);
      return;
    }
    put("Pod", reservationPod(physicalGpu, reservation));
    reservations.set(physicalGpu, reservation.name);
  }

  function removePod(pod: SimPod): void {
    const { namespace } = pod.workload.spec;
    remove("pods", namespace, pod.name);
    if (pod.claim !== null) remove("resourceclaims", namespace, pod.claim.name);
  }

  function removeWorkload(workload: Workload): void {
    const { namespace } = workload.spec;
    for (const pod of workload.pods) removePod(pod);
    if (workload.claim !== null) remove("resourceclaims", namespace, workload.claim.name);
    for (const { kind, object } of ownerObjects(workload))
      remove(kindInfo(kind).shelf, namespace, object.metadata.name);
    for (const { metadata } of disruptionBudgets(workload)) remove("poddisruptionbudgets", namespace, metadata.name);
  }

  function removeNode(node: SimNode): void {
    remove("nodes", undefined, node.spec.name);
    remove("pods", exporterDaemonSet.namespace, node.exporterPodName);
    for (const physicalGpu of node.physicalGpus) {
      const reserved = reservations.get(physicalGpu);
      if (reserved !== undefined) remove("pods", reservationNamespace, reserved);
    }
    if (node.spec.mode.kind !== "dra") return;
    remove("resourceslices", undefined, resourceSlice(node, 1).metadata.name);
    const { namespace, name } = monitoringClaim(node, exporterPodUid(node)).metadata;
    if (node.spec.mode.monitoringClaim) remove("resourceclaims", namespace, name);
  }

  function publishWorkloads(): void {
    for (const workload of world.removedWorkloads) removeWorkload(workload);
    for (const workload of world.appliedAgain) {
      world.newWorkloads.add(workload);
      for (const { kind, object } of ownerObjects(workload)) overlays.drop(kindInfo(kind).shelf, object);
    }
    world.appliedAgain.clear();
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
    for (const { kind, namespace, name } of gone.values()) remove(kindInfo(kind).shelf, namespace, name);
  }

  function publishBudgets(): void {
    for (const workload of budgets) {
      if (!world.workloads.has(workload)) continue;
      for (const budget of disruptionBudgets(workload)) put("PodDisruptionBudget", budget);
    }
    budgets.clear();
  }

  function publishRemovals(): void {
    for (const pod of world.removedPods) {
      // Whoever removes the pod writes the reason into it before.
      if (pod.disruption !== undefined && pod.endedAt === null) put("Pod", podObject(world, pod));
      removePod(pod);
      budgets.add(pod.workload);
    }
    for (const name of world.removedExporterPods) remove("pods", exporterDaemonSet.namespace, name);
    for (const node of world.removedNodes) removeNode(node);
    world.removedPods.clear();
    world.removedExporterPods.clear();
    world.removedNodes.clear();
  }

  function publish(): void {
    publishRemovals();
    publishQueues();
    publishWorkloads();
    for (const node of world.dirtyNodes) publishNode(node);
    for (const physicalGpu of world.dirtyGpus) publishReservation(physicalGpu);
    for (const pod of world.dirtyPods) publishPod(pod);
    publishBudgets();
    world.dirtyNodes.clear();
    world.dirtyGpus.clear();
    world.dirtyPods.clear();
  }

  return {
    publish,
    publishWritten({ shelf }, wanted) {
      overlays.drop(shelf, wanted);
      publish();
      const { namespace, name, uid } = wanted.metadata;
      const object = made.get(madeKey(shelf, namespace, name));
      if (object === undefined || object.metadata.uid !== uid) return;
      overlays.keep(shelf, object, wanted);
      putOn(shelf, object);
    },
  };
}

/**
 * What people wrote into objects beyond what the simulated cluster makes of them: labels, annotations, and fields that it does
 * not act on.
 */
interface Overlays {
  /** The object with what was written into it. */
  over(shelf: string, object: KubeObject): KubeObject;
  /** Keeps how `wanted` differs from the object as the cluster makes it now. */
  keep(shelf: string, made: KubeObject, wanted: KubeObject): void;
  /** Forgets what was written into an object. */
  drop(shelf: string, object: KubeObject): void;
}

/** Fields that the cluster itself determines. */
const cluster: ReadonlySet<string> = new Set(["taints", "replicas", "suspend", "active", "unschedulable", "nodeName"]);

/** Creates overlays without any entries. An overlay ends with its object. */
function createOverlays(): Overlays {
  const patches = new Map<string, JsonValue>();
  const keyOf = (shelf: string, { metadata }: KubeObject): string => `${shelf}/${metadata.uid}`;
  return {
    over(shelf, object) {
      if (patches.size === 0) return object;
      const patch = patches.get(keyOf(shelf, object));
      return patch === undefined ? object : amended(object, mergePatch(toJson(object), patch));
    },
    keep(shelf, made, wanted) {
      const patch = mergeDifference(written(made), written(wanted));
      if (patch === undefined) patches.delete(keyOf(shelf, made));
      else patches.set(keyOf(shelf, made), patch);
    },
    drop(shelf, object) {
      patches.delete(keyOf(shelf, object));
    },
  };
}

/** The part of an object that people may write. */
function written(object: KubeObject): JsonValue {
  const document = toJson(object);
  const spec = at(document, "spec");
  const own = isObject(spec) ? Object.entries(spec).filter(([key]) => !cluster.has(key)) : [];
  const taints = itemsAt(spec, "taints").filter((taint) => !textAt(taint, "key")?.startsWith("node.kubernetes.io/"));
  return {
    metadata: {
      labels: at(document, "metadata", "labels") ?? {},
      annotations: at(document, "metadata", "annotations") ?? {},
    },
    spec: { ...Object.fromEntries(own), ...(taints.length === 0 ? {} : { taints }) },
  };
}
