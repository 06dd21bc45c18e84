import type { PodView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import type { Candidate } from "../candidate.ts";
import { askGuards, type GuardAnswer } from "../guards/guards.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import type { TakenSign } from "../offer.ts";
import type { FreedGpus } from "./gangsToStart.ts";

/** A pod of a workload that holds GPUs and that can be recognised again later. */
export interface AllocatedPod {
  readonly index: number;
  readonly pod: PodView;
  readonly uid: string;
  readonly node: string;
}

/** The pods of a workload that hold GPUs; `null` if one of them cannot be recognised again. */
export function allocatedPods({ pods }: Snapshot, workload: WorkloadView): readonly AllocatedPod[] | null {
  const found: AllocatedPod[] = [];
  for (const index of workload.pods) {
    const pod = pods[index];
    if (pod?.status !== "allocated") continue;
    if (pod.uid === null || pod.node === null) return null;
    found.push({ index, pod, uid: pod.uid, node: pod.node });
  }
  return found;
}

/** Whether any pod of a workload waits for GPUs: the workload is about to use more. */
export const hasWaitingPods = ({ pods }: Snapshot, workload: WorkloadView): boolean =>
  workload.pods.some((index) => pods[index]?.status === "pending");

/** What a team releases of its own holdings. */
export interface OwnGpus extends FreedGpus {
  readonly byNode: ReadonlyMap<string, number>;
  /** Canonical name of the pool of these GPUs; `GPUs` if they are in several pools. */
  readonly words: string;
  /** The pool for the label; empty if the GPUs are in several pools. */
  readonly pool: string;
}

/** The GPUs that pods hold, of which they release this part (`part`, 0..1). */
export function ownGpus({ analysis }: AdviceMoment, allocated: readonly AllocatedPod[], part = 1): OwnGpus {
  const { devices, queueing } = analysis.snapshot;
  const { node: nodeCalled } = momentIndex(analysis);
  const byPool = new Map<string, number>();
  const byNode = new Map<string, number>();
  const indices = new Set(allocated.map(({ index }) => index));
  for (const name of new Set(allocated.map(({ node }) => node))) {
    for (const index of nodeCalled(name)?.devices ?? []) {
      const device = devices[index];
      for (const { pod, share } of device?.holders ?? []) {
        if (device === undefined || !indices.has(pod)) continue;
        byPool.set(device.pool, (byPool.get(device.pool) ?? 0) + share * part);
        byNode.set(name, (byNode.get(name) ?? 0) + share * part);
      }
    }
  }
  const queues = new Set(allocated.map(({ index }) => queueing.queueOfPod[index] ?? -1).filter((queue) => queue >= 0));
  const [pool = ""] = byPool.keys();
  return { byPool, byNode, queues, pool: byPool.size === 1 ? pool : "", words: byPool.size === 1 ? pool : "GPUs" };
}

/** The parts of a candidate that are the same for every kind of advice about one workload of a team. */
export const ofWorkload = (
  workload: WorkloadView,
  own: OwnGpus,
): Pick<Candidate, "beneficiary" | "targets" | "fromTeam" | "forTeam" | "queue" | "pool"> => ({
  beneficiary: { kind: "team", name: workload.team },
  targets: [`${workload.kind} ${fullName(workload)}`],
  fromTeam: workload.team,
  forTeam: "",
  queue: workload.queue ?? "",
  pool: own.pool,
});

/** The sign that all of these pods have left their nodes. */
export const leftSignOf = (allocated: readonly AllocatedPod[]): TakenSign => ({
  kind: "pods-left",
  pods: allocated.map(({ uid, node }) => ({ uid, node })),
});

/** Asks the guards whether a team may be asked to release what its own pods hold. */
export const askRelease = (moment: AdviceMoment, allocated: readonly AllocatedPod[]): GuardAnswer =>
  askGuards(moment, { pods: allocated.map(({ index }) => index), how: "release", beneficiary: null });

/** The first objection of the guards, as a sentence; `null` if there is none. */
export function vetoWords({ vetoes }: GuardAnswer): string | null {
  const [first] = vetoes;
  if (first === undefined) return null;
  return vetoes.length === 1 ? first.reason : `${first.reason}, and ${vetoes.length - 1} more`;
}
