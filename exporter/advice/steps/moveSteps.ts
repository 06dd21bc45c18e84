import type { NodeView, PodView, Snapshot } from "../../join/snapshot.ts";
import type { AdviceStep } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";
import { cordonStep, uncordonStep } from "./nodeSteps.ts";
import { allSteps, noSteps, type StepsFound } from "./step.ts";
import { evictionStep, requeueWorkload } from "./workloadSteps.ts";

/** Controllers that make a new pod for an evicted one, and do not count the eviction as a failure. */
export const remakes: ReadonlySet<string> = new Set(["ReplicaSet", "StatefulSet", "ReplicationController"]);

/**
 * Moves pods off their nodes to others: cordons the nodes that they are to avoid, evicts each pod (or restarts its whole
 * workload, if nothing recreates evicted pods), and removes the cordons again. The owner of the pods must recreate them. The
 * scheduler chooses where the new pods go: cordons only exclude nodes. Nodes in `avoid` (indices) are cordoned all the time,
 * and those in `besides` only while the unit at the same place in the list leaves.
 */
export function movePods(
  moment: AdviceMoment,
  units: readonly (readonly number[])[],
  avoid: readonly number[],
  besides: readonly (readonly number[])[] = [],
): StepsFound {
  const { snapshot } = moment.analysis;
  const cordoned = cordonable(snapshot, avoid);
  const between = units.map((_, i) => cordonable(snapshot, besides[i] ?? []));
  if (cordoned === null || between.includes(null)) return noSteps("a node to be left is not known to the API");
  const moved = unitSteps(moment, units, (i) => between[i] ?? []);
  if (typeof moved === "string") return noSteps(moved);
  const why = " while pods leave it (they must go elsewhere; the scheduler chooses where)";
  return allSteps([
    ...cordoned.map((node) => cordonStep(node, why)),
    ...moved,
    ...cordoned.map((node) => uncordonStep(node)),
  ]);
}

/** Those of the nodes (indices) that are not cordoned yet; `null` if one of them does not exist in the API. */
function cordonable({ nodes }: Snapshot, indexes: readonly number[]): readonly NodeView[] | null {
  const found: NodeView[] = [];
  for (const index of new Set(indexes)) {
    const node = nodes[index];
    if (node === undefined || node.schedulable === null) return null;
    if (node.schedulable) found.push(node);
  }
  return found;
}

/** The steps of each unit in order, between the cordons of the unit; or the reason why one of the units cannot be moved. */
function unitSteps(
  moment: AdviceMoment,
  units: readonly (readonly number[])[],
  besides: (unit: number) => readonly NodeView[],
): readonly (AdviceStep | null)[] | string {
  const { snapshot } = moment.analysis;
  const planned = new Set(units.flat());
  const restarted = new Set<number>();
  const steps: (AdviceStep | null)[] = [];
  for (const [i, unit] of units.entries()) {
    const others = besides(i);
    steps.push(...others.map((node) => cordonStep(node, " while the next pod is placed (it must go elsewhere)")));
    for (const index of unit) {
      const pod = snapshot.pods[index];
      if (pod === undefined || pod.node === null) return "a pod to be moved is not on a node any more";
      if (restarted.has(pod.workload)) continue;
      if (remakes.has(pod.owner?.kind ?? "")) {
        steps.push(eviction(pod, index === unit.at(-1)));
        continue;
      }
      const requeued = requeueWorkload(moment, pod.workload);
      if (!requeued.ok) return requeued.reason;
      const staying = allocatedBeside(snapshot, pod.workload, planned);
      if (staying > 0)
        return `it stops all of ${nameOf(snapshot, pod.workload)}, and ${staying} of its pods need not move`;
      restarted.add(pod.workload);
      steps.push(...requeued.steps);
    }
    steps.push(...others.map((node) => uncordonStep(node)));
  }
  return steps;
}

/** The pods of one unit run together: only after the last of them is evicted is there something to wait for. */
function eviction(pod: PodView, isLast: boolean): AdviceStep | null {
  const owner = pod.owner === null ? "its owner" : `${pod.owner.kind} ${pod.owner.name}`;
  return evictionStep(pod, {
    title: `Evict pod ${pod.namespace}/${pod.name} from node ${pod.node ?? ""}`,
    waitFor: isLast
      ? `A new pod of ${owner} runs on another node. The scheduler chooses which: steering is advisory.`
      : null,
  });
}

/** How many pods of a workload hold GPUs and are not to be moved. */
function allocatedBeside({ workloads, pods }: Snapshot, workload: number, planned: ReadonlySet<number>): number {
  const own = workloads[workload]?.pods ?? [];
  return own.filter((index) => pods[index]?.status === "allocated" && !planned.has(index)).length;
}

function nameOf({ workloads }: Snapshot, workload: number): string {
  const found = workloads[workload];
  return found === undefined ? "its workload" : `${found.kind} ${found.namespace}/${found.name}`;
}
