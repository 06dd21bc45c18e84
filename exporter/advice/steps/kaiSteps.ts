import type { QueueView } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { oncePer } from "../../kernel/once.ts";
import type { KaiQueue } from "../../model/queues/kai.ts";
import { guardedPatch, type QuotaChange, queueTarget, setAt } from "./queuePatch.ts";
import { allSteps, noSteps, type PatchOperation, type StepsFound } from "./step.ts";

/** The amount that means "no limit" in KAI. */
const unlimited = -1;

const target = (queue: KaiQueue) =>
  queueTarget("Queue", queue, { apiVersion: "scheduling.run.ai/v2", resource: "queues" });

/** The queues of a moment by name, because each may have a finding. If several queues have one name, the first counts. */
const byName = oncePer(
  (queues: readonly KaiQueue[]) => new Map(queues.toReversed().map((queue) => [queue.name, queue] as const)),
);

const queueOf = ({ queueObjects: { kaiQueues } }: Snapshot, name: string): KaiQueue | undefined =>
  byName(kaiQueues).get(name);

type Resource = "gpu" | "cpu" | "memory";

/** The operation that sets fields of one resource, whether or not the object has the resource yet. */
function setResource(
  queue: KaiQueue,
  resource: Resource,
  fields: Readonly<Record<string, number>>,
): readonly PatchOperation[] {
  const at = ["spec", "resources", resource];
  if (queue[resource] === null) return [{ op: "add", at, value: { ...fields } }];
  return Object.entries(fields).map(([field, value]) => setAt([...at, field], value));
}

/**
 * Whether some part of `spec.resources` was read. If not, it may be missing, and a patch cannot set a field of a missing
 * object.
 */
const hasResources = ({ gpu, cpu, memory }: KaiQueue): boolean => gpu !== null || cpu !== null || memory !== null;

/** Operations that test the values that were read. A value of 0 may be written or left out, so it cannot be tested. */
function testsOf(queue: KaiQueue, resource: Resource): readonly PatchOperation[] {
  return Object.entries(queue[resource] ?? {})
    .filter(([, value]) => value !== 0)
    .map(([field, value]) => ({ op: "test", at: ["spec", "resources", resource, field], value }));
}

/** Changes the quota and the limit of a queue of KAI, which counts GPUs and fractions of them. */
export function kaiQuotaSteps(snapshot: Snapshot, view: QueueView, to: QuotaChange): StepsFound {
  const queue = queueOf(snapshot, view.name);
  if (queue === undefined) return noSteps(`Queue ${view.name} is not there any more`);
  const { gpu } = queue;
  if (gpu === null)
    return noSteps(`Queue ${view.name} has no spec.resources.gpu: it may hold no GPUs at all, whoever made it so`);
  const quota = to.guaranteed ?? gpu.quota;
  const limit = to.limit === undefined ? gpu.limit : to.limit === Number.POSITIVE_INFINITY ? unlimited : to.limit;
  if (limit !== unlimited && quota > limit) return noSteps(`a limit of ${limit} GPUs is below its quota of ${quota}`);
  const fields = { ...(quota === gpu.quota ? {} : { quota }), ...(limit === gpu.limit ? {} : { limit }) };
  const said = Object.entries(fields).map(
    ([field, value]) => `${field} ${value === unlimited ? "-1 (no limit)" : value}`,
  );
  if (said.length === 0) return noSteps(`Queue ${view.name} has that quota already`);
  const title = `Set spec.resources.gpu of Queue ${view.name} to ${said.join(", ")}`;
  return allSteps([guardedPatch(target(queue), title, setResource(queue, "gpu", fields), testsOf(queue, "gpu"))]);
}

/** Removes limits of 0, with which nothing can run. */
export function kaiLimitSteps(snapshot: Snapshot, name: string): StepsFound {
  const queue = queueOf(snapshot, name);
  if (queue === undefined) return noSteps(`Queue ${name} is not there any more`);
  if (!hasResources(queue))
    return noSteps(`Queue ${name} has no spec.resources: what it may hold is for a person to say`);
  const zero = (["gpu", "cpu", "memory"] as const).filter((resource) => (queue[resource]?.limit ?? 0) === 0);
  const operations = zero.flatMap((resource) => setResource(queue, resource, { limit: unlimited }));
  const title = `Set the limit of ${zero.join(", ")} of Queue ${name} to -1 (no limit)`;
  const more = "No limit of 0 is meant: name the amount instead of -1 where there should be one.";
  return allSteps([
    zero.length === 0 ? null : guardedPatch(target(queue), title, operations, testsOf(queue, "gpu"), more),
  ]);
}

/** Gives a queue a share of the surplus. */
export function kaiSurplusSteps(snapshot: Snapshot, name: string): StepsFound {
  const queue = queueOf(snapshot, name);
  if (queue === undefined) return noSteps(`Queue ${name} is not there any more`);
  if (queue.gpu === null) return noSteps(`Queue ${name} has no spec.resources.gpu`);
  const title = `Set spec.resources.gpu.overQuotaWeight of Queue ${name} to 1`;
  const operations = setResource(queue, "gpu", { overQuotaWeight: 1 });
  return allSteps([guardedPatch(target(queue), title, operations, testsOf(queue, "gpu"))]);
}
