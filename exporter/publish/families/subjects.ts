import { unknown } from "../../analysis/sums/momentSums.ts";
import { namedEach, namedInAll, type subjectMetrics } from "../../catalogue/subjects.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { combined } from "./combined.ts";

type Moment = NonNullable<FamilyInput["moment"]>;

/** A subject, and how many GPUs it is about. */
interface Subject<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** The workloads and nodes that alerts name. */
export const subjectProducers: Producers<keyof typeof subjectMetrics> = {
  fairlead_queue_head_gpus: ({ moment }) => moment && largest(headsOf(moment)),
  fairlead_blocked_workload_gpus: ({ moment }) =>
    moment && largestOfEach(blockedOf(moment), ({ pool, blocker }) => [pool, blocker]),
  fairlead_idle_workload_gpus: ({ moment }) =>
    moment && largestOfEach(idleOf(moment), ({ team, pool }) => [team, pool]),
  fairlead_sick_gpu_gpus: ({ moment }) =>
    moment && largestOfEach(sickOf(moment), ({ node_pool, tier }) => [node_pool, tier]),
  fairlead_lost_node_gpus: ({ moment }) => moment && largestOfEach(lostNodesOf(moment), ({ node_pool }) => [node_pool]),
};

/**
 * The first gang of each queue, team and cause, in the order in which the queue serves them; gangs that no queue takes count as
 * those of one queue.
 */
function headsOf({ analysis: { snapshot, waiting } }: Moment) {
  const { queues, gangs, domains } = snapshot.queueing;
  const causes = new Map(waiting.work.map(({ gang, cause }) => [gang, cause] as const));
  const inOrder = [
    ...queues.flatMap((queue) => queue.gangs.map((gang) => ({ gang, domain: queue.domain }))),
    ...gangs.flatMap(({ parts }, gang) =>
      parts.every((part) => part.queue === null) ? [{ gang, domain: parts[0]?.domain ?? null }] : [],
    ),
  ];
  const heads = new Map<string, Subject<"queue" | "team" | "domain" | "cause" | "namespace" | "workload">>();
  for (const { gang: index, domain } of inOrder) {
    const [gang, cause] = [gangs[index], causes.get(index)];
    if (gang === undefined || cause === undefined || gang.gpus === null) continue;
    const { queue, team, namespace, kind, name, gpus } = gang;
    const group = { queue: queue ?? "", team, domain: domain === null ? "" : (domains[domain]?.name ?? ""), cause };
    const key = Object.values(group).join("\u0000");
    if (!heads.has(key)) heads.set(key, { labels: { ...group, namespace, workload: `${kind}/${name}` }, value: gpus });
  }
  return [...heads.values()];
}

function blockedOf({ analysis: { snapshot, blocked } }: Moment) {
  const found = blocked.work.flatMap(({ gang: index, pools, blocker, gpus, isStanding }) => {
    const [gang, pool] = [snapshot.queueing.gangs[index], [...pools].sort()[0]];
    if (!isStanding || gang === undefined || pool === undefined) return [];
    const labels = { pool, blocker, namespace: gang.namespace, workload: `${gang.kind}/${gang.name}` };
    return [{ labels, value: gpus }];
  });
  return combined(found);
}

function idleOf({ analysis: { snapshot, accountingEntries } }: Moment) {
  const idle = accountingEntries.inState("idle");
  const found = idle.flatMap(({ pod, pool, gpus }) => {
    const view = pod === null ? undefined : snapshot.pods[pod];
    const workload = view === undefined ? undefined : snapshot.workloads[view.workload];
    if (view === undefined || workload === undefined) return [];
    const { team, namespace } = view;
    return [{ labels: { team, pool, namespace, workload: `${workload.kind}/${workload.name}` }, value: gpus }];
  });
  return combined(found);
}

function lostNodesOf({ analysis: { snapshot } }: Moment) {
  return snapshot.nodes.flatMap(({ name, nodePool, ready, physicalGpus }) =>
    ready === false && physicalGpus !== null && physicalGpus > 0
      ? [{ labels: { node_pool: nodePool || unknown, lost_node: name }, value: physicalGpus }]
      : [],
  );
}

function sickOf({ sums }: Moment) {
  return combined(
    sums.sick.map(({ nodePool, node, uuid, tier, cause, gpus }) => ({
      labels: { node_pool: nodePool || unknown, sick_node: node, gpu: uuid ?? unknown, tier, cause },
      value: gpus,
    })),
  );
}

/** The largest sample of each group; if these are too many, only the largest. */
function largestOfEach<Label extends string>(
  samples: readonly Subject<Label>[],
  groupOf: (labels: Readonly<Record<Label, string>>) => readonly string[],
): readonly Subject<Label>[] {
  const groups = Map.groupBy(samples, ({ labels }) => groupOf(labels).join("\u0000"));
  return largest([...groups.values()].flatMap((group) => sorted(group).slice(0, namedEach)));
}

const largest = <Label extends string>(samples: readonly Subject<Label>[]): readonly Subject<Label>[] =>
  sorted(samples).slice(0, namedInAll);

/** Sorts samples, the largest first. Equal ones always have the same order, so that a series lasts. */
const sorted = <Label extends string>(samples: readonly Subject<Label>[]): readonly Subject<Label>[] =>
  samples.toSorted((one, other) => other.value - one.value || (nameOf(one) < nameOf(other) ? -1 : 1));

const nameOf = ({ labels }: Subject<string>): string => Object.values(labels).join("\u0000");
