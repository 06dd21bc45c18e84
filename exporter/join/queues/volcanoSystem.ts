import type { PriorityClass } from "../../model/cluster.ts";
import type { Pod } from "../../model/pod.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { classPriority } from "./classPriority.ts";
import { gangsByNamespace } from "./namespaceGangs.ts";
import { podsByGroup } from "./podsByGroup.ts";
import type { PoolFacts, QueueSystem } from "./queueSystem.ts";
import { volcanoDefaultQueue, volcanoGroupKey } from "./volcanoFinder.ts";
import { volcanoGangs } from "./volcanoGangs.ts";
import { volcanoQueues } from "./volcanoQueues.ts";
import { volcanoTree } from "./volcanoTree.ts";

/** The input for finding the queues of Volcano. */
export interface VolcanoInput {
  readonly objects: Pick<QueueObjects, "volcanoQueues" | "volcanoPodGroups">;
  readonly pools: readonly PoolFacts[];
  readonly priorityClasses: readonly PriorityClass[];
  /** Pods that hold or ask for GPUs, of whatever scheduler. */
  readonly pods: readonly Pod[];
  /** Whether any of these pods is in a queue of Volcano. */
  readonly hasPods: boolean;
}

/**
 * Volcano: queues whose amounts count over all pools. An installation creates the queues `root` and `default` by itself, so
 * that these alone, without work, do not mean that it is used.
 */
export function volcanoSystem(
  input: VolcanoInput,
  plugin: "proportion" | "capacity",
  surplus: "equal" | "weight",
): QueueSystem {
  const { objects, pools } = input;
  const tree = volcanoTree(objects.volcanoQueues, plugin);
  const leaves = new Set(tree.entries.filter(({ isLeaf }) => isLeaf).map(({ name }) => name));
  const takesWork = (name: string) => {
    const state = tree.queues.get(name)?.state ?? null;
    return tree.queues.has(name) && leaves.has(name) && (state === null || state === "Open");
  };
  const podsOf = podsByGroup(objects.volcanoPodGroups, input.pods, volcanoGroupKey);
  const gangs = volcanoGangs(
    objects.volcanoPodGroups,
    takesWork,
    pools,
    ({ namespace, name }) => podsOf.has(`${namespace}/${name}`),
    classPriority(input.priorityClasses, 0),
  );
  const isDeclared = [...tree.queues.keys()].some((name) => name !== volcanoDefaultQueue);
  return {
    scheduler: "volcano",
    isInUse: isDeclared || gangs.length > 0 || input.hasPods,
    scopes: [{ name: "", covers: () => true }],
    queuesIn: (domain) =>
      domain.scopes.has("") ? volcanoQueues(tree, { plugin, surplus }, domain.pools, domain.capacity) : [],
    gangs: gangsByNamespace(gangs),
    leafOf: null,
    problems: tree.problems,
  };
}
