import { nodeAnnotations, nodeLabels } from "../../exporter/model/wellKnown.ts";
import type { SimNode, World } from "../cluster/world.ts";
import { isInService } from "../cluster/xid.ts";
import { uuidFrom } from "../random.ts";
import { featureLabels } from "./featureDiscovery.ts";
import { type KubeObject, labelsField, timestamp } from "./kubeObject.ts";
import { nodeResources } from "./resources.ts";

/** The Node object of a simulated node, now. */
export function nodeObject(world: World, node: SimNode): KubeObject {
  const { spec } = node;
  const annotations = spec.mode.kind === "hami" ? { [nodeAnnotations.hamiRegister]: hamiRegister(node) } : {};
  const taints = nodeTaints(node);
  const base = { cpu: `${spec.cpuMilli}m`, memory: `${spec.memoryMiB * 1024}Ki`, pods: "110" };
  return {
    metadata: {
      name: spec.name,
      uid: node.uid,
      creationTimestamp: timestamp(node.createdAt),
      ...labelsField({ ...usualLabels(node), ...featureLabels(node), ...spec.labels }),
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true", ...annotations },
    },
    spec: {
      providerID: `simulated:///${spec.name}`,
      ...(spec.cordoned ? { unschedulable: true } : {}),
      ...(taints.length > 0 ? { taints } : {}),
    },
    status: {
      capacity: { ...base, ...nodeResources(world, node, "capacity") },
      allocatable: { ...base, ...nodeResources(world, node, "allocatable") },
      conditions: conditions(node),
      addresses: [
        { type: "InternalIP", address: "127.0.0.1" },
        { type: "Hostname", address: spec.name },
      ],
      nodeInfo: {
        machineID: uuidFrom(`machine/${node.uid}`).replaceAll("-", ""),
        systemUUID: uuidFrom(`system/${node.uid}`),
        bootID: uuidFrom(`boot/${node.uid}`),
        kernelVersion: "6.8.0-1024",
        osImage: "Ubuntu 24.04.3 LTS",
        containerRuntimeVersion: "containerd://2.1.4",
        kubeletVersion: "v1.35.2",
        operatingSystem: "linux",
        architecture: "amd64",
      },
    },
  };
}

function usualLabels(node: SimNode): Readonly<Record<string, string>> {
  const { spec } = node;
  return {
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/os": "linux",
    [nodeLabels.hostname]: spec.name,
    ...(spec.instanceType === null ? {} : { [nodeLabels.instanceType]: spec.instanceType }),
    ...(spec.zone === null ? {} : { [nodeLabels.zone]: spec.zone }),
  };
}

function nodeTaints(node: SimNode): readonly object[] {
  const taints: object[] = [];
  // GKE puts this taint on every GPU node; it is normal and no fault.
  if (node.spec.labels[nodeLabels.gkeAccelerator] !== undefined) {
    taints.push({ key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" });
  }
  if (node.spec.cordoned) taints.push({ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" });
  const reason = node.lost ? "unreachable" : node.spec.ready ? null : "not-ready";
  if (reason !== null) {
    const timeAdded = timestamp(node.readyChangedAt);
    taints.push({ key: `node.kubernetes.io/${reason}`, effect: "NoSchedule", timeAdded });
    taints.push({ key: `node.kubernetes.io/${reason}`, effect: "NoExecute", timeAdded });
  }
  return taints;
}

function conditions(node: SimNode): readonly object[] {
  const at = timestamp(node.readyChangedAt);
  const times = { lastHeartbeatTime: at, lastTransitionTime: at };
  const pressures = [
    ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
    ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
    ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
  ] as const;
  if (node.lost) {
    const reason = "NodeStatusUnknown";
    const message = "Kubelet stopped posting node status.";
    return [...pressures.map(([type]) => type), "Ready"].map((type) => ({
      type,
      status: "Unknown",
      ...times,
      reason,
      message,
    }));
  }
  const ready = node.spec.ready
    ? { type: "Ready", status: "True", ...times, reason: "KubeletReady", message: "kubelet is posting ready status" }
    : {
        type: "Ready",
        status: "False",
        ...times,
        reason: "KubeletNotReady",
        message: "container runtime network not ready: NetworkReady=false",
      };
  return [...pressures.map(([type, reason, message]) => ({ type, status: "False", ...times, reason, message })), ready];
}

/** HAMi's annotation: `uuid,splits,memory MiB,cores,type,numa,healthy:` for each GPU (Project-HAMi/HAMi, issue 602). */
function hamiRegister(node: SimNode): string {
  const splits = node.spec.mode.kind === "hami" ? node.spec.mode.splits : 1;
  return node.physicalGpus
    .map(
      (physicalGpu) =>
        `${physicalGpu.uuid},${splits},${physicalGpu.model.memoryMiB},100,NVIDIA-${physicalGpu.model.name},0,${isInService(physicalGpu)}:`,
    )
    .join("");
}

/** The DaemonSet that the exporters' pods belong to. */
export const exporterDaemonSet = {
  namespace: "gpu-operator",
  name: "nvidia-dcgm-exporter",
  uid: uuidFrom("nvidia-dcgm-exporter"),
} as const;
