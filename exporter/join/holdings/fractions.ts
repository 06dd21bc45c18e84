import { parseQuantity } from "../../kernel/quantity.ts";
import type { Pod } from "../../model/pod.ts";
import { containerShares, podAnnotations, podLabels } from "../../model/wellKnown.ts";

/** A KAI fraction: how much a pod asks for, or was given, of each of a number of GPUs; `null` where it does not say so. */
export interface Fraction {
  /** Part of a GPU that its author asks for. */
  readonly gpus: number | null;
  readonly memoryMiB: number | null;
  /** Part of a GPU that KAI's binder has charged: a request by memory is rounded up to whole percents. */
  readonly portion: number | null;
  /** Number of GPUs. */
  readonly devices: number;
}

const mebibyte = 1024 * 1024;
const { prefix, memoryRequest, memoryLimit, computePortion, devices: devicesEnding } = containerShares;

/**
 * Reads KAI's and Run:ai's fraction annotations, those of the NvFractions mode included, where a limit without a request is
 * the request (kai-scheduler/KAI-Scheduler, docs/gpu-sharing and pkg/common/resources; kai-scheduler/kai-gpu-fractioning).
 */
export function fractionOf({ annotations }: Pick<Pod, "annotations">): Fraction | null {
  const asked = positive(annotations[podAnnotations.kaiFraction]);
  const gpus = asked === null || asked > 1 ? null : asked;
  const { memoryMiB: ofContainers, portion } = containerShare(annotations);
  const memoryMiB = ofContainers ?? positive(annotations[podAnnotations.kaiGpuMemoryMiB]);
  if (gpus === null && memoryMiB === null && portion === null) return null;
  const devices = positive(annotations[podAnnotations.kaiFractionDevices]) ?? 1;
  return { gpus, memoryMiB, portion, devices: Math.min(64, Math.max(1, Math.floor(devices))) };
}

/** Whether it depends on the memory of a GPU how much of it a pod holds. */
export function holdsByMemory(pod: Pick<Pod, "annotations">): boolean {
  const fraction = fractionOf(pod);
  return fraction !== null && fraction.gpus === null && fraction.memoryMiB !== null;
}

/**
 * The part of a GPU with this much memory that a fraction is: what its author asks for, else its memory, which no rounding has
 * changed, else what KAI has charged. `null` where nothing says: the memory of the GPU is unknown, or less than the fraction's.
 */
export function partOf({ gpus, memoryMiB, portion }: Fraction, memoryBytes: number | null): number | null {
  if (gpus !== null) return gpus;
  const byMemory = memoryMiB === null || memoryBytes === null ? null : (memoryMiB * mebibyte) / memoryBytes;
  return byMemory !== null && byMemory <= 1 + 1e-9 ? Math.min(1, byMemory) : portion;
}

/** UUIDs of the GPUs that KAI's binder has written into a pod for its containers, as `GPU-...` or as a CDI name that ends so. */
export function writtenGpus({ annotations }: Pick<Pod, "annotations">): readonly string[] {
  const texts = ofContainers(annotations, devicesEnding).flatMap((text) => text.slice(0, 4096).split(","));
  return [...new Set(texts.flatMap((text) => /(?:^|=)(GPU-[0-9A-Za-z-]{4,80})$/.exec(text.trim())?.[1] ?? []))];
}

/** The groups by which KAI ties a fractional pod to the GPUs that reservation pods keep. */
export function gpuGroupsOf(pod: Pod): readonly string[] {
  const single = pod.labels[podLabels.kaiGpuGroup] ?? pod.annotations[podAnnotations.kaiGpuGroup];
  const several = Object.keys(pod.labels)
    .filter((key) => key.startsWith(`${podLabels.kaiGpuGroup}/`))
    .map((key) => key.slice(podLabels.kaiGpuGroup.length + 1));
  return single === undefined ? several : [single, ...several];
}

/** KAI allows one container with a share; where a pod has several anyway, they add up. */
function containerShare(annotations: Pod["annotations"]): Pick<Fraction, "memoryMiB" | "portion"> {
  const requests = new Map<string, number>();
  for (const ending of [memoryLimit, memoryRequest])
    for (const [container, text] of entriesOf(annotations, ending)) {
      const bytes = parseQuantity(text);
      if (bytes !== null && bytes >= mebibyte) requests.set(container, bytes / mebibyte);
    }
  const portions = ofContainers(annotations, computePortion)
    .map(positive)
    .filter((part) => part !== null && part <= 1);
  return { memoryMiB: sumOf([...requests.values()]), portion: sumOf(portions) };
}

const sumOf = (parts: readonly (number | null)[]): number | null =>
  parts.length === 0 ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);

const ofContainers = (annotations: Pod["annotations"], ending: string): readonly string[] =>
  entriesOf(annotations, ending).map(([, text]) => text);

/** The annotations with an ending, by the name of their container. Most pods have none. */
function entriesOf(annotations: Pod["annotations"], ending: string): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (const name of Object.keys(annotations)) {
    if (!name.startsWith(prefix) || !name.endsWith(ending)) continue;
    const container = name.slice(prefix.length, -ending.length);
    if (container !== "") found.push([container, annotations[name] ?? ""]);
  }
  return found;
}

function positive(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,9}(\.\d{1,18})?$/.test(text)) return null;
  const number = Number(text);
  return number > 0 ? number : null;
}
