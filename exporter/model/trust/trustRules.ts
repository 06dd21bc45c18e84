/**
 * Who can write a name. `namespace`: whoever may create or change pods, jobs and their owners in a namespace, a tenant;
 * `platform`: whoever may change nodes, namespaces, queues and cluster-wide objects; `system`: only a controller or scheduler,
 * in objects that tenants are commonly not allowed to change.
 */
export type Writer = "namespace" | "platform" | "system";

/** How far a label or an annotation is believed. */
export interface TrustRule {
  /** The writer with the fewest rights who can still write it, even if others mostly do. */
  readonly writer: Writer;
  /** What is read from it. */
  readonly reads: string;
  /** What must confirm it that its writer cannot write; `null`: nothing needs to, since it affects no other tenant. */
  readonly witness: string | null;
  /** What happens if nothing confirms it, with the code of the problem that reports it. */
  readonly otherwise: string;
}

const byTenant = (reads: string, witness: string | null, otherwise: string): TrustRule => ({
  writer: "namespace",
  reads,
  witness,
  otherwise,
});
const byPlatform = (reads: string): TrustRule => ({
  writer: "platform",
  reads,
  witness: null,
  otherwise: "it is believed: whoever writes it runs the cluster",
});
const bySystem = (reads: string, otherwise: string): TrustRule => ({
  writer: "system",
  reads,
  witness: null,
  otherwise,
});

const noQueue = "the pod is in no queue: `queue-unconfirmed`";
const ownOnly = "it changes nothing of other teams";

/**
 * The rules of trust, in one place. What a tenant can write affects the number of another only if something confirms it that
 * the tenant cannot write; otherwise it is ignored, with a problem that names the pod and its claim.
 */
export const trustRules = {
  localQueue: byTenant(
    "the queue of a pod, and of work that waits",
    "a LocalQueue of that name in the pod's own namespace",
    noQueue,
  ),
  clusterQueue: byTenant(
    "the queue of a pod",
    "an admitted Workload of the pod's namespace, or a LocalQueue of it that leads to this ClusterQueue",
    noQueue,
  ),
  namedWorkload: byTenant(
    "the Workload of a pod, and by it its queue and gang",
    "a Workload of that name in the pod's own namespace; for its queue an admitted one, for a gang one whose controller owns the pod",
    "it is ignored",
  ),
  kaiQueue: byTenant(
    "the queue of a pod",
    "`spec.schedulerName` is KAI's or Run:ai's, or the PodGroup that the pod names was made for one of its owners",
    noQueue,
  ),
  kaiGroup: byTenant(
    "the PodGroup of a pod, and by it its queue and gang",
    "a PodGroup of that name in the pod's own namespace, and `spec.schedulerName`, or a controller of the PodGroup that owns the pod",
    noQueue,
  ),
  volcanoQueue: byTenant(
    "the queue of a pod",
    "`spec.schedulerName` is Volcano's, or the PodGroup that the pod names was made for one of its owners",
    noQueue,
  ),
  volcanoGroup: byTenant(
    "the PodGroup of a pod, and by it its queue and gang",
    "a PodGroup of that name in the pod's own namespace, and `spec.schedulerName`, or a controller of the PodGroup that owns the pod",
    noQueue,
  ),
  yunikornQueue: byTenant(
    "the name of a queue, where no queue system has objects",
    "no queue of Kueue, KAI or Volcano is there that could be meant",
    noQueue,
  ),
  podGroup: byTenant(
    "the gang of plain pods",
    "the Workload that Kueue made of the group; the gang is no larger than that",
    "there is no gang",
  ),
  coschedulingGroup: byTenant(
    "the gang of a pod",
    "a PodGroup of `scheduling.x-k8s.io` of that name in the pod's own namespace, and a scheduler that is neither KAI's nor Volcano's",
    "there is no gang",
  ),
  leaderWorkerSet: byTenant(
    "the gang of a group of pods",
    "the LeaderWorkerSet of that name is among the pod's owners; the gang is no larger than its size",
    "there is no gang; the name is used for the workload where its owners cannot be read",
  ),
  jobIndex: byTenant(
    "that a pod is one of an Indexed Job",
    "the Job that controls the pod says that it works on all its indexes at once",
    "there is no gang",
  ),
  fraction: byTenant(
    "the share of a GPU that a pod without a GPU request holds",
    "a reservation pod of the node keeps a GPU for the pod's group; while the pod waits, or where pods of the reservations' namespaces cannot be read, `spec.schedulerName` is KAI's or Run:ai's; requests come before it",
    "it holds nothing: `fraction-unconfirmed`",
  ),
  writtenGpu: byTenant(
    "which GPU a fraction is on, where no reservation pod shows it",
    "the GPU is on the node of the pod, and the fraction counts as above",
    "the fraction is estimated on its node, as it is with it: the GPU is marked as estimated",
  ),
  gpuGroup: byTenant(
    "which reservation pod keeps the GPU of a fraction",
    "a reservation pod of that group on the same node, the oldest of several; of a pod that KAI does not place, only what others leave of the GPU",
    "the fraction is estimated on its node, or holds nothing",
  ),
  reservedGpu: byTenant(
    "the GPU that a reservation pod keeps",
    "a fraction that KAI places in its group, or KAI's own objects; the telemetry row that names the pod comes first, and rows that name other pods, or an older reservation pod with that GPU, refute it",
    "the pod holds what it requests: `reservation-unconfirmed`; where KAI is installed and it asks for one GPU, nobody holds that: `reservation-unserved`",
  ),
  allocation: byTenant(
    "which GPUs a sharing plugin gave to a pod, and how much of them",
    "the node carries the plugin's register and the pod requests units: no more GPUs than units, and each no less than the pod asked for with a unit (memory, cores, else a slot)",
    "the pod holds what it requests: `allocation-unconfirmed`",
  ),
  workloadName: byTenant(
    "the name of the workload, where the owners of the pod cannot be read",
    null,
    `it names work of the pod's own namespace: ${ownOnly}`,
  ),
  workloadClass: byTenant("whether the workload is batch or serving", null, ownOnly),
  idleOptOut: byTenant("that the workload is never called idle", null, `its GPUs are counted apart: ${ownOnly}`),
  checkpoint: byTenant(
    "when work was saved last",
    "a time that is not in the future",
    "what a restart loses is counted since the start",
  ),
  progress: byTenant("how far the work is", null, ownOnly),
  metricsPage: byTenant(
    "where the metrics of a pod's server are",
    "the configuration names the pod's namespace (`serving.discovery`); its page is got from the pod's own address and speaks for its workload alone",
    "it is not asked",
  ),
  keep: byTenant("that advice must not move the pod", null, `advice leaves the pod where it is: ${ownOnly}`),
  mayLose: byTenant("that what is stored on the node may be lost", null, ownOnly),
  teamLabel: byTenant(
    "the team of a workload",
    "the configuration allows that value in the pod's namespace (`teams[].allowed`)",
    "the next rule of `teams` decides",
  ),
  labelsOfPods: byTenant("which pods a placement rule means", null, "it is believed as the scheduler believes it"),
  preemptable: byTenant("that Volcano may not take the pod", null, "it is believed as Volcano believes it"),
  onQueueObject: bySystem("facts of a Workload or PodGroup", "believed of objects of that namespace alone"),
  boost: {
    writer: "namespace",
    reads: "what is added to the priority of a Workload",
    witness: null,
    otherwise: "it is believed as Kueue believes it",
  },
  byKubelet: bySystem("that a pod is the kubelet's own", "advice leaves the pod where it is"),
  onQueue: byPlatform("the place of a queue among others"),
  nodeGpus: byPlatform("which GPUs a node has, and how they are shared"),
  nodePlace: byPlatform("pool, capacity type, instance type and place of a node"),
  nodeKept: byPlatform("that a node is kept"),
  register: byPlatform("the GPUs that a sharing plugin gives out on a node"),
  volumePlace: byPlatform("where a volume can be used"),
  configured: byPlatform("what the configuration names: teams, warm pools, node pools, exporters"),
  unused: byTenant("nothing: it is kept with the pod", null, ownOnly),
} as const satisfies Readonly<Record<string, TrustRule>>;
