import {
  gpuModelLabels,
  kaiNames,
  kueueNames,
  nodeAnnotations,
  nodeLabels,
  ownAnnotations,
  podAnnotations,
  podLabels,
  reservationNamespaces,
  volcanoNames,
} from "../../../exporter/model/wellKnown.ts";

/** Names that many clusters have. They identify no cluster, and rules depend on them. */
const commonNames: ReadonlySet<string> = new Set([
  ...["default", "kube-system", "kube-public", "kube-node-lease", "gpu-operator", "nvidia-gpu-operator", "monitoring"],
  ...["dcgm-exporter", "nvidia-dcgm-exporter", "kueue-system", "volcano-system", "karpenter", ...reservationNamespaces],
  ...["default-scheduler", "kai-scheduler", "runai-scheduler", "volcano", "hami-scheduler"],
  ...["system-cluster-critical", "system-node-critical", "root", "metrics", "gpu-metrics"],
  ...["cpu", "memory", "pods", "podgroups", "ephemeral-storage", "gpu", "metadata.name", "true", "false"],
  ...["spot", "on-demand", "reserved", "batch", "serving", "tcp"],
]);

/** Domains of public projects and vendors, which identify no cluster. */
const publicDomain =
  /^(?:[a-z0-9-]+\.)*(?:k8s\.io|x-k8s\.io|kubernetes\.io|nvidia\.com|amd\.com|intel\.com|habana\.ai|amazonaws\.com|amazon\.com|k8s\.aws|azure\.com|google\.com|karpenter\.sh|keda\.sh|run\.ai|kai\.scheduler|volcano\.sh|hami\.io|kubeflow\.org|ray\.io|fairlead\.dev|aliyun\.com|aliyun\.accelerator|kubevirt\.io|knative\.dev|kserve\.io)(?:\/[\w.-]*)?$/;
const quantity = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:[numkKMGTPE]i?|%)?$/;
const duration = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;
/** An instant as Kubernetes writes it. */
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
/** A value of a closed list, such as a phase: names of objects have no capital letters. */
const enumValue = /^[A-Z][A-Za-z]*$/;

/** Whether a text that is not the name of an object says nothing about whose cluster this is. */
export function isPublicText(text: string): boolean {
  return isCommonName(text) || [/^$/, quantity, duration, instant, enumValue].some((pattern) => pattern.test(text));
}

/** Whether a name belongs to Kubernetes or to a public project, and not to this cluster. */
export function isCommonName(name: string): boolean {
  return commonNames.has(name) || publicDomain.test(name);
}

/** Whether a text is an instant. */
export function isInstant(text: unknown): boolean {
  return typeof text === "string" && instant.test(text);
}

const modelLabels: ReadonlySet<string> = new Set([
  ...gpuModelLabels,
  nodeLabels.instanceType,
  nodeLabels.region,
  nodeLabels.zone,
  nodeLabels.eksCapacityType,
  "beta.kubernetes.io/instance-type",
  "kubernetes.io/arch",
  "kubernetes.io/os",
  podLabels.trainingOperatorName,
  podLabels.workloadClass,
]);
const hardwareLabel =
  /^(?:(?:beta\.)?amd\.com\/gpu|gpu\.intel\.com\/|nvidia\.com\/(?:gpu|mig|vgpu|cuda|mps|gfd)|feature\.node\.kubernetes\.io\/pci|karpenter\.k8s\.aws\/instance|karpenter\.azure\.com\/sku|cloud\.google\.com\/gke-(?!nodepool)|eks\.amazonaws\.com\/instance|kubernetes\.azure\.com\/(?:accelerator|scalesetpriority)|aliyun\.accelerator\/)/;
const knownLabels: ReadonlySet<string> = new Set<string>([
  ...Object.values(nodeLabels),
  ...Object.values(podLabels),
  ...Object.values(kueueNames),
  ...Object.values(kaiNames),
]);

/** Whether a label's value describes hardware or a kind of node, or is a public text in a label that Fairlead knows. */
export function isPublicLabel(key: string, value: string): boolean {
  if (modelLabels.has(key) || hardwareLabel.test(key)) return true;
  return knownLabels.has(key) && isPublicText(value);
}

const knownAnnotations: ReadonlySet<string> = new Set<string>([
  ...Object.values(podAnnotations),
  ...Object.values(nodeAnnotations),
  ...Object.values(ownAnnotations),
  ...Object.values(kueueNames),
  ...Object.values(kaiNames),
  ...Object.values(volcanoNames),
]);
const formattedAnnotations: ReadonlySet<string> = new Set([
  nodeAnnotations.hamiRegister,
  nodeAnnotations.volcanoRegister,
  podAnnotations.hamiAllocated,
  podAnnotations.volcanoAllocated,
  volcanoNames.hierarchyWeights,
]);

/** What is done with an annotation. Annotations that Fairlead does not know are left out. */
export function annotationIs(key: string): "left-out" | "formatted" | "a-name" {
  if (!knownAnnotations.has(key)) return "left-out";
  return formattedAnnotations.has(key) ? "formatted" : "a-name";
}

/** Labels of pages that show which GPU and which metric a sample belongs to, and nothing about the cluster. */
const pageLabels: ReadonlySet<string> = new Set([
  ...["gpu", "device", "modelName", "GPU_I_ID", "GPU_I_PROFILE", "pci_bus_id", "err_code", "nvlink", "vgpu"],
]);

/** Whether the value of a page's label can stay. The value of `UUID` cannot, because it identifies a GPU. */
export function isPublicPageLabel(name: string): boolean {
  return pageLabels.has(name) || name.startsWith("DCGM_FI_");
}
