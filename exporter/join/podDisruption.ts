import type { JobLimits } from "../model/disruption.ts";
import { mayBeDisrupted, type PodDisruption } from "../model/disruption.ts";
import type { TextMap } from "../model/node.ts";
import type { Pod } from "../model/pod.ts";
import { ownAnnotations, podAnnotations } from "../model/wellKnown.ts";
import type { OwnerChain } from "./workloadOf.ts";

/** How each program reads its own annotation; the first one is reported. */
const prohibitions: readonly (readonly [annotation: string, forbids: (text: string) => boolean])[] = [
  [ownAnnotations.doNotDisrupt, (text) => text === "true"],
  [podAnnotations.karpenterDoNotDisrupt, (text) => text === "true"],
  [podAnnotations.safeToEvict, (text) => text === "false"],
  [podAnnotations.preferNoEviction, () => true],
];

/** All distinct values, so that pods that are alike share one. */
const known: readonly PodDisruption[] = [null, ...prohibitions.map(([name]) => name)].flatMap((forbiddenBy) =>
  [false, true].flatMap((isStatic) =>
    [false, true].map(
      (hasLocalStorage): PodDisruption =>
        isStatic || hasLocalStorage || forbiddenBy !== null
          ? { isStatic, hasLocalStorage, forbiddenBy }
          : mayBeDisrupted,
    ),
  ),
);

/**
 * The settings of a pod, or of its owners as far as they can be read, that forbid taking it off its node. `safe-to-evict:
 * "true"` gives up data on the node, as for the Cluster Autoscaler.
 */
export function disruptionOf(pod: Pod, owners: readonly { readonly annotations: TextMap }[]): PodDisruption {
  const isStatic = pod.annotations[podAnnotations.mirrorPod] !== undefined;
  const hasLocalStorage = pod.hasLocalStorage && pod.annotations[podAnnotations.safeToEvict] !== "true";
  let place = prohibitionIn(pod.annotations);
  for (let i = 0; place === 0 && i < owners.length; i++) place = prohibitionIn(owners[i]?.annotations);
  return known[4 * place + 2 * Number(isStatic) + Number(hasLocalStorage)] ?? mayBeDisrupted;
}

/** Place of the first annotation that forbids it, counted from 1; 0 without one. */
function prohibitionIn(annotations: TextMap = {}): number {
  return (
    1 +
    prohibitions.findIndex(([name, forbids]) => {
      const text = annotations[name];
      return text !== undefined && forbids(text);
    })
  );
}

/** Limits of the Job that controls a pod; `null` where no Job does, or it could not be read. */
export function controllingJob({ owners }: OwnerChain): JobLimits | null {
  return owners[0]?.job ?? null;
}

const worstFirst: readonly JobLimits["onDisruption"][] = ["FailJob", "FailIndex", "Count", "Ignore"];

/**
 * Of two Jobs of one workload (a JobSet has several) the one that the loss of a pod would sooner end, whatever their order;
 * `null` where one is not known.
 */
export function moreEndangered(one: JobLimits | null, other: JobLimits | null): JobLimits | null {
  if (one === other) return one;
  if (one === null || other === null) return null;
  return byDanger(one, other) <= 0 ? one : other;
}

function byDanger(a: JobLimits, b: JobLimits): number {
  return (
    worstFirst.indexOf(a.onDisruption) - worstFirst.indexOf(b.onDisruption) ||
    left(a) - left(b) ||
    b.failed - a.failed ||
    Number(b.isSuspended) - Number(a.isSuspended)
  );
}

/** The number of pods that it may still lose; 0 where that is not known. */
const left = ({ backoffLimit, failed }: JobLimits): number =>
  backoffLimit === null ? Number.NEGATIVE_INFINITY : backoffLimit - failed;
