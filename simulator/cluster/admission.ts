import { freeGpusFor } from "../queues/freeGpus.ts";
import { kaiRules } from "../queues/kaiRules.ts";
import { kueueRules } from "../queues/kueueRules.ts";
import { askedGpus } from "../queues/membership.ts";
import type { QueueRules } from "../queues/rules.ts";
import { volcanoRules } from "../queues/volcanoRules.ts";
import { sharesByUse } from "./kaiUse.ts";
import { admit, evict } from "./lifecycle.ts";
import { wantedPods } from "./owners.ts";
import { accepts, isSchedulable } from "./placement.ts";
import { priorityOf } from "./scheduler.ts";
import type { Workload, World } from "./world.ts";

/** Lets every queue system decide once who may go on to the scheduler, and who must give way. */
export function admitWork(world: World): void {
  for (const rules of rulesOf(world)) decide(world, rules);
}

function rulesOf(world: World): readonly QueueRules[] {
  const { kueue, kai, volcano } = world.scenario.queueing;
  const priority = (workload: Workload): number => priorityOf(world, workload) + workload.boost;
  const free = (workload: Workload): number => freeGpusFor(world, workload) - promised(world, workload);
  const rules: QueueRules[] = [];
  if (kueue !== null) rules.push(kueueRules(kueue, priority));
  if (kai !== null) rules.push(kaiRules(kai.queues, priority, free, sharesByUse(world)));
  if (volcano !== null) rules.push(volcanoRules(volcano, priority, free, (workload) => usableGpusFor(world, workload)));
  return rules;
}

/** GPUs of work that was admitted but is not placed yet. */
function promised(world: World, { spec }: Workload): number {
  let gpus = 0;
  for (const pod of world.waiting) {
    const other = pod.workload;
    const isRival = other.admittedAt !== null && other.spec.request.kind === spec.request.kind;
    if (isRival && overlaps(other.spec.models, spec.models)) gpus += askedGpus(other.spec) / other.spec.pods;
  }
  return gpus;
}

function overlaps<Name>(one: readonly Name[], other: readonly Name[]): boolean {
  return one.length === 0 || other.length === 0 || one.some((name) => other.includes(name));
}

function usableGpusFor(world: World, { spec }: Workload): number {
  let gpus = 0;
  for (const node of world.nodes) {
    if (!isSchedulable(node) || !accepts(node.spec.mode, spec.request)) continue;
    gpus += node.physicalGpus.filter((physicalGpu) => physicalGpu.healthy).length;
  }
  return gpus;
}

function decide(world: World, rules: QueueRules): void {
  const passed = new Set<Workload>();
  const blocked = new Set<string>();
  while (admitNext(world, rules, passed, blocked));
}

/** Admits the first that may be, and says whether one was; the order is asked for anew only when something has changed. */
function admitNext(world: World, rules: QueueRules, passed: Set<Workload>, blocked: Set<string>): boolean {
  const all = [...world.workloads].filter((each) => each.system === rules.system && each.endedTime === null);
  const waiting = all.filter((each) => each.admittedAt === null && each.active && wantedPods(each) > 0);
  const running = all.filter((each) => each.admittedAt !== null);
  for (const next of rules.order(waiting, running)) {
    if (passed.has(next) || blocked.has(next.spec.queue ?? "")) continue;
    if (!rules.allows(next, running)) {
      const victims = rules.victims(next, running);
      if (victims.length === 0) {
        next.tried = true;
        passed.add(next);
        if (rules.blocksQueue(next)) blocked.add(next.spec.queue ?? "");
        continue;
      }
      for (const { workload, reason } of victims) {
        evict(world, workload, reason, next);
        // It may come back in a later round, not in the one that threw it out.
        passed.add(workload);
      }
    }
    admit(world, next);
    return true;
  }
  return false;
}
