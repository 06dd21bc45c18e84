import { findObject, indexObjects, isBefore } from "./objectIndex.ts";
import type { QueuedPod, QueueingInput } from "./queueingInput.ts";
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
  bound: number[];
  waiting: number[];
}

/** For most waiting gangs no pod has been created yet. Nothing is ever added to it. */
const noMembers: number[] = [];

/** All declared gangs, and the waiting pods that are in none of them. */
export interface MatchedGangs {
  readonly gangs: readonly GangMembers[];
  /** Those of them that have a bound pod. */
  readonly begun: readonly GangMembers[];
  readonly rest: readonly number[];
  /** For each workload: the gang of its pods, the first one of several; `undefined` where no pod is in a gang. */
  readonly ofWorkload: readonly (DeclaredGang | undefined)[];
}

/** Finds the pods of each declared gang: by the name that the pod gives it, else by the nearest owner that it shares. */
export function matchGangs(input: QueueingInput): MatchedGangs {
  const gangs = input.systems
    .flatMap((system) => system.gangs)
    .map((gang): OpenMembers => ({ gang, bound: noMembers, waiting: noMembers }));
  if (gangs.length === 0) return { gangs, begun: [], rest: waitingPods(input), ofWorkload: [] };
  const begun: GangMembers[] = [];
  const rest: number[] = [];
  const firsts: (OpenMembers | undefined)[] = input.workloads.map(() => undefined);
  const index = indexObjects(gangs);
  const elastic = elasticGangs(gangs);
  const find = (queued: QueuedPod, isBound: boolean): OpenMembers | undefined => {
    const named = findObject(queued.pod, queued.owners, index);
    return named === undefined || elastic === null ? named : elastic(named, !isBound && queued.pod.gated);
  };
  for (let i = 0; i < input.pods.length; i++) {
    const view = input.pods[i];
    if (view === undefined) continue;
    const { status, workload } = view;
    const queued = input.queued(i);
    const found = queued === null ? undefined : find(queued, status === "allocated");
    if (found !== undefined) {
      addMember(found, status === "allocated" ? "bound" : "waiting", i, begun);
      const first = firsts[workload];
      if (first === undefined || (first !== found && isBefore(found, first))) firsts[workload] = found;
    } else if (status !== "allocated") rest.push(i);
  }
  return { gangs, begun, rest, ofWorkload: firsts.map((members) => members?.gang) };
}

/**
 * Assigns the pods of growing elastic jobs to the two objects of the job. Pods beyond the job's quota keep the scheduling gate
 * `kueue.x-k8s.io/elastic-job` and belong to the growth; all others belong to the running object. `null`: no job grows.
 */
function elasticGangs(gangs: readonly OpenMembers[]): ((found: OpenMembers, isGated: boolean) => OpenMembers) | null {
  const growths = gangs.filter(({ gang }) => gang.growthOf !== undefined);
  if (growths.length === 0) return null;
  const growthOf = new Map(growths.map((members) => [members.gang.growthOf ?? "", members] as const));
  const running = new Map<string, OpenMembers>();
  for (const members of gangs) if (growthOf.has(members.gang.uid)) running.set(members.gang.uid, members);
  return (found, isGated) => {
    if (isGated) return growthOf.get(found.gang.uid) ?? found;
    return running.get(found.gang.growthOf ?? "") ?? found;
  };
}

function addMember(members: OpenMembers, kind: "bound" | "waiting", pod: number, begun: GangMembers[]): void {
  if (members[kind] !== noMembers) {
    members[kind].push(pod);
    return;
  }
  members[kind] = [pod];
  if (kind === "bound") begun.push(members);
}

/** The waiting pods: in the list of all pods they come after those that are bound. */
function waitingPods({ pods }: QueueingInput): readonly number[] {
  let first = pods.length;
  while (pods[first - 1]?.status === "pending") first -= 1;
  return Array.from({ length: pods.length - first }, (_, i) => first + i);
}
