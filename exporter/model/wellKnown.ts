/**
 * Names that other projects fixed: labels, annotations and resources that Fairlead reads.
 * Sources: NVIDIA/k8s-device-plugin, NVIDIA/gpu-operator, kai-scheduler/KAI-Scheduler, Project-HAMi/HAMi,
 * kubernetes-sigs/kueue, volcano-sh/volcano, kubernetes-sigs/{jobset,lws}, kubeflow/trainer, ray-project/kuberay,
 * kubernetes/autoscaler, kubernetes-sigs/{karpenter,descheduler}.
 */

export const nodeLabels = {
  gpuProduct: "nvidia.com/gpu.product",
  gpuFamily: "nvidia.com/gpu.family",
  gpuCount: "nvidia.com/gpu.count",
  gpuMemoryMiB: "nvidia.com/gpu.memory",
  gpuReplicas: "nvidia.com/gpu.replicas",
  gpuSharingStrategy: "nvidia.com/gpu.sharing-strategy",
  gpuPresent: "nvidia.com/gpu.present",
  migStrategy: "nvidia.com/mig.strategy",
  migConfigState: "nvidia.com/mig.config.state",
  vgpuPresent: "nvidia.com/vgpu.present",
  gkeAccelerator: "cloud.google.com/gke-accelerator",
  gkeAcceleratorCount: "cloud.google.com/gke-accelerator-count",
  gkeSharingStrategy: "cloud.google.com/gke-gpu-sharing-strategy",
  gkeMaxSharedClients: "cloud.google.com/gke-max-shared-clients-per-gpu",
  gkePartitionSize: "cloud.google.com/gke-gpu-partition-size",
  gkeSpot: "cloud.google.com/gke-spot",
  gkePreemptible: "cloud.google.com/gke-preemptible",
  gkeNodePool: "cloud.google.com/gke-nodepool",
  gkeReservation: "cloud.google.com/reservation-name",
  eksAccelerator: "k8s.amazonaws.com/accelerator",
  eksCapacityType: "eks.amazonaws.com/capacityType",
  eksNodeGroup: "eks.amazonaws.com/nodegroup",
  eksReservation: "eks.amazonaws.com/capacity-reservation-id",
  karpenterCapacityType: "karpenter.sh/capacity-type",
  karpenterNodePool: "karpenter.sh/nodepool",
  karpenterAwsReservation: "karpenter.k8s.aws/capacity-reservation-id",
  karpenterGpuName: "karpenter.k8s.aws/instance-gpu-name",
  karpenterGpuCount: "karpenter.k8s.aws/instance-gpu-count",
  karpenterAcceleratorName: "karpenter.k8s.aws/instance-accelerator-name",
  eksAutoGpuName: "eks.amazonaws.com/instance-gpu-name",
  eksAutoGpuCount: "eks.amazonaws.com/instance-gpu-count",
  eksAutoAcceleratorName: "eks.amazonaws.com/instance-accelerator-name",
  azureKarpenterGpuName: "karpenter.azure.com/sku-gpu-name",
  azureKarpenterGpuCount: "karpenter.azure.com/sku-gpu-count",
  aksAccelerator: "kubernetes.azure.com/accelerator",
  gkeTpu: "cloud.google.com/gke-tpu-accelerator",
  amdProduct: "amd.com/gpu.product-name",
  amdBetaProduct: "beta.amd.com/gpu.product-name",
  intelProduct: "gpu.intel.com/product",
  aliyunModel: "aliyun.accelerator/nvidia_name",
  aliyunCount: "aliyun.accelerator/nvidia_count",
  /** Node Feature Discovery: a PCI device of NVIDIA, by vendor or by class and vendor. */
  nfdNvidia: "feature.node.kubernetes.io/pci-10de.present",
  nfdNvidiaDisplay: "feature.node.kubernetes.io/pci-0300_10de.present",
  nfdNvidia3d: "feature.node.kubernetes.io/pci-0302_10de.present",
  aksPriority: "kubernetes.azure.com/scalesetpriority",
  aksAgentPool: "kubernetes.azure.com/agentpool",
  okeNodePool: "oci.oraclecloud.com/node-pool-id",
  accelerator: "accelerator",
  instanceType: "node.kubernetes.io/instance-type",
  region: "topology.kubernetes.io/region",
  zone: "topology.kubernetes.io/zone",
  hostname: "kubernetes.io/hostname",
  /** The NVLink domain of a node (cluster UUID and clique), as GPU Feature Discovery finds it; absent outside of one. */
  gpuClique: "nvidia.com/gpu.clique",
  gceBlock: "cloud.google.com/gce-topology-block",
  gceSubblock: "cloud.google.com/gce-topology-subblock",
  gceHost: "cloud.google.com/gce-topology-host",
  awsNetworkLayer1: "topology.k8s.aws/network-node-layer-1",
  awsNetworkLayer2: "topology.k8s.aws/network-node-layer-2",
  awsNetworkLayer3: "topology.k8s.aws/network-node-layer-3",
  awsUltraServer: "topology.k8s.aws/ultraserver-id",
} as const;

/** Labels of nodes that name the model of their GPUs, best source first. */
export const gpuModelLabels = [
  nodeLabels.gpuProduct,
  nodeLabels.gkeAccelerator,
  nodeLabels.amdProduct,
  nodeLabels.amdBetaProduct,
  nodeLabels.intelProduct,
  nodeLabels.gkeTpu,
  nodeLabels.aliyunModel,
  nodeLabels.karpenterGpuName,
  nodeLabels.eksAutoGpuName,
  nodeLabels.azureKarpenterGpuName,
  nodeLabels.karpenterAcceleratorName,
  nodeLabels.eksAutoAcceleratorName,
  nodeLabels.eksAccelerator,
  nodeLabels.accelerator,
] as const;

export const nodeAnnotations = {
  hamiRegister: "hami.io/node-nvidia-register",
  volcanoRegister: "volcano.sh/node-vgpu-register",
  /** `true`: Karpenter does not take the node away by itself. */
  karpenterDoNotDisrupt: "karpenter.sh/do-not-disrupt",
  /** `true`: the Cluster Autoscaler does not take the node away by itself. */
  scaleDownDisabled: "cluster-autoscaler.kubernetes.io/scale-down-disabled",
} as const;

/** Names of extended resources. */
export const gpuResources = {
  nvidia: "nvidia.com/gpu",
  nvidiaShared: "nvidia.com/gpu.shared",
  nvidiaMigPrefix: "nvidia.com/mig-",
  nvidiaPrefix: "nvidia.com/",
  /** The prefix of a DeviceClass name: requests for such a resource are served by DRA. */
  deviceClassPrefix: "deviceclass.resource.kubernetes.io/",
  /**
   * Replicas of GPUs that HAMi shares, if it is set to use another name than NVIDIA's own (this is the example of its
   * documentation).
   */
  hamiVgpu: "nvidia.com/vgpu",
  /** Replicas of GPUs that Volcano's vGPU device plugin shares. */
  volcanoVgpu: "volcano.sh/vgpu-number",
  /** Cores of the GPUs that the same plugin shares: 100 for each GPU. */
  volcanoCores: "volcano.sh/vgpu-cores",
  /** Alibaba Cloud's gpushare: memory of all GPUs of a node in GiB, and the number of GPUs, which no pod asks for. */
  gpushareMemory: "aliyun.com/gpu-mem",
  gpushareCount: "aliyun.com/gpu-count",
  /** Trainium and Inferentia: devices under two names, and their cores. */
  neuron: "aws.amazon.com/neuron",
  neuronDevice: "aws.amazon.com/neurondevice",
  neuronCore: "aws.amazon.com/neuroncore",
} as const;

/** `spec.schedulerName` of pods that Kubernetes' own scheduler places; pods that name none get it. */
export const defaultScheduler = "default-scheduler";

/** Resources by which a pod asks a sharing plugin (HAMi, Volcano's vGPU) for less than the GPU behind each of its units. */
export const sharedAmounts = {
  memoryMiB: ["nvidia.com/gpumem", "volcano.sh/vgpu-memory"],
  memoryPercent: ["nvidia.com/gpumem-percentage", "volcano.sh/vgpu-memory-percentage"],
  corePercent: ["nvidia.com/gpucores", "volcano.sh/vgpu-cores"],
} as const;

export const podLabels = {
  kueueQueue: "kueue.x-k8s.io/queue-name",
  kueueClusterQueue: "kueue.x-k8s.io/cluster-queue-name",
  kueueLocalQueue: "kueue.x-k8s.io/local-queue-name",
  kueuePodGroup: "kueue.x-k8s.io/pod-group-name",
  /** The PodGroup of the coscheduling plugin. */
  coschedulingGroup: "scheduling.x-k8s.io/pod-group",
  kaiQueue: "kai.scheduler/queue",
  runaiQueue: "runai/queue",
  kaiGpuGroup: "runai-gpu-group",
  /** Label of Run:ai; KAI reads the queue from it where its own label is missing. */
  kaiProject: "project",
  kaiPriorityClass: "priorityClassName",
  yunikornQueue: "yunikorn.apache.org/queue",
  volcanoQueue: "volcano.sh/queue-name",
  volcanoJobName: "volcano.sh/job-name",
  jobName: "batch.kubernetes.io/job-name",
  jobNameLegacy: "job-name",
  /** On pods of Indexed Jobs (Kubernetes 1.28 and newer). */
  jobIndex: "batch.kubernetes.io/job-completion-index",
  jobSetName: "jobset.sigs.k8s.io/jobset-name",
  trainingJobName: "training.kubeflow.org/job-name",
  trainingOperatorName: "training.kubeflow.org/operator-name",
  rayCluster: "ray.io/cluster",
  rayOriginatedFromKind: "ray.io/originated-from-crd",
  rayOriginatedFromName: "ray.io/originated-from-cr-name",
  lwsName: "leaderworkerset.sigs.k8s.io/name",
  lwsGroupIndex: "leaderworkerset.sigs.k8s.io/group-index",
  lwsWorkerIndex: "leaderworkerset.sigs.k8s.io/worker-index",
  kserveInferenceService: "serving.kserve.io/inferenceservice",
  knativeService: "serving.knative.dev/service",
  seldonDeployment: "seldon-deployment-id",
  dynamoGraphDeployment: "nvidia.com/dynamo-graph-deployment-name",
  /** Pods of KServe's LLMInferenceService have `llminferenceservice` here, and its name in the other label. */
  partOf: "app.kubernetes.io/part-of",
  appName: "app.kubernetes.io/name",
  /** `batch` or `serving`: how long a workload may be idle before it counts as idle. */
  workloadClass: "fairlead.dev/workload-class",
  /** `true`: this workload is never called idle; its GPUs are counted apart. */
  idleOptOut: "fairlead.dev/idle-opt-out",
} as const;

export const podAnnotations = {
  kueuePodGroupTotalCount: "kueue.x-k8s.io/pod-group-total-count",
  kueueWorkload: "kueue.x-k8s.io/workload",
  lwsSize: "leaderworkerset.sigs.k8s.io/size",
  kaiFraction: "gpu-fraction",
  kaiFractionDevices: "gpu-fraction-num-devices",
  kaiGpuMemoryMiB: "gpu-memory",
  kaiReceivedResourceType: "received-resource-type",
  kaiGpuGroup: "runai-gpu-group",
  kaiReservedGpu: "run.ai/reserve_for_gpu_index",
  kaiPodGroup: "pod-group-name",
  hamiAllocated: "hami.io/vgpu-devices-allocated",
  volcanoAllocated: "volcano.sh/vgpu-ids-new",
  hamiNode: "hami.io/vgpu-node",
  volcanoQueue: "scheduling.volcano.sh/queue-name",
  /** On pods of Volcano's own Job, where it is also a label. */
  volcanoJobQueue: "volcano.sh/queue-name",
  volcanoGroup: "scheduling.volcano.sh/group-name",
  podGroup: "scheduling.k8s.io/group-name",
  yunikornQueue: "yunikorn.apache.org/queue",
  /** When the work last saved its state, RFC 3339. */
  volcanoCheckpoint: "volcano.sh/last-checkpoint-time",
  /** Set by the kubelet on the objects that represent its own (static) pods in the API. */
  mirrorPod: "kubernetes.io/config.mirror",
  /** `true`: not to be taken off its node. */
  karpenterDoNotDisrupt: "karpenter.sh/do-not-disrupt",
  /** `false`: not to be taken off its node; `true`: its local data may be lost. */
  safeToEvict: "cluster-autoscaler.kubernetes.io/safe-to-evict",
  /** Names of volumes, separated by commas: their content may be lost. */
  safeToEvictLocalVolumes: "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes",
  /** If it is there at all, whatever its value: not to be taken off its node. */
  preferNoEviction: "descheduler.alpha.kubernetes.io/prefer-no-eviction",
  /** `true`: the pod has a page of metrics, at this port and path. */
  scrape: "prometheus.io/scrape",
  scrapePort: "prometheus.io/port",
  scrapePath: "prometheus.io/path",
} as const;

/**
 * Annotations of KAI's NvFractions mode: `nvidia.com/container.NAME` and one of these endings, for the container NAME. The
 * author writes the memory (a quantity; a limit alone is also the request), KAI's binder the GPUs and the part of each.
 */
export const containerShares = {
  prefix: "nvidia.com/container.",
  memoryRequest: ".gpu-memory.request",
  memoryLimit: ".gpu-memory.limit",
  computePortion: ".gpu-compute.portion",
  devices: ".gpus.devices",
} as const;

const { prefix: sharePrefix, ...shareEndings } = containerShares;

/** Whether an annotation describes the share of a GPU that a container of a pod has or asks for. */
export const isContainerShare = (name: string): boolean =>
  name.startsWith(sharePrefix) && Object.values(shareEndings).some((ending) => name.endsWith(ending));

/** Annotations of Fairlead itself. */
export const ownAnnotations = {
  /** `true`: no advice takes the pod off its node. */
  doNotDisrupt: "fairlead.dev/do-not-disrupt",
  /** When the work last saved its state, RFC 3339. */
  checkpointedAt: "fairlead.dev/checkpointed-at",
  /** How far the work is: a number from 0 on, in units of its own (epochs, samples, steps). */
  progressUnits: "fairlead.dev/progress-units",
} as const;

/** Annotations that report the last checkpoint. */
export const checkpointAnnotations = [ownAnnotations.checkpointedAt, podAnnotations.volcanoCheckpoint] as const;

/** Names of Kueue's Workloads: a label and annotations. */
export const kueueNames = {
  jobUid: "kueue.x-k8s.io/job-uid",
  priorityBoost: "kueue.x-k8s.io/priority-boost",
  /** `namespace/name` of the smaller Workload of the same elastic job. */
  sliceReplacementFor: "kueue.x-k8s.io/workload-slice-replacement-for",
  /** On the copies that MultiKueue makes in worker clusters: the name of the manager that they are from. */
  multiKueueOrigin: "kueue.x-k8s.io/multikueue-origin",
} as const;

/** Controllers of Kueue's own AdmissionChecks (`spec.controllerName`). */
export const kueueCheckControllers = {
  /** Sends work to another cluster. */
  multiKueue: "kueue.x-k8s.io/multikueue",
  /** Asks the Cluster Autoscaler for nodes. */
  provisioning: "kueue.x-k8s.io/provisioning-request",
} as const;

/** Names of KAI's PodGroups: a label, and annotations with times (RFC 3339). */
export const kaiNames = {
  nodePool: "kai.scheduler/node-pool",
  lastStart: "kai.scheduler/last-start-timestamp",
  lastEviction: "kai.scheduler/last-eviction-timestamp",
  stale: "kai.scheduler/stale-podgroup-timestamp",
} as const;

/** Annotations of Volcano's Queues. */
export const volcanoNames = {
  hierarchy: "volcano.sh/hierarchy",
  hierarchyWeights: "volcano.sh/hierarchy-weights",
} as const;

/** `spec.schedulerName` of pods that a scheduler with queues of its own places. */
export const schedulerNames = {
  kai: ["kai-scheduler", "runai-scheduler"],
  volcano: ["volcano"],
} as const;

/** Namespaces in which KAI and Run:ai keep the pods that reserve a GPU for fractions; they hold nothing themselves. */
export const reservationNamespaces: ReadonlySet<string> = new Set(["kai-resource-reservation", "runai-reservation"]);

/** The NVIDIA DRA driver's name (kubernetes-sigs/dra-driver-nvidia-gpu). */
export const nvidiaDraDriver = "gpu.nvidia.com";
