import type { PodView, Snapshot } from "../../join/snapshot.ts";
import type { Steps } from "../../kernel/steps.ts";
import { instant } from "./order.ts";
import type { PendingRecord } from "./schema.ts";
import { sortInSteps } from "./sortInSteps.ts";

const podsPerStep = 20_000;

/** One record for each gang that waits, and for each workload whose waiting pods are in no gang. */
export function* pendingRecords(snapshot: Snapshot): Steps<readonly PendingRecord[]> {
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
  const records = [...groups.values()].flatMap((pods) => toRecord(snapshot, pods));
  return yield* sortInSteps(records, (record) => [record.since ?? "", record.namespace, record.kind, record.name]);
}

function toRecord(snapshot: Snapshot, pods: readonly PodView[]): PendingRecord[] {
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
      gpus: pods.reduce<number | null>((sum, pod) => (sum === null || pod.gpus === null ? null : sum + pod.gpus), 0),
      pods: pods.length,
      since: instant(since),
      cause: "unknown",
    },
  ];
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
