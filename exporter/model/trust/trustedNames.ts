import {
  containerShares,
  kaiNames,
  kueueNames,
  nodeAnnotations,
  nodeLabels,
  ownAnnotations,
  podAnnotations,
  podLabels,
  volcanoNames,
} from "../wellKnown.ts";
import { trustRules as rules, type TrustRule } from "./trustRules.ts";

/** A rule for every name of a list: a name without one does not compile. */
type RuleOfEach<Names extends Readonly<Record<string, string>>> = Readonly<Record<keyof Names, TrustRule>>;

const ofPodLabels: RuleOfEach<typeof podLabels> = {
  kueueQueue: rules.localQueue,
  kueueClusterQueue: rules.clusterQueue,
  kueueLocalQueue: rules.localQueue,
  kueuePodGroup: rules.podGroup,
  coschedulingGroup: rules.coschedulingGroup,
  kaiQueue: rules.kaiQueue,
  runaiQueue: rules.kaiQueue,
  kaiGpuGroup: rules.gpuGroup,
  kaiProject: rules.kaiQueue,
  kaiPriorityClass: rules.kaiQueue,
  yunikornQueue: rules.yunikornQueue,
  volcanoQueue: rules.volcanoQueue,
  volcanoJobName: rules.workloadName,
  jobName: rules.workloadName,
  jobNameLegacy: rules.workloadName,
  jobIndex: rules.jobIndex,
  jobSetName: rules.workloadName,
  trainingJobName: rules.workloadName,
  trainingOperatorName: rules.workloadName,
  rayCluster: rules.workloadName,
  rayOriginatedFromKind: rules.workloadName,
  rayOriginatedFromName: rules.workloadName,
  lwsName: rules.leaderWorkerSet,
  lwsGroupIndex: rules.leaderWorkerSet,
  lwsWorkerIndex: rules.leaderWorkerSet,
  kserveInferenceService: rules.workloadName,
  knativeService: rules.workloadName,
  seldonDeployment: rules.workloadName,
  dynamoGraphDeployment: rules.workloadName,
  partOf: rules.workloadName,
  appName: rules.workloadName,
  workloadClass: rules.workloadClass,
  idleOptOut: rules.idleOptOut,
};

const ofPodAnnotations: RuleOfEach<typeof podAnnotations> = {
  kueuePodGroupTotalCount: rules.podGroup,
  kueueWorkload: rules.namedWorkload,
  lwsSize: rules.leaderWorkerSet,
  kaiFraction: rules.fraction,
  kaiFractionDevices: rules.fraction,
  kaiGpuMemoryMiB: rules.fraction,
  kaiReceivedResourceType: rules.unused,
  kaiGpuGroup: rules.gpuGroup,
  kaiReservedGpu: rules.reservedGpu,
  kaiPodGroup: rules.kaiGroup,
  hamiAllocated: rules.allocation,
  volcanoAllocated: rules.allocation,
  hamiNode: rules.unused,
  volcanoQueue: rules.volcanoQueue,
  volcanoJobQueue: rules.volcanoQueue,
  volcanoGroup: rules.volcanoGroup,
  podGroup: rules.volcanoGroup,
  yunikornQueue: rules.yunikornQueue,
  volcanoCheckpoint: rules.checkpoint,
  mirrorPod: rules.byKubelet,
  karpenterDoNotDisrupt: rules.keep,
  safeToEvict: rules.keep,
  safeToEvictLocalVolumes: rules.mayLose,
  preferNoEviction: rules.keep,
  scrape: rules.metricsPage,
  scrapePort: rules.metricsPage,
  scrapePath: rules.metricsPage,
};

const ofOwnAnnotations: RuleOfEach<typeof ownAnnotations> = {
  doNotDisrupt: rules.keep,
  checkpointedAt: rules.checkpoint,
  progressUnits: rules.progress,
};

const ofKueue: RuleOfEach<typeof kueueNames> = {
  jobUid: rules.onQueueObject,
  priorityBoost: rules.boost,
  sliceReplacementFor: rules.onQueueObject,
  multiKueueOrigin: rules.onQueueObject,
};

const ofKai: RuleOfEach<typeof kaiNames> = {
  nodePool: rules.onQueueObject,
  lastStart: rules.onQueueObject,
  lastEviction: rules.onQueueObject,
  stale: rules.onQueueObject,
};

const ofVolcano: RuleOfEach<typeof volcanoNames> = { hierarchy: rules.onQueue, hierarchyWeights: rules.onQueue };

const ofNodeAnnotations: RuleOfEach<typeof nodeAnnotations> = {
  hamiRegister: rules.register,
  volcanoRegister: rules.register,
  karpenterDoNotDisrupt: rules.nodeKept,
  scaleDownDisabled: rules.nodeKept,
};

/** Labels of nodes that describe their GPUs; all other labels describe the place of the node. */
const gpuNodeLabel =
  /^(?:(?:nvidia|amd|beta\.amd|gpu\.intel)\.com\/|feature\.node\.kubernetes\.io\/|aliyun\.accelerator\/)|accelerator|gpu/;

/** Names that are defined outside the list of well-known ones, because only one place reads them. */
const ofOthers: readonly (readonly [on: string, name: string, rule: TrustRule])[] = [
  ...[containerShares.memoryRequest, containerShares.memoryLimit, containerShares.computePortion].map(
    (ending) => ["pods and owners", `${containerShares.prefix}NAME${ending}`, rules.fraction] as const,
  ),
  ["pods and owners", `${containerShares.prefix}NAME${containerShares.devices}`, rules.writtenGpu],
  ["pods", "volcano.sh/preemptable", rules.preemptable],
  ["pods", "pod-template-hash", rules.labelsOfPods],
  ["pods", "any label that a budget, Service or placement rule of the namespace selects by", rules.labelsOfPods],
  ["volumes", "topology.kubernetes.io/zone", rules.volumePlace],
  ["volumes", "topology.kubernetes.io/region", rules.volumePlace],
  ["volumes", "failure-domain.beta.kubernetes.io/zone", rules.volumePlace],
  ["volumes", "failure-domain.beta.kubernetes.io/region", rules.volumePlace],
  ["nodes", "any label of a cloud, by the start of its name", rules.nodePlace],
  ["nodes", "nvidia.com/mig.config", rules.nodeGpus],
  ["nodes", "nvidia.com/mig.capable", rules.nodeGpus],
  ["nodes", "nvidia.com/gpu.deploy.mig-manager", rules.nodeGpus],
  ["nodes", "nvidia.com/mig-PROFILE.replicas", rules.nodeGpus],
  ["nodes", "the label that `idle.warmPools` names (`fairlead.dev/warm-pool`)", rules.configured],
  ["nodes", "the label that `queues.kai.nodePoolLabel` names (`kai.scheduler/node-pool`)", rules.configured],
  ["namespaces", "the label or annotation that a rule of `teams` names (`team`)", rules.configured],
  ["pods and owners", "the label that a rule `pod-label` or `workload-label` of `teams` names", rules.teamLabel],
  ["exporters' pods", "the labels of `dcgm.discovery` (`app.kubernetes.io/name`)", rules.configured],
];

/** A label or annotation that is read, and how far it is trusted. */
export interface TrustedName {
  /** Kinds of objects that carry it. */
  readonly on: string;
  readonly name: string;
  readonly rule: TrustRule;
}

function named<Key extends string>(
  on: string,
  names: Readonly<Record<Key, string>>,
  ruleOf: (key: Key, name: string) => TrustRule,
): readonly TrustedName[] {
  const found: TrustedName[] = [];
  for (const key in names) found.push({ on, name: names[key], rule: ruleOf(key, names[key]) });
  return found;
}

/** Every label and annotation that is read, grouped by the objects that carry it. */
export const trustedNames: readonly TrustedName[] = [
  ...named("pods and owners", podLabels, (key) => ofPodLabels[key]),
  ...named("pods and owners", podAnnotations, (key) => ofPodAnnotations[key]),
  ...named("pods, owners, Workloads and PodGroups", ownAnnotations, (key) => ofOwnAnnotations[key]),
  ...named("Workloads", kueueNames, (key) => ofKueue[key]),
  ...named("PodGroups", kaiNames, (key) => ofKai[key]),
  ...named("Queues", volcanoNames, (key) => ofVolcano[key]),
  ...named("nodes", nodeLabels, (_, name) => (gpuNodeLabel.test(name) ? rules.nodeGpus : rules.nodePlace)),
  ...named("nodes", nodeAnnotations, (key) => ofNodeAnnotations[key]),
  ...ofOthers.map(([on, name, rule]) => ({ on, name, rule })),
];
