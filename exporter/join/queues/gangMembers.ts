import { oncePer } from "../../kernel/once.ts";
import type { PodView } from "../snapshot.ts";
import { byNamespace } from "./byNamespace.ts";
import type { NamespaceGangs } from "./namespaceGangs.ts";
import { findObject, indexObjects, isBefore, type ObjectIndex } from "./objectIndex.ts";
import type { QueueingInput } from "./queueingInput.ts";
import type { DeclaredGang } from "./queueSystem.ts";

/** A gang that an object of a queue system declares, with its pods by index. */
export interface GangMembers {
  readonly gang: DeclaredGang;
  readonly bound: readonly number[];
  readonly waiting: readonly number[];
}

/** A declared gang while its pods are being found. */
interface OpenMembers {
  readonly gang: DeclaredGang;
  readonly bound: number[];
  readonly waiting: number[];
}

/** All declared gangs, and the waiting pods that are in none of them. */
export interface MatchedGangs {
  readonly gangs: readonly NamespaceGangs[];
  /** The gangs that have pods. For most waiting gangs none has been created yet. */
  readonly members: ReadonlyMap<DeclaredGang, GangMembers>;
  /** Those gangs that have a bound pod. */
  readonly begun: readonly GangMembers[];
  readonly rest: readonly number[];
  /** For each workload: the gang of its pods, the first one of several; `undefined` where no pod is in a gang. */
  readonly ofWorkload: readonly (DeclaredGang | undefined)[];
}

/** Finds the pods of each declared gang: by the name that the pod gives it, else by the nearest owner that it shares. */
export function matchGangs(input: QueueingInput): MatchedGangs {
  const gangs = input.systems.flatMap((system) => system.gangs);
  const members = new Map<DeclaredGang, OpenMembers>();
  if (gangs.length === 0) return { gangs, members, begun: [], rest: waitingPods(input), ofWorkload: [] };
  const rest: number[] = [];
  const ofWorkload: (DeclaredGang | undefined)[] = input.workloads.map(() => undefined);
  const indexIn = byNamespace(gangs, ({ namespace }) => namespace, indexTogether);
  const elastic = elasticGangs(gangs);
  const find = (view: PodView, pod: number): DeclaredGang | undefined => {
    const index = indexIn(view.namespace);
    const queued = index === undefined ? null : input.queued(pod);
    if (index === undefined || queued === null) return undefined;
    const named = findObject(queued.pod, queued.owners, index);
    return named === undefined || elastic === null
      ? named
      : elastic(named, view.status !== "allocated" && queued.pod.gated);
  };
  for (let i = 0; i < input.pods.length; i++) {
    const view = input.pods[i];
    if (view === undefined) continue;
    const { status, workload } = view;
    const found = find(view, i);
    if (found !== undefined) {
      const open = membersOf(found, members);
      (status === "allocated" ? open.bound : open.waiting).push(i);
      const first = ofWorkload[workload];
      if (first === undefined || (first !== found && isBefore(found, first))) ofWorkload[workload] = found;
    } else if (status !== "allocated") rest.push(i);
  }
  const begun = [...members.values()].filter(({ bound }) => bound.length > 0);
  return { gangs, members, begun, rest, ofWorkload };
}

function membersOf(gang: DeclaredGang, members: Map<DeclaredGang, OpenMembers>): OpenMembers {
  const known = members.get(gang);
  if (known !== undefined) return known;
  const open = { gang, bound: [], waiting: [] };
  members.set(gang, open);
  return open;
}

/** What one system declares in a namespace mostly stays the same. */
const indexAlone = oncePer(({ gangs }: NamespaceGangs): ObjectIndex<DeclaredGang> => indexObjects(gangs));

/** The index of all that several systems declare in one namespace. */
function indexTogether(groups: readonly NamespaceGangs[]): ObjectIndex<DeclaredGang> {
  const [only, ...others] = groups;
  if (only !== undefined && others.length === 0) return indexAlone(only);
  return indexObjects(groups.flatMap(({ gangs }) => gangs));
}

/**
 * Assigns the pods of growing elastic jobs to the two objects of the job. Pods beyond the job's quota keep the scheduling gate
 * `kueue.x-k8s.io/elastic-job` and belong to the growth; all others belong to the running object. `null`: no job grows.
 */
function elasticGangs(
  groups: readonly NamespaceGangs[],
): ((found: DeclaredGang, isGated: boolean) => DeclaredGang) | null {
  const growing = groups.filter((group) => growthsIn(group).length > 0);
  if (growing.length === 0) return null;
  const growthOf = new Map(growing.flatMap(growthsIn).map((gang) => [gang.growthOf ?? "", gang] as const));
  const running = new Map<string, DeclaredGang>();
  // Both Workloads of a job are in its namespace.
  for (const { gangs } of growing) for (const gang of gangs) if (growthOf.has(gang.uid)) running.set(gang.uid, gang);
  return (found, isGated) => {
    if (isGated) return growthOf.get(found.uid) ?? found;
    return running.get(found.growthOf ?? "") ?? found;
  };
}

const growthsIn = oncePer(({ gangs }: NamespaceGangs) => gangs.filter(({ growthOf }) => growthOf !== undefined));

/** The waiting pods: in the list of all pods they come after those that are bound. */
function waitingPods({ pods }: QueueingInput): readonly number[] {
  let first = pods.length;
  while (pods[first - 1]?.status === "pending") first -= 1;
  return Array.from({ length: pods.length - first }, (_, i) => first + i);
}
