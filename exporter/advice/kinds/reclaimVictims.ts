import type { Analysis } from "../../analysis/analysis.ts";
import type { StarvedBorrower } from "../../analysis/fairness/fairness.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import { isOnUnknownDevice } from "../../join/unknownDevice.ts";
import { firstInOrder } from "../../kernel/firstInOrder.ts";
import type { AdviceStep } from "../../model/recommendation.ts";
import { type DisruptionUnit, disruptionUnits } from "../disruptionUnits.ts";
import { askGuards, type GuardAnswer, type GuardQuestion } from "../guards/guards.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { requeueWorkload, stopWorkload } from "../steps/workloadSteps.ts";
import type { WaitingFor } from "./waitingFor.ts";

/** A workload that could give back what its queue borrows. */
export interface Victim {
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  readonly view: WorkloadView;
  /** Index into `Queueing.queues`. */
  readonly queue: number;
  /** Indices of all of its pods that hold GPUs. */
  readonly pods: readonly number[];
  readonly gpus: number;
  readonly lostGpuHours: number;
  readonly isUpperBound: boolean;
  /** When its newest pod was bound; 0 if that is not known. */
  readonly startedAt: number;
  readonly by: "requeue" | "scale";
  readonly steps: readonly AdviceStep[];
}

/** A workload that may not be taken, and why. */
export interface Refusal {
  readonly name: string;
  readonly gpus: number;
  readonly lostGpuHours: number;
  readonly reason: string;
}

/** The workloads from which the starved queue could get its GPUs: the cheapest first, and of equal cost the newest first. */
export interface Victims {
  readonly allowed: readonly Victim[];
  readonly refused: readonly Refusal[];
}

/** The question to the guards about pods that give back what they hold. */
export function questionFor(
  { queue, priority, gpus }: WaitingFor,
  pods: readonly number[],
  by: Victim["by"],
): GuardQuestion {
  return { pods, how: "lose", by, beneficiary: { priority, queue, gpus } };
}

/** The most workloads about which every guard is asked. */
const mostLooked = 150;
/** When this many of the cheapest workloads may be taken, the guards are asked about no more. */
const mostAllowed = 40;
/** The most workloads with unknown devices, which must not be taken, that are named. */
const mostUnsure = 20;
/** The most single nodes that are considered in addition: those that are cheapest to empty. */
const mostNodes = 15;
/**
 * The trials in one cycle for all starved queues together. Each search may use half of what is left, so that the first queues,
 * to which most is owed, may use the most.
 */
const trialsPerCycle = 160;

/** What is looked up only once for all starved queues of a moment. */
export interface VictimSearch {
  /** Workloads that are completely in one queue, those with the least loss first. */
  readonly drafts: readonly Draft[];
  /** Workloads (indices) that are in a plan already: the same GPUs are not given to two gangs. */
  readonly taken: Set<number>;
  /** Trials that are left for this cycle: each is a simulation of the cluster. */
  readonly trials: { left: number };
  /** How each workload would leave, by its index, as far as this was computed. */
  readonly ways: Map<number, Way>;
  /** The most promising workloads of borrowers, by the borrowers and the number of workloads that are taken. */
  readonly likeliest: Map<string, Likeliest>;
}

/** The workloads about which guards are asked. */
interface Likeliest {
  /** The cheapest workloads. */
  readonly cheapest: readonly Draft[];
  /** The other workloads on the nodes that are cheapest to empty, and some that must not be taken, so that they are named. */
  readonly others: readonly Draft[];
}

/** Prepares the search: finds the workloads that may come into question at all. */
export function searchVictims(moment: AdviceMoment): VictimSearch {
  const found: Draft[] = [];
  const byWorkload = Map.groupBy(disruptionUnits(moment), ({ workload }) => workload);
  for (const [workload, own] of byWorkload) {
    const draft = draftOf(moment, workload, own);
    if (draft !== null) found.push(draft);
  }
  // Of all workloads only the few that are looked at are put into the whole order.
  const drafts = found.sort((a, b) => a.lostGpuHours - b.lostGpuHours);
  return { drafts, taken: new Set(), trials: { left: trialsPerCycle }, ways: new Map(), likeliest: new Map() };
}

/** The workloads that may be taken from the queues with which a starved queue is paired, and those that may not. */
export function findVictims(
  moment: AdviceMoment,
  wanted: WaitingFor,
  pairs: readonly StarvedBorrower[],
  search: VictimSearch,
): Victims {
  const { cheapest, others } = likeliestOf(moment, pairs, search);
  const allowed: Victim[] = [];
  const refused: Refusal[] = [];
  let looks = 0;
  for (const draft of [...cheapest, ...others]) {
    if (allowed.length >= mostAllowed && looks < cheapest.length) {
      looks += 1;
      continue;
    }
    looks += 1;
    const { view, gpus, lostGpuHours } = draft;
    const refuse = (reason: string) => refused.push({ name: fullName(view), gpus, lostGpuHours, reason });
    const way = search.ways.get(draft.workload) ?? wayOf(moment, draft.workload);
    search.ways.set(draft.workload, way);
    if (way.steps === null) {
      refuse(way.reason);
      continue;
    }
    const answer = askGuards(moment, questionFor(wanted, draft.pods, way.by));
    if (answer.vetoes.length > 0) refuse(firstVeto(answer));
    else allowed.push({ ...draft, by: way.by, steps: way.steps });
  }
  return { allowed: allowed.sort(cheapestFirst(moment)), refused: refused.sort(cheapestRefusal) };
}

/** A victim before guards are asked. */
type Draft = Omit<Victim, "by" | "steps">;

/** The most promising workloads of some borrowers, without those that are taken already. */
function likeliestOf(
  moment: AdviceMoment,
  pairs: readonly StarvedBorrower[],
  { drafts, taken, likeliest: known }: VictimSearch,
): Likeliest {
  const borrowers = new Set(pairs.map(({ borrower }) => borrower));
  const key = `${taken.size} ${[...borrowers].sort((a, b) => a - b).join()}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const own = drafts.filter(({ workload, queue }) => borrowers.has(queue) && !taken.has(workload));
  const sure: Draft[] = [];
  const unsure: Draft[] = [];
  for (const draft of own) {
    const isSure = draft.pods.every((pod) => !isOnUnknownDevices(moment.analysis, pod));
    (isSure ? sure : unsure).push(draft);
  }
  const { cheapest, others } = likeliest(moment, sure);
  const named = firstInOrder(unsure, mostUnsure, cheapestFirst(moment));
  const found: Likeliest = { cheapest, others: [...others, ...named] };
  known.set(key, found);
  return found;
}

/** Whether the devices of a pod are not known. */
function isOnUnknownDevices(analysis: Analysis, pod: number): boolean {
  const { devices } = analysis.snapshot;
  return momentIndex(analysis)
    .devicesOf(pod)
    .some(
      (device) => devices[device]?.holders.some((holder) => holder.pod === pod && isOnUnknownDevice(holder)) === true,
    );
}

/**
 * Of workloads in the order of their loss, if they are many: the cheapest, and the others on the nodes that are cheapest to
 * empty.
 */
function likeliest(moment: AdviceMoment, sorted: readonly Draft[]): Likeliest {
  const { analysis } = moment;
  const inOrder = cheapestFirst(moment);
  const first = new Set(firstInOrder(sorted, mostLooked, inOrder));
  if (sorted.length <= mostLooked) return { cheapest: [...first], others: [] };
  const { pods } = analysis.snapshot;
  const { nodes } = momentOrder(analysis);
  const { nodeOf } = momentIndex(analysis);
  const indexOf = (name: string): number => nodeOf(name) ?? -1;
  const byNode = new Map<string, { readonly drafts: Draft[]; lost: number }>();
  for (const draft of sorted) {
    for (const node of new Set(draft.pods.map((pod) => pods[pod]?.node ?? ""))) {
      const there = byNode.get(node) ?? { drafts: [], lost: 0 };
      there.drafts.push(draft);
      there.lost += draft.lostGpuHours;
      byNode.set(node, there);
    }
  }
  const cheapest = firstInOrder(
    byNode,
    mostNodes,
    ([a, one], [b, other]) => one.lost - other.lost || nodes(indexOf(a), indexOf(b)),
  );
  const onNodes = new Set(cheapest.flatMap(([, there]) => firstInOrder(there.drafts, mostLooked, inOrder)));
  return { cheapest: [...first], others: [...onNodes].filter((draft) => !first.has(draft)) };
}

/** The reason of the first objection; empty if there is none. */
const firstVeto = ({ vetoes }: GuardAnswer): string => vetoes[0]?.reason ?? "";

/** The draft of a workload if all of it is in one queue. */
function draftOf({ analysis }: AdviceMoment, workload: number, units: readonly DisruptionUnit[]): Draft | null {
  const { workloads, pods, queueing } = analysis.snapshot;
  const view = workloads[workload];
  const queue = queueing.queueOfPod[units[0]?.pods[0] ?? -1] ?? -1;
  if (view === undefined || queue < 0) return null;
  const taken = units.flatMap((unit) => unit.pods);
  // A workload is left alone if it is only partly known, partly in another queue, or in a gang with other workloads.
  let allocated = 0;
  for (const pod of view.pods) if (pods[pod]?.status === "allocated") allocated += 1;
  if (allocated !== taken.length) return null;
  for (const pod of taken) if (queueing.queueOfPod[pod] !== queue || pods[pod]?.workload !== workload) return null;
  const gpus = units.reduce((sum, unit) => sum + unit.gpus, 0);
  if (gpus <= 0) return null;
  return {
    workload,
    view,
    queue,
    gpus,
    pods: taken.sort((a, b) => a - b),
    lostGpuHours: units.reduce((sum, unit) => sum + unit.lostGpuHours, 0),
    isUpperBound: units.some((unit) => unit.isUpperBound),
    startedAt: taken.reduce((newest, pod) => Math.max(newest, pods[pod]?.boundAt ?? 0), 0),
  };
}

type Way =
  | { readonly steps: readonly AdviceStep[]; readonly by: Victim["by"] }
  | { readonly steps: null; readonly reason: string };

/**
 * How a workload leaves: it goes back into its queue if its scheduler supports that; otherwise it is stopped until someone
 * starts it again.
 */
function wayOf(moment: AdviceMoment, workload: number): Way {
  const requeued = requeueWorkload(moment, workload);
  if (requeued.ok) return { by: "requeue", steps: requeued.steps };
  const stopped = stopWorkload(moment, workload);
  return stopped.ok ? { by: "scale", steps: stopped.steps } : { steps: null, reason: stopped.reason };
}

function cheapestFirst({ analysis }: AdviceMoment): (a: Draft, b: Draft) => number {
  const byWorkload = momentOrder(analysis).workloads;
  return (a, b) => a.lostGpuHours - b.lostGpuHours || b.startedAt - a.startedAt || byWorkload(a.workload, b.workload);
}

const cheapestRefusal = (a: Refusal, b: Refusal): number => a.lostGpuHours - b.lostGpuHours;

/** The name of a workload as targets are written: `Kind namespace/name`. */
export const nameOf = ({ kind, namespace, name }: WorkloadView): string => `${kind} ${namespace}/${name}`;
