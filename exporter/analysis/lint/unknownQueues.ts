import { type KueueNamespace, kueueNamespaces, localQueuesIn } from "../../join/queues/kueueNamespaces.ts";
import { isFinished } from "../../join/queues/kueueReserved.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { oncePer } from "../../kernel/once.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { Finding } from "./finding.ts";

/** Number of pieces of work and an example, by the queue that they name. */
type ByQueue = Map<string, { readonly example: string; count: number }>;

/** Queues that do not exist, although work or a LocalQueue names them: one finding for each. */
export function unknownQueues({ queueObjects }: Snapshot): readonly Finding[] {
  return [...clusterQueues(queueObjects), ...localQueues(queueObjects), ...groupQueues(queueObjects)];
}

function clusterQueues({ kueueClusterQueues, kueueLocalQueues }: QueueObjects): readonly Finding[] {
  const known = new Set(kueueClusterQueues.map(({ name }) => name));
  if (known.size === 0) return [];
  const missing: ByQueue = new Map();
  for (const { namespace, name, clusterQueue } of kueueLocalQueues) {
    if (!known.has(clusterQueue)) addTo(missing, clusterQueue, `${namespace}/${name}`);
  }
  return [...missing].map(([name, found]) => finding("kueue", "ClusterQueue", name, "LocalQueues", found));
}

function localQueues(objects: QueueObjects): readonly Finding[] {
  if (objects.kueueLocalQueues.length === 0) return [];
  const missing = [...kueueNamespaces(objects).values()].flatMap((own) => [...missingIn(own)]);
  return missing.map(([name, found]) => finding("kueue", "LocalQueue", name, "Workloads", found));
}

/** The LocalQueues that Workloads of a namespace name in vain. */
const missingIn = oncePer((own: KueueNamespace): ByQueue => {
  const known = localQueuesIn(own);
  const missing: ByQueue = new Map();
  for (const workload of own.workloads) {
    const { namespace, name, localQueue, admission } = workload;
    if (admission !== null || known.has(localQueue) || isFinished(workload)) continue;
    addTo(missing, `${namespace}/${localQueue}`, `${namespace}/${name}`);
  }
  return missing;
});

function groupQueues({ kaiQueues, kaiPodGroups, volcanoQueues, volcanoPodGroups }: QueueObjects): readonly Finding[] {
  const kai = missingOf(kaiPodGroups, kaiQueues);
  const unfinished = volcanoPodGroups.filter(({ phase }) => phase !== "Completed");
  const volcano = missingOf(unfinished, volcanoQueues);
  return [
    ...[...kai].map(([name, found]) => finding("kai", "Queue", name, "PodGroups", found)),
    ...[...volcano].map(([name, found]) => finding("volcano", "Queue", name, "PodGroups", found)),
  ];
}

/** Findings for queues that are missing. None is missing if no queue was read: Fairlead may not be allowed to list them. */
function missingOf(
  groups: readonly { readonly namespace: string; readonly name: string; readonly queue: string }[],
  queues: readonly { readonly name: string }[],
): ByQueue {
  const missing: ByQueue = new Map();
  if (queues.length === 0) return missing;
  const known = new Set(queues.map(({ name }) => name));
  for (const { namespace, name, queue } of groups) {
    if (!known.has(queue)) addTo(missing, queue, `${namespace}/${name}`);
  }
  return missing;
}

function addTo(missing: ByQueue, queue: string, example: string): void {
  const known = missing.get(queue);
  if (known === undefined) missing.set(queue, { example, count: 1 });
  else known.count += 1;
}

function finding(
  scheduler: QueueScheduler,
  kind: string,
  name: string,
  users: string,
  { example, count }: { readonly example: string; readonly count: number },
): Finding {
  return {
    code: "queue-unknown",
    scheduler,
    kind,
    name,
    reason: `${count} ${users} (${example} first) name ${kind} ${name}, which does not exist: they wait for good.`,
    change: `Create ${kind} ${name}, or let them name one that is there.`,
  };
}
