import { innerMap } from "../kernel/innerMap.ts";
import type { OwnerObject } from "../model/cluster.ts";
import { gpuResourceOf } from "../model/gpuResource.ts";
import type { OwnerRef, Pod, PodSchedulingGroup } from "../model/pod.ts";
import type { KueueWorkload } from "../model/queues/kueue.ts";
import type { NativeController, NativePodGroup, NativeWorkload } from "../model/queues/nativeGangs.ts";
import type { QueueObjects } from "../model/queues/queueObjects.ts";
import { gpuResources, podAnnotations, podLabels } from "../model/wellKnown.ts";
import { kueueOwnerUids } from "./queues/kueueOwners.ts";
import { isPlacedBy } from "./trust/placedBy.ts";
import { ownerChainOf, ownerUidsOf } from "./workloadOf.ts";

/** A gang as an object of a queue system declares it. */
export interface DeclaredMinimum {
  /** Uids of the controllers of the object. */
  readonly owners: readonly string[];
  readonly min: number;
  /** Members that run as the object itself reports; 0 if it reports nothing. */
  readonly running: number;
  /** What only a native gang reports; absent of others. */
  readonly native?: NativeFacts;
}

/** What Kubernetes itself reports about a gang. */
interface NativeFacts {
  /** It was placed as a whole before. */
  readonly wasScheduled: boolean;
  /** The object is being deleted, and its pods with it. */
  readonly isEnding: boolean;
  /** For what its Workload was made; `null`: nobody says so. */
  readonly controller: NativeController | null;
}

/** Gangs by namespace and name; a minimum of one says that each pod runs alone. */
type ByName = ReadonlyMap<string, ReadonlyMap<string, DeclaredMinimum>>;

/** The gangs that PodGroups and Workloads declare. */
export interface DeclaredGangs {
  /** Those of Kubernetes itself: PodGroups by name, and in Kubernetes 1.35 the groups of Workloads by `WORKLOAD/GROUP`. */
  readonly native: ByName;
  /** Those of the coscheduling plugin. */
  readonly coscheduling: ByName;
  readonly kai: ByName;
  readonly volcano: ByName;
  readonly kueue: ByName;
  /** The gangs that Kueue made of plain pods, by the name of their group. */
  readonly podGroups: ByName;
}

/**
 * Kinds whose pods do their work alone: quota for all of them is reserved together, but one runs without the others. A
 * plain Job is among them: nothing says whether its pods talk to each other.
 */
export const independentKinds: ReadonlySet<string> = new Set(["Job", "Deployment", "ReplicaSet", "StatefulSet", "Pod"]);

/** Whether a pod names an object that may declare its gang. */
export function namesGang({ annotations, labels, schedulingGroup }: Pod): boolean {
  return (
    schedulingGroup !== undefined ||
    labels[podLabels.coschedulingGroup] !== undefined ||
    annotations[podAnnotations.kaiPodGroup] !== undefined ||
    annotations[podAnnotations.volcanoGroup] !== undefined ||
    annotations[podAnnotations.podGroup] !== undefined ||
    annotations[podAnnotations.kueueWorkload] !== undefined
  );
}

/** Volcano creates a PodGroup of one member for the pods of any controller that has none: such a group declares nothing. */
const volcanoDefaultPrefix = "podgroup-";

/** Indexes what declares a gang. */
export function declaredGangs(objects: QueueObjects): DeclaredGangs {
  const { kaiPodGroups, volcanoPodGroups, coschedulingPodGroups, kueueWorkloads } = objects;
  const [kai, volcano, coscheduling] = [new Map(), new Map(), new Map()] as const;
  for (const group of kaiPodGroups) add(kai, group, { owners: ownersOf(group), min: group.minMember, running: 0 });
  for (const group of volcanoPodGroups) {
    const { name, minMember: min, running } = group;
    if (min >= 2 || !name.startsWith(volcanoDefaultPrefix))
      add(volcano, group, { owners: ownersOf(group), min, running });
  }
  for (const group of coschedulingPodGroups) {
    const { minMember: min, running } = group;
    add(coscheduling, group, { owners: ownersOf(group), min, running });
  }
  let workloads: Pick<DeclaredGangs, "kueue" | "podGroups"> | null = null;
  // There may be tens of thousands, and mostly no pod names any.
  const ofWorkloads = () => {
    workloads ??= gangsOfWorkloads(kueueWorkloads);
    return workloads;
  };
  return {
    kai,
    volcano,
    coscheduling,
    native: nativeGangs(objects),
    get kueue() {
      return ofWorkloads().kueue;
    },
    get podGroups() {
      return ofWorkloads().podGroups;
    },
  };
}

function gangsOfWorkloads(workloads: readonly KueueWorkload[]): Pick<DeclaredGangs, "kueue" | "podGroups"> {
  const [kueue, podGroups] = [new Map(), new Map()] as const;
  for (const workload of workloads) {
    const { owner } = workload;
    const min = owner !== null && independentKinds.has(owner.kind) ? 0 : podsWithGpus(workload);
    if (min >= 2)
      add(owner === null ? podGroups : kueue, workload, { owners: kueueOwnerUids(workload), min, running: 0 });
  }
  return { kueue, podGroups };
}

/** A group with the policy `basic` declares nothing: the job whose pods are in it may still make a gang. */
function nativeGangs({
  nativePodGroups,
  nativeWorkloads,
}: Pick<QueueObjects, "nativePodGroups" | "nativeWorkloads">): ByName {
  const gangs = new Map<string, Map<string, DeclaredMinimum>>();
  const controllers = new Map<string, NativeController | null>();
  for (const workload of nativeWorkloads) {
    const { namespace, name, controller } = workload;
    controllers.set(`${namespace}/${name}`, controller);
    addGroups(gangs, workload);
  }
  for (const group of nativePodGroups) {
    const { namespace, minCount, workload, wasScheduled, isEnding } = group;
    if (minCount === null) continue;
    const controller = workload === null ? null : (controllers.get(`${namespace}/${workload}`) ?? null);
    add(gangs, group, { ...minimumOf(group, minCount), native: { wasScheduled, isEnding, controller } });
  }
  return gangs;
}

function addGroups(gangs: Map<string, Map<string, DeclaredMinimum>>, workload: NativeWorkload): void {
  const { namespace, controller, isEnding, groups } = workload;
  for (const { name, minCount } of groups) {
    if (minCount === null) continue;
    const native = { wasScheduled: false, isEnding, controller };
    add(gangs, { namespace, name: `${workload.name}/${name}` }, { owners: [], min: minCount, running: 0, native });
  }
}

const minimumOf = (group: NativePodGroup, min: number): DeclaredMinimum => ({
  owners: ownersOf(group),
  min,
  running: 0,
});

const ownersOf = ({ owner }: { readonly owner: OwnerRef | null }): readonly string[] =>
  owner === null ? [] : [owner.uid];

function add(
  groups: Map<string, Map<string, DeclaredMinimum>>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  minimum: DeclaredMinimum,
): void {
  innerMap(groups, namespace).set(name, minimum);
}

/** The fewest pods with GPUs that run: pods without GPUs are not among the pods that are read. */
function podsWithGpus({ podSets }: KueueWorkload): number {
  let min = 0;
  for (const { count, minCount, pod } of podSets) if (hasGpus(pod.requests)) min += minCount ?? count;
  return min;
}

const hasGpus = (requests: Readonly<Record<string, number>>): boolean =>
  Object.keys(requests).some(
    (resource) => resource.startsWith(gpuResources.nvidiaPrefix) || gpuResourceOf(resource) !== null,
  );

/**
 * The gang of a pod by the object that it names, that of a queue system before that of Kubernetes itself, which queue systems
 * make, too, so that it is one gang; a gang of one pod if that object declares that each runs alone; `null` if no
 * object declares a gang. Anybody can name any object of the namespace: it counts for pods of the scheduler to which the
 * object belongs, and for those that it was made for.
 */
export function declaredGangOf(pod: Pod, declared: DeclaredGangs, owners: ReadonlyMap<string, OwnerObject>) {
  const { namespace, annotations } = pod;
  const named = [
    ["kai", annotations[podAnnotations.kaiPodGroup], isPlacedBy("kai", pod)],
    [
      "volcano",
      annotations[podAnnotations.volcanoGroup] ?? annotations[podAnnotations.podGroup],
      isPlacedBy("volcano", pod),
    ],
    ["kueue", annotations[podAnnotations.kueueWorkload], false],
  ] as const;
  for (const [system, name, isPlaced] of named) {
    const gang = name === undefined ? undefined : declared[system].get(namespace)?.get(name);
    if (name === undefined || gang === undefined) continue;
    if (isPlaced || isOwnedByOneOf(gang.owners, pod, owners)) return { id: `${namespace}/${name}`, ...gang };
  }
  return nativeGangOf(pod, declared, owners) ?? coschedulingGangOf(pod, declared);
}

/** The gang of a pod in the coscheduling plugin, which any scheduler may have but KAI and Volcano. */
function coschedulingGangOf(pod: Pod, declared: DeclaredGangs) {
  const name = pod.labels[podLabels.coschedulingGroup];
  const gang = name === undefined ? undefined : declared.coscheduling.get(pod.namespace)?.get(name);
  if (gang === undefined || isPlacedBy("kai", pod) || isPlacedBy("volcano", pod)) return null;
  return { id: `PodGroup.scheduling.x-k8s.io ${pod.namespace}/${name}`, ...gang };
}

/**
 * The native gang of a pod. kube-scheduler holds to the field, which nobody can change: it counts for all pods but those that
 * leave it to a scheduler that does not look at it.
 */
function nativeGangOf(pod: Pod, declared: DeclaredGangs, owners: ReadonlyMap<string, OwnerObject>) {
  const { namespace, schedulingGroup: group } = pod;
  if (group === undefined) return null;
  const gang = declared.native.get(namespace)?.get(keyOf(group));
  if (gang === undefined) return null;
  const isElsewhere = isPlacedBy("kai", pod) || isPlacedBy("volcano", pod);
  if (isElsewhere && !isOwnedByOneOf(gang.owners, pod, owners)) return null;
  return { id: nativeGangId(namespace, group), ...gang };
}

const keyOf = ({ workload, name }: PodSchedulingGroup): string => (workload === null ? name : `${workload}/${name}`);

/** The id of the native gang of a pod: `PodGroup research/train`. */
export function nativeGangId(namespace: string, group: PodSchedulingGroup): string {
  const { workload, replica } = group;
  return `${workload === null ? "PodGroup" : "Workload"} ${namespace}/${keyOf(group)}${replica === "" ? "" : `/${replica}`}`;
}

function isOwnedByOneOf(uids: readonly string[], pod: Pod, owners: ReadonlyMap<string, OwnerObject>): boolean {
  if (uids.length === 0) return false;
  if (uids.includes(pod.uid) || (pod.owner !== null && uids.includes(pod.owner.uid))) return true;
  return ownerUidsOf(pod, ownerChainOf(pod, owners)).some((uid) => uids.includes(uid));
}
