import { isSameList } from "../../kernel/isSameList.ts";
import type { GangDraft } from "./gangDraft.ts";
import { type GangFacts, keptFacts } from "./gangFacts.ts";
import type { QueueDraft } from "./queueDrafts.ts";
import type { NeverReason, WaitingGang, WaitingPart } from "./queueing.ts";

/** A gang in its queues. It is the object of the last cycle while it is equal. */
export function placedGang(
  draft: GangDraft,
  parts: readonly WaitingPart[],
  never: NeverReason | null,
  queues: readonly QueueDraft[],
): WaitingGang {
  const queue = queueName(draft, parts, queues);
  const last = draft.kept?.gang ?? null;
  if (last !== null && last.never === never && last.queue === queue && isSameList(last.parts, parts)) return last;
  let [pods, gpus]: [number, number | null] = [0, 0];
  for (const part of parts) {
    pods += part.pods;
    gpus = gpus === null || part.gpusPerPod === null ? null : gpus + part.pods * part.gpusPerPod;
  }
  // Written out: there may be tens of thousands.
  const bare: WaitingGang = {
    scheduler: draft.scheduler,
    kind: draft.kind,
    namespace: draft.namespace,
    name: draft.name,
    uid: draft.uid,
    team: draft.team,
    queue,
    localQueue: draft.ref?.localQueue ?? null,
    priorityClass: draft.priorityClass,
    priority: draft.priority,
    since: draft.since,
    reservedAt: draft.reservedAt,
    bound: draft.bound,
    min: draft.min,
    pods,
    gpus,
    parts,
    never,
    reason: draft.reason,
    notReadyPods: draft.notReadyPods,
  };
  const facts = factsOf(draft, parts);
  const gang = facts === null ? bare : { ...bare, ...facts };
  if (draft.kept !== undefined) draft.kept.gang = gang;
  return gang;
}

/** Facts that only some gangs have; `null`: this gang has none. */
function factsOf(draft: GangDraft, parts: readonly WaitingPart[]): GangFacts | null {
  const kept = keptFacts(draft);
  if (draft.parts.every(({ mostPods }) => mostPods === undefined)) return kept;
  let [pods, gpus]: [number, number | null] = [0, 0];
  for (const [i, { mostPods, pods: fewest }] of draft.parts.entries()) {
    const most = mostPods ?? fewest;
    const each = parts[i]?.gpusPerPod ?? null;
    pods += most;
    gpus = gpus === null || each === null ? null : gpus + most * each;
  }
  return { ...kept, most: { pods, gpus } };
}

/** The name of the queue as its users know it; the team's name if teams act as queues. */
function queueName(
  { ref, labelledQueue }: GangDraft,
  parts: readonly WaitingPart[],
  queues: readonly QueueDraft[],
): string | null {
  if (ref !== null && ref.name !== "") return ref.name;
  const leaf = parts.find(({ queue }) => queue !== null)?.queue ?? null;
  return labelledQueue ?? (leaf === null ? null : (queues[leaf]?.name ?? null));
}
