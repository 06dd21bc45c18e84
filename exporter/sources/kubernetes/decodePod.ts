import type { TextMap } from "../../model/node.ts";
import type {
  GpuDemand,
  PlainGangMember,
  Pod,
  PodAddress,
  PodClaim,
  PodPhase,
  PodSchedulingGroup,
} from "../../model/pod.ts";
import { isContainerShare, podAnnotations, reservationNamespaces } from "../../model/wellKnown.ts";
import { annotationsOfPods, nameText, optionalName, textMap, wholeLabels } from "./boundedFields.ts";
import { controllerOf, type Decoded, decodeObject, type ObjectMeta } from "./decoded.ts";
import { type ExporterSelector, exporterPod, hasLabels, mayBeExporter, portsByName } from "./exporterPods.ts";
import { failedRun } from "./failedRun.ts";
import { child, has, items, number, type Place, text } from "./fields.ts";
import { keptLabels, labelsText } from "./keptLabels.ts";
import { requiredAffinity, tolerations } from "./nodeRules.ts";
import { claimNames, type KeptOff, keptOff, podPlacement } from "./podPlacement.ts";
import { asksForGpus, type PodResources, podResources } from "./podResources.ts";
import {
  allContainersStarted,
  type PodPreemption,
  podPhase,
  podPreemption,
  scheduledAt,
  unhealthyGpus,
  unschedulable,
} from "./podStatus.ts";
import type { ExporterPod } from "./state.ts";

/** The fields that are kept of every pod, with GPUs or without. */
export interface PodRow {
  readonly uid: string;
  readonly namespace: string;
  /** The node; `null` while the pod is not bound. */
  readonly nodeName: string | null;
  readonly phase: PodPhase;
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  /** For a pod without GPUs, `labelsText` of its labels; empty for a pod with GPUs, whose record has them. */
  readonly labels: string;
  /** Anti-affinity and host ports of a pod without GPUs; `null` if it has neither. */
  readonly placement: KeptOff | null;
}

export interface DecodedPod {
  readonly pod: PodRow;
  /** The whole record, for a pod that holds or asks for GPUs; else `null`. */
  readonly gpuPod: Pod | null;
  /** The address to scrape, for a pod that matches a selector of exporters and has an address; else `null`. */
  readonly exporterPod: ExporterPod | null;
  /** For a pod without GPUs that counts for the minimum of a native gang; else `null`. */
  readonly plainMember: PlainGangMember | null;
  /** Why a scheduler removes the pod; `null` if none does, and for pods without GPUs. */
  readonly preemption: PodPreemption | null;
}

export interface PodProjection {
  /** Names of extended resources that count as GPUs by configuration, besides those known by name. */
  readonly gpuResources: ReadonlySet<string>;
  readonly exporters: readonly ExporterSelector[];
  /** Selectors of the pods with GPUs whose server is asked for its metrics; absent: none. */
  readonly servers?: readonly ExporterSelector[];
  /** Labels of pods that configuration names, as team rules do. */
  readonly readLabels?: ReadonlySet<string>;
}

const plainProjection: PodProjection = { gpuResources: new Set(), exporters: [] };

/**
 * Decodes a Pod (`v1`): a row for every pod, the model's record for one with GPUs, an address for an exporter. The fields that
 * only the latter two need may be missing from the object until `readRest` is called, which adds them: most pods are neither.
 */
export function decodePod(
  value: unknown,
  projection: PodProjection = plainProjection,
  readRest: () => void = () => {},
): Decoded<DecodedPod> {
  return decodeObject("Pod", value, (object, meta) => {
    const resources = podResources(child(object, "spec"), projection.gpuResources);
    const isGpuPod = hasGpus(object, meta, resources);
    if (isGpuPod || mayBeExporter(meta, projection.exporters)) readRest();
    const spec = child(object, "spec");
    const status = child(object, "status");
    const bound = text(spec, "nodeName");
    const nodeName = bound === "" ? null : bound;
    const phase = podPhase(text(status, "phase"), nodeName);
    const { cpuMilli, memoryBytes } = resources;
    return {
      pod: {
        uid: meta.uid,
        namespace: meta.namespace,
        nodeName,
        phase,
        cpuMilli,
        memoryBytes,
        labels: isGpuPod ? "" : labelsText(keptLabels(child(object, "metadata"), projection.readLabels).labels),
        placement: isGpuPod ? null : keptOff(spec),
      },
      gpuPod: isGpuPod ? gpuPod(object, meta, { nodeName, phase, resources }, projection) : null,
      exporterPod: exporterPod(object, meta, projection.exporters),
      plainMember: isGpuPod ? null : plainMember(spec, meta, { nodeName, phase }),
      preemption: isGpuPod ? podPreemption(status) : null,
    };
  });
}

/** Annotations that ask for GPUs, or report an allocation, without a resource request. */
const gpuAnnotations = [
  podAnnotations.kaiFraction,
  podAnnotations.kaiGpuMemoryMiB,
  podAnnotations.hamiAllocated,
  podAnnotations.volcanoAllocated,
] as const;

function hasGpus(object: Place, meta: ObjectMeta, resources: PodResources): boolean {
  if (Object.keys(resources.gpus).length > 0 || reservationNamespaces.has(meta.namespace)) return true;
  if (items(child(object, "spec"), "resourceClaims").length > 0) return true;
  if (has(child(object, "status"), "extendedResourceClaimStatus")) return true;
  const annotations = child(child(object, "metadata"), "annotations");
  return gpuAnnotations.some((name) => has(annotations, name)) || Object.keys(annotations.value).some(isContainerShare);
}

function gpuPod(
  object: Place,
  meta: ObjectMeta,
  known: Pick<Pod, "nodeName" | "phase"> & { readonly resources: PodResources },
  { readLabels, gpuResources, servers = [] }: PodProjection,
): Pod {
  const metadata = child(object, "metadata");
  const spec = child(object, "spec");
  const status = child(object, "status");
  const annotations = textMap(metadata, "annotations", annotationsOfPods);
  const { labels, isCut } = keptLabels(metadata, readLabels);
  const placement = podPlacement(spec);
  const volumeClaims = claimNames(spec);
  const said = known.nodeName === null ? unschedulable(status) : null;
  const failed = failedRun(object, (container) => asksForGpus(container, gpuResources));
  const group = schedulingGroup(spec);
  const address = known.phase === "Running" ? addressOf(object, meta, servers) : null;
  return {
    ...meta,
    nodeName: known.nodeName,
    phase: known.phase,
    scheduledAt: known.nodeName === null ? null : scheduledAt(status),
    allContainersStarted: allContainersStarted(spec, status),
    ...(items(spec, "containers").some(isProbedServer) ? { isProbedServer: true } : {}),
    ...(said === null ? {} : { unschedulable: said }),
    gated: items(spec, "schedulingGates").length > 0,
    priority: number(spec, "priority") ?? 0,
    priorityClassName: text(spec, "priorityClassName"),
    schedulerName: text(spec, "schedulerName") ?? "default-scheduler",
    nodeSelector: textMap(spec, "nodeSelector", wholeLabels),
    nodeAffinity: requiredAffinity(spec),
    tolerations: tolerations(spec),
    labels,
    ...(isCut ? { labelsLeftOut: true } : {}),
    annotations,
    owner: controllerOf(object),
    ...(group === null ? {} : { schedulingGroup: group }),
    ...(has(metadata, "deletionTimestamp") ? { isEnding: true } : {}),
    cpuMilli: known.resources.cpuMilli,
    memoryBytes: known.resources.memoryBytes,
    hasLocalStorage: hasLocalStorage(spec, annotations),
    ...(placement === null ? {} : { placement }),
    ...(volumeClaims.length === 0 ? {} : { volumeClaims }),
    gpu: gpuDemand(spec, status, known.resources),
    ...(failed === null ? {} : { failedRun: failed }),
    ...(address === null ? {} : { address }),
  };
}

function plainMember(
  spec: Place,
  { namespace }: ObjectMeta,
  { nodeName, phase }: Pick<Pod, "nodeName" | "phase">,
): PlainGangMember | null {
  const group = nodeName === null || phase === "Failed" ? null : schedulingGroup(spec);
  return group === null ? null : { namespace, group };
}

/**
 * The group that a pod names: `schedulingGroup.podGroupName` from Kubernetes 1.36 on, `workloadRef` in 1.35. Sources: k8s.io/api
 * v0.37.2 and v0.35.3 `core/v1`, `PodSpec`.
 */
function schedulingGroup(spec: Place): PodSchedulingGroup | null {
  const podGroup = optionalName(child(spec, "schedulingGroup"), "podGroupName");
  if (podGroup !== null) return { workload: null, name: podGroup, replica: "" };
  const ref = child(spec, "workloadRef");
  const [workload, name] = [optionalName(ref, "name"), optionalName(ref, "podGroup")];
  return workload === null || name === null ? null : { workload, name, replica: nameText(ref, "podGroupReplicaKey") };
}

/**
 * The address at which to ask a pod with GPUs for its server's metrics; `null` if no selector matches it, or it has no address.
 */
function addressOf(object: Place, { namespace }: ObjectMeta, servers: readonly ExporterSelector[]): PodAddress | null {
  if (servers.length === 0) return null;
  const metadata = child(object, "metadata");
  const labels = child(metadata, "labels").value;
  const isAsked = servers.some(
    ({ namespaces, matchLabels }) => namespaces.includes(namespace) && hasLabels(labels, matchLabels),
  );
  if (!isAsked || has(metadata, "deletionTimestamp")) return null;
  const ip = text(child(object, "status"), "podIP");
  return ip === null || ip === "" ? null : { ip, ports: portsByName(child(object, "spec")) };
}

/** The value of `spec.volumes[].emptyDir.medium` for a volume that is not on a disk. */
const memoryMedium = "Memory";

/**
 * Whether a pod loses local data when it moves to another node, by the rule of the Cluster Autoscaler
 * (`HasBlockingLocalStorage` in cluster-autoscaler/utils/drain): it has a `hostPath`, or an `emptyDir` that is not memory,
 * whose name is not in the annotation `cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes`. Ephemeral volumes and
 * claims may be on a disk of the node, too, but the pod does not show that.
 */
function hasLocalStorage(spec: Place, annotations: TextMap): boolean {
  const local: string[] = [];
  for (const volume of items(spec, "volumes")) {
    const isDisk = has(volume, "emptyDir") && text(child(volume, "emptyDir"), "medium") !== memoryMedium;
    if (isDisk || has(volume, "hostPath")) local.push(text(volume, "name") ?? "");
  }
  if (local.length === 0) return false;
  // The Cluster Autoscaler does not trim the names.
  const safe = annotations[podAnnotations.safeToEvictLocalVolumes]?.split(",") ?? [];
  return local.some((name) => !safe.includes(name));
}

const isProbedServer = (container: Place): boolean =>
  has(container, "readinessProbe") && items(container, "ports").length > 0;

function gpuDemand(spec: Place, status: Place, resources: PodResources): GpuDemand {
  const made = new Map<string, string | null>();
  for (const entry of items(status, "resourceClaimStatuses")) {
    made.set(text(entry, "name") ?? "", text(entry, "resourceClaimName"));
  }
  const claims: readonly PodClaim[] = items(spec, "resourceClaims").map((claim) => ({
    claimName: text(claim, "resourceClaimName") ?? made.get(text(claim, "name") ?? "") ?? null,
  }));
  const extended = child(status, "extendedResourceClaimStatus");
  const shares = resources.shares === null ? {} : { shares: resources.shares };
  const reported = unhealthyGpus(status);
  const unhealthy = reported.length === 0 ? {} : { unhealthy: reported };
  return {
    resources: resources.gpus,
    ...shares,
    claims,
    extendedResourceClaim: text(extended, "resourceClaimName"),
    ...unhealthy,
  };
}
