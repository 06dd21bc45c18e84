import { firstInOrder } from "../../kernel/firstInOrder.ts";
import type { OwnerQuestion } from "../../model/adviceAct.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { gpuResources } from "../../model/wellKnown.ts";
import type { AdviceMoment } from "../moment.ts";
import { momentIndex } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { smallActivity } from "../usage/observeWorkloads.ts";
import { type WatchedWorkload, watchedLong } from "../usage/usageWatch.ts";
import { type AllocatedPod, allocatedPods } from "./ownGpus.ts";
import { countWords, durationWords, gpuWords, percentWords } from "./words.ts";

/** The largest part of a GPU's memory that a small user uses, 0..1: a quarter is what the second smallest instance has. */
export const smallMemoryRatio = 0.25;

/** How many times the observed peak a device must have: a process without memory ends, and peaks fall between samples. */
const memoryHeadroom = 1.25;

/** A workload whose pods each hold a whole GPU and use a small part of it. */
export interface SmallUser extends WatchedWorkload {
  readonly allocated: readonly AllocatedPod[];
  readonly needs: PodNeeds;
  /** The model of the GPUs that its pods hold, the same for all of them. */
  readonly model: string;
  readonly pool: string;
  /** Memory of a GPU that one of its pods needs, in bytes, headroom included. */
  readonly memoryBytes: number;
}

/** The most small users that are examined closely. */
const mostUsers = 1000;

/** The question to the owner of a small user, which would get `resource`, this part of a GPU, instead of whole GPUs. */
export function shareQuestion(
  { usage, workload, allocated }: SmallUser,
  { resource, unit }: { readonly resource: string; readonly unit: number },
  at: number,
): OwnerQuestion {
  const about = `${workload.kind} ${workload.namespace}/${workload.name}`;
  const memory = usage.peakMemoryRatio === null ? "" : ` and ${percentWords(usage.peakMemoryRatio)} of its memory`;
  return {
    to: `team ${workload.team}`,
    about,
    question: `Would ${resource} (${gpuWords(unit)} GPUs) instead of a whole GPU be enough for each pod of ${about}?`,
    facts: [
      `in ${durationWords(at - usage.since)} none of its ${countWords(allocated.length, "pod")} used more than ${percentWords(usage.peakActivity)} of its GPU${memory}`,
      "what it does between two samples is not known: one of the pods could try it first",
      "the change is made in the template of its pods, which are made anew for it",
    ],
  };
}

/** The small users of a moment; those with the most GPUs come first. */
export function findSmallUsers(moment: AdviceMoment): readonly SmallUser[] {
  const small: WatchedWorkload[] = [];
  for (const watched of watchedLong(moment)) {
    const { peakActivity, peakMemoryRatio } = watched.usage;
    if (peakActivity <= smallActivity && peakMemoryRatio !== null && peakMemoryRatio <= smallMemoryRatio)
      small.push(watched);
  }
  const byWorkload = momentOrder(moment.analysis).workloads;
  const first = firstInOrder(small, mostUsers, (a, b) => b.usage.gpus - a.usage.gpus || byWorkload(a.index, b.index));
  return first.flatMap((watched) => userOf(moment, watched) ?? []);
}

/** The small user that a workload is; `null` if its pods hold or ask for anything but one whole GPU each, of one model. */
function userOf({ analysis }: AdviceMoment, watched: WatchedWorkload): SmallUser | null {
  const { usage, workload } = watched;
  const { snapshot } = analysis;
  const allocated = allocatedPods(snapshot, workload);
  const needs = allocated?.[0]?.pod.needs ?? null;
  if (allocated === null || needs === null || workload.pods.length !== allocated.length) return null;
  if (
    !allocated.every(({ pod }) => pod.gpus === 1 && pod.gang === null && pod.needs?.requests[gpuResources.nvidia] === 1)
  )
    return null;
  let physicalGpu: { readonly model: string; readonly pool: string } | null = null;
  let memory = 0;
  for (const { index } of allocated) {
    for (const place of momentIndex(analysis).devicesOf(index)) {
      const device = snapshot.devices[place];
      if (device === undefined) continue;
      const total = device.memoryTotalBytes ?? device.reading?.memoryTotalBytes ?? null;
      if (total === null || (physicalGpu !== null && physicalGpu.model !== device.model)) return null;
      physicalGpu ??= { model: device.model, pool: device.pool };
      memory = Math.max(memory, total);
    }
  }
  if (physicalGpu === null || usage.peakMemoryRatio === null) return null;
  return {
    ...watched,
    allocated,
    needs,
    ...physicalGpu,
    memoryBytes: usage.peakMemoryRatio * memory * memoryHeadroom,
  };
}
