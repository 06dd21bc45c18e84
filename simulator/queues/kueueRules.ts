import type { Workload } from "../cluster/world.ts";
import { available, borrowed, kueueTree, type ResourceNode, weightedShare } from "./kueueTree.ts";
import { askedGpus } from "./membership.ts";
import { byCheapest, type QueueRules } from "./rules.ts";
import type { ClusterQueueSpec, KueueSpec } from "./spec.ts";

/** The flavor that a workload gets: the first one of its queue whose model its pods accept; `null` if there is none. */
export function flavorOf(spec: KueueSpec, { spec: { queue, models } }: Workload): string | null {
  const quotas = spec.clusterQueues.find((each) => each.name === queue)?.quotas ?? [];
  const accepts = (flavor: string): boolean => {
    const model = spec.flavors.find((each) => each.name === flavor)?.model;
    return model !== undefined && (models.length === 0 || models.includes(model));
  };
  return quotas.find(({ flavor }) => accepts(flavor))?.flavor ?? null;
}

/** Used GPUs of a flavor by ClusterQueue. */
export function usedOf(spec: KueueSpec, flavor: string, running: readonly Workload[]): ReadonlyMap<string, number> {
  const used = new Map<string, number>();
  for (const workload of running) {
    const queue = workload.spec.queue ?? "";
    if (flavorOf(spec, workload) === flavor) used.set(queue, (used.get(queue) ?? 0) + askedGpus(workload.spec));
  }
  return used;
}

/**
 * The rules of Kueue: quota within the cohort tree. With fair sharing, the queue with the lowest weighted share goes first;
 * else work that needs no borrowing goes first, then priority and age decide. A queue below its nominal quota takes it back if
 * its policy says so. `hasPlace`: whether the topology that it asks for has a place now; nothing is preempted for that.
 */
export function kueueRules(
  spec: KueueSpec,
  priorityOf: (workload: Workload) => number,
  hasPlace: (workload: Workload) => boolean = () => true,
): QueueRules {
  const queueOf = (workload: Workload): ClusterQueueSpec | undefined =>
    spec.clusterQueues.find((each) => each.name === workload.spec.queue);

  function nodeOf(workload: Workload, running: readonly Workload[]): ResourceNode | null {
    const flavor = flavorOf(spec, workload);
    if (flavor === null) return null;
    return kueueTree(spec, flavor, usedOf(spec, flavor, running)).get(`queue/${workload.spec.queue}`) ?? null;
  }

  const allows = (workload: Workload, running: readonly Workload[]): boolean => {
    const node = nodeOf(workload, running);
    return node !== null && askedGpus(workload.spec) <= available(node) && hasPlace(workload);
  };

  /**
   * Work that needs no borrowing goes before work that does (pkg/scheduler, classical iterator). Kueue compares the heads of
   * queues: no work overtakes what is before it in its own queue.
   */
  function nominalFirst(ordered: readonly Workload[], running: readonly Workload[]): readonly Workload[] {
    const borrowing = new Set<string>();
    const [first, last]: [Workload[], Workload[]] = [[], []];
    for (const workload of ordered) {
      const node = nodeOf(workload, running);
      const queue = workload.spec.queue ?? "";
      if (node !== null && node.usage + askedGpus(workload.spec) > node.subtree) borrowing.add(queue);
      (borrowing.has(queue) ? last : first).push(workload);
    }
    return [...first, ...last];
  }

  function mayTake(preemptor: Workload, victim: Workload, running: readonly Workload[]): string | null {
    const own = nodeOf(preemptor, running);
    const policy = queueOf(preemptor)?.reclaimWithinCohort ?? "Never";
    if (spec.hasClosedGates === true) return null;
    if (own === null || victim.spec.queue === preemptor.spec.queue || policy === "Never") return null;
    if (flavorOf(spec, victim) !== flavorOf(spec, preemptor)) return null;
    const other = nodeOf(victim, running);
    if (other === null || borrowed(other) === 0) return null;
    if (policy === "LowerPriority" && priorityOf(victim) >= priorityOf(preemptor)) return null;
    const asked = askedGpus(preemptor.spec);
    if (own.usage + asked <= own.subtree) return "InCohortReclamation";
    if (!spec.fairSharing) return null;
    const after = weightedShare({ ...own, usage: own.usage + asked });
    const theirs = weightedShare({ ...other, usage: other.usage - askedGpus(victim.spec) });
    return after <= theirs ? "InCohortFairSharing" : null;
  }

  return {
    system: "kueue",
    allows,
    order: (waiting, running) => {
      const share = (workload: Workload): number => {
        const node = spec.fairSharing ? nodeOf(workload, running) : null;
        return node === null ? 0 : weightedShare({ ...node, usage: node.usage + askedGpus(workload.spec) });
      };
      const shares = new Map(waiting.map((workload) => [workload, share(workload)] as const));
      const of = (workload: Workload): number => shares.get(workload) ?? 0;
      const byAge = (a: Workload, b: Workload): number =>
        priorityOf(b) - priorityOf(a) || a.queuedAt - b.queuedAt || a.serial - b.serial;
      if (!spec.fairSharing) return nominalFirst([...waiting].sort(byAge), running);
      return [...waiting].sort((a, b) => (of(a) === of(b) ? 0 : of(a) - of(b)) || byAge(a, b));
    },
    victims: (workload, running) => {
      // Only other queues of its cohort can owe a queue anything, and without fair sharing no more than its own quota.
      const own = nodeOf(workload, running);
      if (own === null || own.parent === null) return [];
      if (!spec.fairSharing && own.usage + askedGpus(workload.spec) > own.subtree) return [];
      const chosen: { readonly workload: Workload; readonly reason: string }[] = [];
      let left = running;
      for (const victim of [...running].sort(byCheapest(priorityOf))) {
        if (allows(workload, left)) break;
        const reason = mayTake(workload, victim, left);
        if (reason === null) continue;
        chosen.push({ workload: victim, reason });
        left = left.filter((each) => each !== victim);
      }
      return allows(workload, left) ? chosen : [];
    },
    blocksQueue: (workload) => queueOf(workload)?.strategy === "StrictFIFO",
  };
}
