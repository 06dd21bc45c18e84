import { mayBeDisrupted, type PodDisruption } from "../model/disruption.ts";
import type { TextMap } from "../model/node.ts";
import type { Pod } from "../model/pod.ts";
import { ownAnnotations, podAnnotations } from "../model/wellKnown.ts";

/** How each program reads its own annotation; the first one is reported. */
const prohibitions: readonly (readonly [annotation: string, forbids: (text: string) => boolean])[] = [
  [ownAnnotations.doNotDisrupt, (text) => text === "true"],
  [podAnnotations.karpenterDoNotDisrupt, (text) => text === "true"],
  [podAnnotations.safeToEvict, (text) => text === "false"],
  [podAnnotations.preferNoEviction, () => true],
];

/** All distinct values: pods that are alike share one. */
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
