import type { Pod } from "../model/pod.ts";
import type { KueueWorkload } from "../model/queues/kueue.ts";
import type { QueueObjects } from "../model/queues/queueObjects.ts";
import { gpuResources, podAnnotations } from "../model/wellKnown.ts";

/** A gang as an object of a queue system declares it. */
export interface DeclaredMinimum {
  readonly min: number;
  /** Members that run by the object's own word; 0 where it says nothing. */
  readonly running: number;
}

/** Gangs by namespace and name; a minimum of one says that each pod runs alone. */
type ByName = ReadonlyMap<string, ReadonlyMap<string, DeclaredMinimum>>;

/** The gangs that PodGroups and Workloads declare. */
export interface DeclaredGangs {
  readonly kai: ByName;
  readonly volcano: ByName;
  readonly kueue: ByName;
}

/**
 * Kinds whose pods do their work alone: quota for all of them is reserved together, but one runs without the others. A
 * plain Job is among them: nothing says whether its pods talk to each other.
 */
const independentKinds: ReadonlySet<string> = new Set(["Job", "Deployment", "ReplicaSet", "StatefulSet", "Pod"]);

/** Whether a pod names an object that may declare its gang. */
export function namesGang({ annotations }: Pod): boolean {
  return (
    annotations[podAnnotations.kaiPodGroup] !== undefined ||
    annotations[podAnnotations.volcanoGroup] !== undefined ||
    annotations[podAnnotations.podGroup] !== undefined ||
    annotations[podAnnotations.kueueWorkload] !== undefined
  );
}

/** Volcano makes a PodGroup of one member for the pods of any controller that has none: nobody says anything by it. */
const volcanoDefaultPrefix = "podgroup-";

/** Indexes what declares a gang. */
export function declaredGangs({ kaiPodGroups, volcanoPodGroups, kueueWorkloads }: QueueObjects): DeclaredGangs {
  const [kai, volcano, kueue] = [new Map(), new Map(), new Map()] as const;
  for (const { namespace, name, minMember } of kaiPodGroups) add(kai, namespace, name, minMember, 0);
  for (const { namespace, name, minMember, running } of volcanoPodGroups)
    if (minMember >= 2 || !name.startsWith(volcanoDefaultPrefix)) add(volcano, namespace, name, minMember, running);
  for (const workload of kueueWorkloads) {
    const min = minimumOf(workload);
    if (min >= 2) add(kueue, workload.namespace, workload.name, min, 0);
  }
  return { kai, volcano, kueue };
}

function add(
  groups: Map<string, Map<string, DeclaredMinimum>>,
  namespace: string,
  name: string,
  min: number,
  running: number,
): void {
  const names = groups.get(namespace) ?? new Map<string, DeclaredMinimum>();
  groups.set(namespace, names);
  names.set(name, { min, running });
}

/** Fewest pods with GPUs: those without are not among the pods that are read. */
function minimumOf({ owner, podSets }: KueueWorkload): number {
  if (owner === null || independentKinds.has(owner.kind)) return 0;
  let min = 0;
  for (const { count, minCount, pod } of podSets) if (hasGpus(pod.requests)) min += minCount ?? count;
  return min;
}

const hasGpus = (requests: Readonly<Record<string, number>>): boolean =>
  Object.keys(requests).some((resource) => resource.startsWith(gpuResources.nvidiaPrefix));

/**
 * The gang of a pod by the object that it names, of one pod where that says that each runs alone; `null` where none says
 * anything of it.
 */
export function declaredGangOf({ namespace, annotations }: Pod, declared: DeclaredGangs) {
  const named = [
    [declared.kai, annotations[podAnnotations.kaiPodGroup]],
    [declared.volcano, annotations[podAnnotations.volcanoGroup] ?? annotations[podAnnotations.podGroup]],
    [declared.kueue, annotations[podAnnotations.kueueWorkload]],
  ] as const;
  for (const [groups, name] of named) {
    const gang = name === undefined ? undefined : groups.get(namespace)?.get(name);
    if (name !== undefined && gang !== undefined) return { id: `${namespace}/${name}`, ...gang };
  }
  return null;
}
