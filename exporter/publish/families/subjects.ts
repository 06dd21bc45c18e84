import { unknown } from "../../analysis/sums/momentSums.ts";
import { namedEach, namedInAll, type subjectMetrics } from "../../catalogue/subjects.ts";
import { createTupleInterner } from "../../kernel/tupleInterner.ts";
import type { FamilyInput, Producers, Sample } from "../family.ts";

type Moment = NonNullable<FamilyInput["moment"]>;

/** The workloads and nodes that alerts name. */
export const subjectProducers: Producers<keyof typeof subjectMetrics> = {
  fairlead_queue_head_gpus: ({ health: { cluster }, moment }) =>
    moment === null ? [] : largest(headsOf(moment, cluster)),
  fairlead_blocked_workload_gpus: ({ health: { cluster }, moment }) =>
    moment === null ? [] : largestOfEach(blockedOf(moment, cluster), ({ pool, blocker }) => [pool, blocker]),
  fairlead_idle_workload_gpus: ({ health: { cluster }, moment }) =>
    moment === null ? [] : largestOfEach(idleOf(moment, cluster), ({ team, pool }) => [team, pool]),
  fairlead_lost_node_gpus: ({ health: { cluster }, moment }) =>
    moment === null ? [] : largestOfEach(lostNodesOf(moment, cluster), ({ node_pool }) => [node_pool]),
};

/** The first gang of each queue, team and cause, in the order in which the queue serves them; what no queue takes is one queue. */
function headsOf({ analysis: { snapshot, waiting } }: Moment, cluster: string) {
  const { queues, gangs, domains } = snapshot.queueing;
  const causes = new Map(waiting.work.map(({ gang, cause }) => [gang, cause] as const));
  const inOrder = [
    ...queues.flatMap((queue) => queue.gangs.map((gang) => ({ gang, domain: queue.domain }))),
    ...gangs.flatMap(({ parts }, gang) =>
      parts.every((part) => part.queue === null) ? [{ gang, domain: parts[0]?.domain ?? null }] : [],
    ),
  ];
  const heads = createSums<"queue" | "team" | "domain" | "cause" | "namespace" | "workload">();
  for (const { gang: index, domain } of inOrder) {
    const [gang, cause] = [gangs[index], causes.get(index)];
    if (gang === undefined || cause === undefined || gang.gpus === null) continue;
    const { queue, team, namespace, kind, name } = gang;
    const group = { queue: queue ?? "", team, domain: domain === null ? "" : (domains[domain]?.name ?? ""), cause };
    heads.addFirst([...Object.values(group)], {
      labels: { cluster, ...group, namespace, workload: `${kind}/${name}` },
      value: gang.gpus,
    });
  }
  return heads.list();
}

function blockedOf({ analysis: { snapshot, blocked } }: Moment, cluster: string) {
  const sums = createSums<"pool" | "blocker" | "namespace" | "workload">();
  for (const { gang: index, pools, blocker, gpus, isStanding } of blocked.work) {
    const [gang, pool] = [snapshot.queueing.gangs[index], [...pools].sort()[0]];
    if (!isStanding || gang === undefined || pool === undefined) continue;
    const labels = { cluster, pool, blocker, namespace: gang.namespace, workload: `${gang.kind}/${gang.name}` };
    sums.add(Object.values(labels), { labels, value: gpus });
  }
  return sums.list();
}

function idleOf({ analysis: { snapshot, accountingEntries } }: Moment, cluster: string) {
  const sums = createSums<"team" | "pool" | "namespace" | "workload">();
  for (const { pod, pool, state, gpus } of accountingEntries) {
    const view = pod === null || state !== "idle" ? undefined : snapshot.pods[pod];
    const workload = view === undefined ? undefined : snapshot.workloads[view.workload];
    if (view === undefined || workload === undefined) continue;
    const { team, namespace } = view;
    const labels = { cluster, team, pool, namespace, workload: `${workload.kind}/${workload.name}` };
    sums.add(Object.values(labels), { labels, value: gpus });
  }
  return sums.list();
}

function lostNodesOf({ analysis: { snapshot } }: Moment, cluster: string) {
  return snapshot.nodes.flatMap(({ name, nodePool, ready, physicalGpus }) =>
    ready === false && physicalGpus !== null && physicalGpus > 0
      ? [{ labels: { cluster, node_pool: nodePool || unknown, lost_node: name }, value: physicalGpus }]
      : [],
  );
}

/** Samples by what distinguishes them. */
function createSums<Label extends string>() {
  type Own = { readonly labels: Readonly<Record<Label | "cluster", string>>; value: number };
  const keys = createTupleInterner();
  const sums: Own[] = [];
  return {
    add(key: readonly string[], { labels, value }: Own): void {
      const id = keys.idOf(key);
      const known = sums[id];
      if (known === undefined) sums[id] = { labels, value };
      else known.value += value;
    },
    addFirst(key: readonly string[], one: Own): void {
      sums[keys.idOf(key)] ??= one;
    },
    list: (): readonly Own[] => sums,
  };
}

/** The largest of each group, and of these the largest in all. */
function largestOfEach<Label extends string>(
  samples: readonly Sample<Label>[],
  groupOf: (labels: Readonly<Record<Label, string>>) => readonly string[],
): readonly Sample<Label>[] {
  const groups = Map.groupBy(samples, ({ labels }) => groupOf(labels).join("\u0000"));
  return largest([...groups.values()].flatMap((group) => sorted(group).slice(0, namedEach)));
}

const largest = <Label extends string>(samples: readonly Sample<Label>[]): readonly Sample<Label>[] =>
  sorted(samples).slice(0, namedInAll);

/** The largest first; of equals always the same ones, so that a series lasts. */
const sorted = <Label extends string>(samples: readonly Sample<Label>[]): readonly Sample<Label>[] =>
  samples.toSorted((one, other) => other.value - one.value || (nameOf(one) < nameOf(other) ? -1 : 1));

const nameOf = ({ labels }: Sample): string => Object.values(labels).join("\u0000");
