import type { Queueing, QueueView, QuotaDomain, WaitingGang } from "../../../exporter/join/queues/queueing.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { gangView, queueView, quotaDomain } from "../../queues/queueView.ts";

/** What a test says about a queue; allocated and pending of inner ones are added up. */
export interface QueueInput extends Partial<Omit<QueueView, "parent" | "children" | "gangs" | "teams">> {
  readonly name: string;
  /** Name of its parent, in the same domain. */
  readonly parent?: string;
  /** Sizes of waiting gangs, in order; together the pending GPUs. */
  readonly waiting?: readonly number[];
  readonly teams?: QueueView["teams"];
}

/** A gang of pods with one GPU each that waits in one queue. */
export function waitingGang(queue: number, gpus: number, change: Partial<WaitingGang> = {}): WaitingGang {
  const needs = podNeeds({ "nvidia.com/gpu": 1 });
  return gangView({
    ...{ namespace: "n", name: `wait-${queue}`, uid: `${queue}`, team: "t", gpus },
    parts: [{ queue, domain: 0, pods: 1, createdPods: 1, gpusPerPod: gpus, needs }],
    ...change,
  });
}

/** A moment of queues, parents first, as the join would hand it on. */
export function queueing(inputs: readonly QueueInput[], domains: readonly QuotaDomain[] = [quotaDomain()]): Queueing {
  const gangs: WaitingGang[] = [];
  const sums = inputs.map((input) => ({ allocated: 0, pending: 0, allocatedOnUnschedulable: 0, input }));
  const parents = inputs.map(({ parent, domain }) => {
    const found = inputs.findIndex((other) => other.name === parent && (other.domain ?? 0) === (domain ?? 0));
    return found < 0 ? null : found;
  });
  for (let i = inputs.length - 1; i >= 0; i--) {
    const input = inputs[i];
    const sum = sums[i];
    if (input === undefined || sum === undefined) continue;
    sum.allocated += input.allocated ?? 0;
    sum.allocatedOnUnschedulable += input.allocatedOnUnschedulable ?? 0;
    sum.pending += input.pending ?? (input.waiting ?? []).reduce((a, b) => a + b, 0);
    const above = sums[parents[i] ?? -1];
    if (above === undefined) continue;
    above.allocated += sum.allocated;
    above.pending += sum.pending;
    above.allocatedOnUnschedulable += sum.allocatedOnUnschedulable;
  }
  const queues = inputs.map((input, i): QueueView => {
    const children = parents.flatMap((parent, child) => (parent === i ? [child] : []));
    const { allocated = 0, pending = 0, allocatedOnUnschedulable = 0 } = sums[i] ?? {};
    const isLeaf = children.length === 0;
    const ownGangs = (input.waiting ?? []).map((gpus) => gangs.push(waitingGang(i, gpus)) - 1);
    return queueView({
      kind: isLeaf ? "ClusterQueue" : "Cohort",
      ...input,
      teams: input.teams ?? (isLeaf ? [{ team: input.name, allocated, pending }] : []),
      parent: parents[i] ?? null,
      children,
      isLeaf,
      allocated,
      pending,
      allocatedOnUnschedulable,
      gangs: ownGangs,
    });
  });
  // What its leaves hold on nodes that take no pods, unless a test says otherwise.
  const all = domains.map((domain, i) => {
    const allocated = queues.reduce(
      (sum, queue) => sum + (queue.isLeaf && queue.domain === i ? queue.allocatedOnUnschedulable : 0),
      0,
    );
    return { ...domain, allocatedOnUnschedulable: Math.max(domain.allocatedOnUnschedulable, allocated) };
  });
  return { domains: all, queues, gangs, queueOfPod: new Int32Array(0), started: [], evicted: [] };
}
