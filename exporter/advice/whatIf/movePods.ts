import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { ClusterCopy } from "./clusterCopy.ts";
import type { Places } from "./places.ts";
import type { Change, PlacementRule } from "./plan.ts";
import { activityOf, bind, chooseShares, demandOf, leave } from "./podHoldings.ts";
import { countInQueue } from "./queueAccounts.ts";
import type { MovedPod } from "./trial.ts";

/** Takes pods off their nodes and places them again, one after the other; a pod that finds no place waits. */
export function movePods(
  copy: ClusterCopy,
  places: Places,
  { pods, avoid }: Extract<Change, { kind: "move" }>,
  rule: PlacementRule,
): readonly MovedPod[] {
  const leaving = pods.flatMap((pod) => {
    const view = copy.pods[pod];
    if (view === undefined || view.status !== "allocated" || view.node === null) return [];
    const from = copy.index.nodeOf(view.node);
    const demand = demandOf(copy, pod);
    const used = activityOf(copy, pod);
    leave(copy, pod, false);
    return [{ pod, from, demand, domain: domainOf(copy, pod), needs: view.needs, used }];
  });
  const avoided = new Set(avoid);
  return leaving.map(({ pod, from, demand, domain, needs, used }): MovedPod => {
    const asked = demand === null || needs === null ? null : { demand, needs, domain, rule, avoid: avoided, pod };
    const node = asked === null ? null : places.find(copy, asked);
    const shares = node === null || demand === null ? null : chooseShares(copy, node, demand, places.isIn(domain));
    if (node === null || shares === null) {
      waitAgain(copy, pod, true);
      return { pod, from, to: null };
    }
    bind(copy, pod, node, shares, used, false);
    return { pod, from, to: node };
  });
}

/** The domain (index) in which a pod must stay: that of its quota; `null` if no queue system has given it any. */
function domainOf(copy: ClusterCopy, pod: number): number | null {
  const queue = copy.queues[copy.queueOf(pod)];
  return queue === undefined || queue.scheduler === "none" ? null : queue.domain;
}

/** Lets a pod without a place wait as the last one in its queue. */
export function waitAgain(copy: ClusterCopy, pod: number, keepsQuota: boolean): void {
  const view = copy.pods[pod];
  const workload = copy.workloads[view?.workload ?? -1];
  if (view === undefined) return;
  const at = copy.analysis.snapshot.at;
  copy.setPod(pod, { ...view, status: "pending", node: null, pendingSince: at, boundAt: null });
  const leaf = copy.queueOf(pod);
  const queue = copy.queues[leaf];
  if (view.needs === null || view.gpus === null) return;
  const gang: WaitingGang = {
    scheduler: queue?.scheduler ?? "none",
    kind: workload?.kind ?? "Pod",
    namespace: view.namespace,
    name: workload?.name ?? view.name,
    uid: view.uid ?? view.name,
    team: view.team,
    queue: view.queue,
    localQueue: workload?.localQueue ?? null,
    priorityClass: view.priorityClass,
    priority: view.priority,
    since: at,
    reservedAt: !keepsQuota || queue === undefined || queue.reserved === null ? null : at,
    bound: Math.max(0, (view.gang?.bound ?? 1) - 1),
    min: view.gang?.min ?? 1,
    pods: 1,
    gpus: view.gpus,
    parts: [
      {
        queue: queue === undefined ? null : leaf,
        domain: queue?.domain ?? null,
        pods: 1,
        createdPods: 1,
        gpusPerPod: view.gpus,
        needs: view.needs,
      },
    ],
    never: null,
    reason: "",
    notReadyPods: 0,
  };
  const index = copy.gangs.length;
  copy.setGang(index, gang);
  if (queue === undefined) return;
  countInQueue(copy, leaf, { team: gang.team, pending: view.gpus });
  const accounted = copy.queues[leaf];
  if (accounted !== undefined) copy.setQueue(leaf, { ...accounted, gangs: [...accounted.gangs, index] });
}
