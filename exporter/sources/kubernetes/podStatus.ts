import type { Pod, PodPhase } from "../../model/pod.ts";
import { cut } from "./boundedFields.ts";
import { child, has, items, type Place, text, time } from "./fields.ts";

/** The phase as the API spells it; any other text is `Unknown`, and so is the phase of a bound pod without one. */
export function podPhase(phase: string | null, nodeName: string | null): PodPhase {
  if (phase === "Pending" || phase === "Running" || phase === "Succeeded" || phase === "Failed") return phase;
  return phase === null && nodeName === null ? "Pending" : "Unknown";
}

/** The condition of a type, if it has this status. */
function conditionIn(status: Place, type: string, value: "True" | "False"): Place | undefined {
  return items(status, "conditions").find(
    (condition) => text(condition, "type") === type && text(condition, "status") === value,
  );
}

/** The time when condition `PodScheduled` became true, else `status.startTime`. */
export function scheduledAt(status: Place): number | null {
  const condition = conditionIn(status, "PodScheduled", "True");
  return (condition === undefined ? null : time(condition, "lastTransitionTime")) ?? time(status, "startTime");
}

/** The reason that the API server itself writes into condition `PodScheduled` of a pod with scheduling gates. */
const gatedReason = "SchedulingGated";
/**
 * The greatest number of characters of a scheduler's message. Messages of kube-scheduler begin with what is wrong; those of
 * large clusters with many taints may be longer.
 */
const maxUnschedulableChars = 1000;

/** What a scheduler reports about a pod that it has not placed (`Pod.unschedulable`); `null` if it reports nothing. */
export function unschedulable(status: Place): string | null {
  const condition = conditionIn(status, "PodScheduled", "False");
  if (condition === undefined || text(condition, "reason") === gatedReason) return null;
  return cut(text(condition, "message") ?? "", maxUnschedulableChars);
}

/** The fact that a scheduler chose the pod to make room for another one. */
export interface PodPreemption {
  /** Time of the choice, seconds since the epoch. */
  readonly at: number;
  /** The scheduler's message; bounded, untrusted text. */
  readonly message: string;
}

const maxMessageChars = 500;

/**
 * The preemption in condition `DisruptionTarget` with the reason `PreemptionByScheduler`, which kube-scheduler, Volcano (for
 * preempt and reclaim alike) and KAI set before they delete the pod; `null` without it.
 */
export function podPreemption(status: Place): PodPreemption | null {
  const condition = conditionIn(status, "DisruptionTarget", "True");
  if (condition === undefined || text(condition, "reason") !== "PreemptionByScheduler") return null;
  const at = time(condition, "lastTransitionTime");
  return at === null ? null : { at, message: cut(text(condition, "message") ?? "", maxMessageChars) };
}

/**
 * Whether the pod is being deleted, or something outside ends it: a scheduler, an eviction, a taint, the shutdown of its node.
 */
export function isStopped(object: Place): boolean {
  return (
    has(child(object, "metadata"), "deletionTimestamp") ||
    conditionIn(child(object, "status"), "DisruptionTarget", "True") !== undefined
  );
}

/** Whether condition `Ready` is true. */
export function isReady(status: Place): boolean {
  return conditionIn(status, "Ready", "True") !== undefined;
}

/** Whether every container and restartable init container runs, or has run at least once. */
export function allContainersStarted(spec: Place, status: Place): Pod["allContainersStarted"] {
  const started = new Set<string>();
  for (const key of ["containerStatuses", "initContainerStatuses"] as const) {
    for (const container of items(status, key)) {
      if (hasRun(container)) started.add(text(container, "name") ?? "");
    }
  }
  const sidecars = items(spec, "initContainers").filter((container) => text(container, "restartPolicy") === "Always");
  const needed = [...items(spec, "containers"), ...sidecars];
  return needed.length > 0 && needed.every((container) => started.has(text(container, "name") ?? ""));
}

function hasRun(container: Place): boolean {
  for (const key of ["state", "lastState"] as const) {
    const state = child(container, key);
    if (has(state, "running")) return true;
    // A container that could not be started has "terminated" too, with the start of the epoch as its start.
    if (has(state, "terminated") && time(child(state, "terminated"), "startedAt") !== 0) return true;
  }
  return false;
}

/** How the device plugin of NVIDIA names its devices: by the UUID of the GPU or of the MIG instance. */
const pluginDevice = /^(?:GPU|MIG)-[0-9a-zA-Z-]{1,64}$/;
/** How the kubelet names a claimed device: by its first CDI name (`VENDOR/CLASS=NAME`), else `DRIVER/POOL/DEVICE`. */
const claimedDevice = /^[0-9a-zA-Z][0-9a-zA-Z._:/=-]{2,600}$/;
const mostUnhealthy = 64;

/**
 * The GPUs that the kubelet reports as `Unhealthy` to the pod (`allocatedResourcesStatus`, on by default from Kubernetes 1.36):
 * those of a device plugin by UUID (replicas of a shared GPU have it before `::`), and claimed ones by the kubelet's name for
 * them. `Unknown` means that nothing reports the health, not that the GPU is broken.
 */
export function unhealthyGpus(status: Place): readonly string[] {
  const found = new Set<string>();
  for (const resource of allocatedResources(status)) {
    const isClaim = text(resource, "name")?.startsWith("claim:") === true;
    for (const device of items(resource, "resources")) {
      if (text(device, "health") !== "Unhealthy") continue;
      const id = text(device, "resourceID") ?? "";
      const name = isClaim ? id : (id.split("::")[0] ?? "");
      if ((isClaim ? claimedDevice : pluginDevice).test(name) && found.size < mostUnhealthy) found.add(name);
    }
  }
  return [...found];
}

const allocatedResources = (status: Place): readonly Place[] =>
  (["containerStatuses", "initContainerStatuses"] as const).flatMap((key) =>
    items(status, key).flatMap((container) => items(container, "allocatedResourcesStatus")),
  );
