import type { Guard } from "./guard.ts";
import { podName } from "./guard.ts";

/** The author of the pod, or of its owner, asks by an annotation that it is left alone. */
export const doNotDisrupt: Guard = ({ pods }) =>
  pods.flatMap(({ index, pod }) => {
    const { forbiddenBy } = pod.disruption;
    if (forbiddenBy === null) return [];
    return [{ pod: index, reason: `${podName(pod)} asks not to be disrupted (annotation ${forbiddenBy}).` }];
  });
