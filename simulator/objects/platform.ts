import { gpuResources, nodeLabels, podAnnotations, podLabels } from "../../exporter/model/wellKnown.ts";
import type { PhysicalGpu, Reservation, SimNode, World } from "../cluster/world.ts";
import { uuidFrom } from "../random.ts";
import type { NamespaceSpec } from "../scenario.ts";
import { monitoringClaimName } from "./dra.ts";
import { type KindedObject, type KubeObject, labelsField, timestamp } from "./kubeObject.ts";
import { exporterDaemonSet } from "./node.ts";

/** The namespace of KAI's reservation pods. */
export const reservationNamespace = "kai-resource-reservation";

/** Namespaces that the platform brings. */
const platformNamespaces = ["default", "kube-system", exporterDaemonSet.namespace, reservationNamespace];

/** Objects that are there from the start and never change: namespaces, priority classes, the exporters' DaemonSet. */
export function fixedObjects(world: World): readonly KindedObject[] {
  const createdAt = world.nodes[0]?.createdAt ?? world.time;
  const creationTimestamp = timestamp(createdAt);
  const { namespaces, priorityClasses } = world.scenario;
  const all: readonly NamespaceSpec[] = [...platformNamespaces.map((name) => ({ name, team: null })), ...namespaces];
  return [
    ...all.map(({ name, team }) => {
      const labels = { "kubernetes.io/metadata.name": name, ...(team === null ? {} : { team }) };
      const metadata = { name, uid: uuidFrom(`ns/${name}`), creationTimestamp, ...labelsField(labels) };
      return { kind: "Namespace", object: { metadata, spec: {}, status: { phase: "Active" } } };
    }),
    ...Object.entries(priorityClasses).map(([name, value]) => ({
      kind: "PriorityClass",
      object: {
        metadata: { name, uid: uuidFrom(`priority/${name}`), creationTimestamp },
        value,
        globalDefault: false,
        preemptionPolicy: "PreemptLowerPriority",
      },
    })),
    ...(world.scenario.nodePools ?? []).map(({ name, limits, capacityTypes, consolidateAfter }) => ({
      kind: "NodePool",
      object: {
        metadata: { name, uid: uuidFrom(`node pool/${name}`), creationTimestamp },
        spec: {
          template: {
            spec: {
              requirements: [{ key: nodeLabels.karpenterCapacityType, operator: "In", values: capacityTypes }],
              nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
            },
          },
          limits,
          disruption: {
            consolidationPolicy: "WhenEmptyOrUnderutilized",
            consolidateAfter,
            budgets: [{ nodes: "10%" }],
          },
        },
      },
    })),
    {
      kind: "DaemonSet",
      object: {
        metadata: {
          name: exporterDaemonSet.name,
          namespace: exporterDaemonSet.namespace,
          uid: exporterDaemonSet.uid,
          creationTimestamp,
        },
        spec: { selector: { matchLabels: exporterLabels } },
        status: {},
      },
    },
  ];
}

const exporterLabels = { app: "nvidia-dcgm-exporter" };

/** The uid of a node's exporter pod. */
export function exporterPodUid(node: SimNode): string {
  return uuidFrom(`exporter-pod/${node.uid}${node.exporterRestarts === 0 ? "" : `/${node.exporterRestarts}`}`);
}

/** The exporter's pod of a node; its port is that of the node's own listener. */
export function exporterPod(node: SimNode, portName: string): KubeObject {
  const at = timestamp(node.exporterStartedAt);
  const watchesByClaim = node.spec.mode.kind === "dra" && node.spec.mode.monitoringClaim;
  const ready = {
    status: node.lost ? "False" : "True",
    lastTransitionTime: node.lost ? timestamp(node.readyChangedAt) : at,
  };
  return {
    metadata: {
      name: node.exporterPodName,
      generateName: `${exporterDaemonSet.name}-`,
      namespace: exporterDaemonSet.namespace,
      uid: exporterPodUid(node),
      creationTimestamp: at,
      labels: exporterLabels,
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "DaemonSet",
          name: exporterDaemonSet.name,
          uid: exporterDaemonSet.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      nodeName: node.spec.name,
      containers: [
        {
          name: "nvidia-dcgm-exporter",
          image: "nvcr.io/nvidia/k8s/dcgm-exporter",
          ports: [{ name: portName, containerPort: node.exporterPort, protocol: "TCP" }],
          resources: {},
        },
      ],
      ...(watchesByClaim ? { resourceClaims: [{ name: "gpus", resourceClaimName: monitoringClaimName(node) }] } : {}),
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      priorityClassName: "system-node-critical",
      priority: 2000001000,
    },
    status: {
      phase: "Running",
      podIP: "127.0.0.1",
      podIPs: [{ ip: "127.0.0.1" }],
      hostIP: "127.0.0.1",
      startTime: at,
      qosClass: "BestEffort",
      conditions: [
        { type: "PodScheduled", status: "True", lastTransitionTime: at },
        { type: "Ready", ...ready },
      ],
      containerStatuses: [
        {
          name: "nvidia-dcgm-exporter",
          ready: !node.lost,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: at } },
        },
      ],
    },
  };
}

/** KAI's pod that reserves a GPU for fractions. */
export function reservationPod(physicalGpu: PhysicalGpu, reservation: Reservation): KubeObject {
  const at = timestamp(reservation.createdAt);
  const one = { [gpuResources.nvidia]: "1" };
  return {
    metadata: {
      name: reservation.name,
      namespace: reservationNamespace,
      uid: reservation.uid,
      creationTimestamp: at,
      labels: { app: "kai-resource-reservation", [podLabels.kaiGpuGroup]: reservation.group },
      annotations: { [podAnnotations.kaiReservedGpu]: physicalGpu.uuid },
    },
    spec: {
      nodeName: physicalGpu.node.spec.name,
      containers: [
        { name: "resource-reservation", image: "kai-resource-reservation", resources: { limits: one, requests: one } },
      ],
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      priority: 0,
    },
    status: {
      phase: "Running",
      startTime: at,
      qosClass: "BestEffort",
      conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: at }],
      containerStatuses: [
        {
          name: "resource-reservation",
          ready: true,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: at } },
        },
      ],
    },
  };
}
