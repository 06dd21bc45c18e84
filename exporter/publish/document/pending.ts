import type { Analysis } from "../../analysis/analysis.ts";
import type { WaitingWork } from "../../analysis/waiting/waiting.ts";
import type { QuotaDomain, WaitingGang } from "../../join/queues/queueing.ts";
import type { PodView, Snapshot } from "../../join/snapshot.ts";
import type { Steps } from "../../kernel/steps.ts";
import { instant } from "./order.ts";
import type { PendingRecord } from "./schema.ts";
import { sortInSteps } from "./sortInSteps.ts";

const podsPerStep = 20_000;
const gangsPerStep = 2000;

/**
 * One record for each gang that waits, and for each workload whose waiting pods are in no gang: as the queues tell them,
 * with their causes; from the pods alone where nothing is known of queues.
 */
export function* pendingRecords(analysis: Analysis): Steps<readonly PendingRecord[]> {
  const { gangs } = analysis.snapshot.queueing;
  const records = gangs.length > 0 ? yield* fromGangs(analysis) : yield* fromPods(analysis.snapshot);
  return yield* sortInSteps(records, (record) => [record.since ?? "", record.namespace, record.kind, record.name]);
}

function* fromGangs({ snapshot, waiting }: Analysis): Steps<PendingRecord[]> {
  const { gangs, domains } = snapshot.queueing;
  const work = new Map(waiting.work.map((one) => [one.gang, one] as const));
  const records: PendingRecord[] = [];
  for (const [index, gang] of gangs.entries()) {
    if (index % gangsPerStep === 0) yield;
    records.push(gangRecord(gang, work.get(index) ?? null, domains, snapshot.at));
  }
  return records;
}

function gangRecord(
  gang: WaitingGang,
  work: WaitingWork | null,
  domains: readonly QuotaDomain[],
  at: number,
): PendingRecord {
  const names = new Set<string>();
  for (const { domain } of gang.parts) {
    const name = domain === null ? undefined : domains[domain]?.name;
    if (name !== undefined) names.add(name);
  }
  return {
    namespace: gang.namespace,
    kind: gang.kind,
    name: gang.name,
    team: gang.team,
    queue: gang.queue,
    localQueue: gang.localQueue,
    priorityClass: gang.priorityClass,
    domains: [...names].sort(),
    gpus: gang.gpus,
    pods: gang.pods,
    bound: gang.bound,
    min: gang.min,
    since: instant(gang.since),
    ageSeconds: work?.ageSeconds ?? ageOf(gang.since, at),
    reservedAt: instant(gang.reservedAt),
    cause: work?.cause ?? "unknown",
    late: work?.isLate ?? null,
    reason: gang.reason,
    never: gang.never,
  };
}

function* fromPods(snapshot: Snapshot): Steps<PendingRecord[]> {
  const groups = new Map<string, PodView[]>();
  for (const [i, pod] of snapshot.pods.entries()) {
    if (i % podsPerStep === 0) yield;
    if (pod.status !== "pending") continue;
    const key = pod.gang === null ? `workload ${pod.workload}` : `gang ${pod.gang.id}`;
    const group = groups.get(key) ?? [];
    group.push(pod);
    groups.set(key, group);
  }
  yield;
  return [...groups.values()].flatMap((pods) => podsRecord(snapshot, pods));
}

function podsRecord(snapshot: Snapshot, pods: readonly PodView[]): PendingRecord[] {
  const [first] = pods;
  if (first === undefined) return [];
  const workload = snapshot.workloads[first.workload];
  const since = pods.reduce<number | null>((oldest, pod) => earlier(oldest, pod.pendingSince ?? pod.createdAt), null);
  return [
    {
      namespace: first.namespace,
      kind: workload?.kind ?? "Pod",
      name: workload?.name ?? first.name,
      team: first.team,
      queue: first.queue,
      localQueue: null,
      priorityClass: first.priorityClass,
      domains: [],
      gpus: pods.reduce<number | null>((sum, pod) => (sum === null || pod.gpus === null ? null : sum + pod.gpus), 0),
      pods: pods.length,
      bound: first.gang?.bound ?? null,
      min: first.gang?.min ?? null,
      since: instant(since),
      ageSeconds: ageOf(since, snapshot.at),
      reservedAt: null,
      cause: "unknown",
      late: null,
      reason: "",
      never: null,
    },
  ];
}

function ageOf(since: number | null, at: number): number | null {
  return since === null ? null : Math.max(0, at - since);
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
