import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { noPriorityClass } from "../podViews.ts";
import { alikeGangs } from "./alikeGangs.ts";
import { type GangDraft, oldest, type PartDraft } from "./gangDraft.ts";
import { keptFacts } from "./gangFacts.ts";
import type { GangMembers, MatchedGangs } from "./gangMembers.ts";
import type { ImpossibleDemand } from "./impossibleDemand.ts";
import type { NamespaceGangs } from "./namespaceGangs.ts";
import type { QueueingInput, WorkloadsByOwner } from "./queueingInput.ts";
import type { DeclaredPart } from "./queueSystem.ts";
import { partsOfPods } from "./waitingPods.ts";

/** What waits in a namespace without any pods: it follows from the gangs and the names of teams alone. */
export interface WaitingWithoutPods {
  readonly drafts: readonly GangDraft[];
  /** The team of each queue. */
  readonly teams: ReadonlyMap<string, string>;
}

/** The parts of the gangs of one namespace that still wait. */
export function declaredDrafts(
  own: NamespaceGangs,
  members: MatchedGangs["members"],
  input: QueueingInput,
  workloadsIn: WorkloadsByOwner,
): readonly GangDraft[] {
  const { namespace, gangs } = own;
  const workloads = workloadsIn(namespace);
  const { withoutPods } = input.cache;
  const known = workloads === undefined ? withoutPods.get(own) : undefined;
  if (known !== undefined && haveSameTeams(known, namespace, input)) return known.drafts;
  const drafts: GangDraft[] = [];
  const teams = new Map<string, string>();
  for (const gang of gangs) {
    const draft = declaredDraft(members.get(gang) ?? { gang, bound: none, waiting: none }, input, workloads);
    if (draft !== null) drafts.push(draft);
    const { name } = gang.queue;
    if (!teams.has(name)) teams.set(name, teamOfQueue(namespace, name, input));
  }
  if (workloads === undefined) withoutPods.set(own, { drafts, teams });
  return drafts;
}

const none: readonly number[] = [];

function haveSameTeams({ teams }: WaitingWithoutPods, namespace: string, input: QueueingInput): boolean {
  for (const [queue, team] of teams) if (teamOfQueue(namespace, queue, input) !== team) return false;
  return true;
}

const teamOfQueue = (namespace: string, queue: string, { teamOf }: Pick<QueueingInput, "teamOf">): string =>
  teamOf(namespace, queue === "" ? null : queue);

/** The part of a declared gang that still waits; `null` if nothing does. */
function declaredDraft(
  members: GangMembers,
  input: QueueingInput,
  workloads: ReturnType<WorkloadsByOwner>,
): GangDraft | null {
  const { gang, bound, waiting } = members;
  const hasPods = bound.length + waiting.length > 0;
  const workload = hasPods ? workloadOfPod(members, input) : workloadOfOwners(gang, workloads);
  const team = workload?.team ?? teamOfQueue(gang.namespace, gang.queue.name, input);
  const known = hasPods ? null : (gang.kept?.draft ?? null);
  const called = {
    kind: workload?.kind ?? gang.ownerKind ?? gang.kind,
    name: workload?.name ?? gang.ownerName ?? gang.name,
  };
  if (known !== null && known.team === team && known.kind === called.kind && known.name === called.name) return known;
  const draft = draftOf(members, { ...called, team }, input);
  if (gang.kept !== undefined && !hasPods && draft !== null) {
    const alike = alikeGangs(draft, input.cache.alike);
    const kept: GangDraft = { ...draft, kept: { place: -1, gang: null, alike } };
    gang.kept.draft = kept;
    return kept;
  }
  return draft;
}

function workloadOfPod({ bound, waiting }: GangMembers, input: Pick<QueueingInput, "pods" | "workloads">) {
  const first = input.pods[waiting[0] ?? bound[0] ?? -1];
  return first === undefined ? undefined : input.workloads[first.workload];
}

function workloadOfOwners({ ownerUids }: GangMembers["gang"], workloads: ReturnType<WorkloadsByOwner>) {
  if (workloads === undefined) return undefined;
  for (const uid of ownerUids) {
    const found = workloads.get(uid);
    if (found !== undefined) return found;
  }
  return undefined;
}

function draftOf(
  { gang, bound, waiting }: GangMembers,
  called: Pick<GangDraft, "kind" | "name" | "team">,
  input: QueueingInput,
): GangDraft | null {
  const parts = openParts({ gang, bound, waiting }, input);
  const pods = parts.reduce((sum, part) => sum + part.pods, 0);
  if (pods === 0) return null;
  const first = input.pods[waiting[0] ?? bound[0] ?? -1];
  const gated = waiting.filter((i) => input.queued(i)?.pod.gated === true).length;
  // Pods that exist were created before the LimitRange, and it does not touch them.
  const refusedBy = pods > waiting.length ? gang.refusedBy : undefined;
  const impossible = impossibleMembers({ gang, bound, waiting }, pods, input);
  return {
    scheduler: gang.queue.scheduler,
    ...called,
    namespace: gang.namespace,
    uid: gang.uid,
    ref: gang.queue,
    labelledQueue: null,
    priorityClass: gang.priorityClass ?? first?.priorityClass ?? noPriorityClass,
    priority: gang.priority,
    since: gang.since ?? oldest(waiting.map((i) => input.pods[i]?.pendingSince ?? null)),
    reservedAt: gang.reservedAt,
    bound: bound.length,
    min: gang.min,
    parts,
    never: gang.never ?? (refusedBy === undefined ? (impossible?.never ?? null) : "limit-range"),
    reason: [refusedBy, impossible?.reason, gang.reason].filter((text) => text !== undefined && text !== "").join("; "),
    notReadyPods: gated + Math.max(0, pods - waiting.length),
    ...keptFacts(gang),
  };
}

/** Why a gang cannot reach its minimum: too many of the missing pods exist and can never run. */
function impossibleMembers(
  { gang, bound, waiting }: GangMembers,
  pods: number,
  input: QueueingInput,
): ImpossibleDemand | null {
  const impossible = waiting.filter((i) => input.pods[i]?.impossible !== undefined);
  const possible = bound.length + pods - impossible.length;
  const isShort = impossible.length > 0 && (possible < gang.min || impossible.length >= pods);
  return isShort ? (input.pods[impossible[0] ?? -1]?.impossible ?? null) : null;
}

function openParts({ gang, bound, waiting }: GangMembers, input: QueueingInput): readonly PartDraft[] {
  if (gang.parts.length > 0) {
    if (bound.length + waiting.length > 0 || gang.startedAt !== null || gang.min <= 0)
      return missingParts({ gang, bound, waiting }, input);
    // Without pods all of them are missing.
    const { drafts } = input.cache.alike;
    const known = drafts.get(gang.parts) ?? missingParts({ gang, bound, waiting }, input);
    drafts.set(gang.parts, known);
    return known;
  }
  if (waiting.length > 0) return partsOfPods(waiting, input);
  if (gang.total === null || bound.length > 0) return [];
  const pods = Math.max(1, gang.min);
  const requests = Object.fromEntries(Object.entries(gang.total).map(([name, amount]) => [name, amount / pods]));
  const needs = { requests, nodeSelector: {}, nodeAffinity: [], tolerations: [] };
  return [{ pods, gpusPerPod: undefined, needs, scopes: null, waiting: [] }];
}

/** Members of each kind that are not bound. In a gang that has begun, only existing pods wait: others may have ended. */
function missingParts({ gang, bound, waiting }: GangMembers, input: QueueingInput): readonly PartDraft[] {
  const open = gang.parts.map((part) => ({ part, pods: part.pods, waiting: [] as number[] }));
  for (const pod of bound) {
    const place = placeFor(pod, open, input, ({ pods }) => pods > 0);
    if (place !== undefined) place.pods -= 1;
  }
  // More pods than members: a new one waits while the old one ends, or the object has grown.
  const extra: number[] = [];
  for (const pod of waiting)
    (placeFor(pod, open, input, (one) => one.waiting.length < one.pods)?.waiting ?? extra).push(pod);
  const hasBegun = gang.startedAt !== null || (gang.reservedAt !== null && bound.length >= gang.min);
  const missing = open
    .map(({ part, pods, waiting: there }): PartDraft => {
      const { needs, scopes, mostPods } = part;
      const missing = { pods: hasBegun ? there.length : pods, gpusPerPod: undefined, needs, scopes, waiting: there };
      return mostPods === undefined ? missing : { ...missing, mostPods };
    })
    .filter(({ pods }) => pods > 0);
  return extra.length === 0 ? missing : [...missing, ...partsOfPods(extra, input)];
}

interface OpenPart {
  readonly part: DeclaredPart;
  pods: number;
  readonly waiting: number[];
}

/** The kind of member that a pod is: the first with its requests that has a place, else the first that has one. */
function placeFor(
  index: number,
  open: readonly OpenPart[],
  input: QueueingInput,
  hasPlace: (part: OpenPart) => boolean,
): OpenPart | undefined {
  const free = open.filter(hasPlace);
  const asked = Object.entries(input.queued(index)?.pod.gpu.resources ?? {});
  const alike = free.find(({ part }) =>
    asked.every(([resource, amount]) => Math.abs((part.needs.requests[resource] ?? 0) - amount) < gpuTolerance),
  );
  return alike ?? free[0];
}
