import { compareText } from "../../kernel/compareText.ts";
import { noPriorityClass } from "../podViews.ts";
import type { DispatchedGang, DispatchedWork } from "./gangFacts.ts";
import type { QueueingInput, WorkloadsByOwner } from "./queueingInput.ts";
import { gpusOf } from "./resourceGpus.ts";

/** Work that queue systems have sent to other clusters, by namespace, name and uid. */
export function dispatchedWork(
  { systems, pools, teamOf }: Pick<QueueingInput, "systems" | "pools" | "teamOf">,
  workloadsIn: WorkloadsByOwner,
): readonly DispatchedWork[] {
  const gangs = systems.flatMap(({ dispatched = [] }) => dispatched);
  const work = gangs.map((gang: DispatchedGang): DispatchedWork => {
    const workload = gang.ownerUids
      .map((uid) => workloadsIn(gang.namespace)?.get(uid))
      .find((found) => found !== undefined);
    const queue = gang.queue === "" ? null : gang.queue;
    return {
      scheduler: gang.scheduler,
      kind: workload?.kind ?? gang.ownerKind ?? gang.kind,
      namespace: gang.namespace,
      name: workload?.name ?? gang.ownerName ?? gang.name,
      uid: gang.uid,
      team: workload?.team ?? teamOf(gang.namespace, queue),
      queue,
      localQueue: gang.localQueue,
      priorityClass: gang.priorityClass ?? noPriorityClass,
      cluster: gang.cluster,
      since: gang.since,
      pods: gang.pods,
      gpus: gpusOf(gang.requests, pools),
    };
  });
  return work.sort(
    (a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name) || compareText(a.uid, b.uid),
  );
}
