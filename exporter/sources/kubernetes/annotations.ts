import { nodeAnnotations, podAnnotations } from "../../model/wellKnown.ts";
import type { TextMapLimits } from "./textMap.ts";

const ownPrefix = "fairlead.dev/";
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

const podNames: ReadonlySet<string> = new Set(Object.values(podAnnotations));
const nodeNames: ReadonlySet<string> = new Set(Object.values(nodeAnnotations));

/** Annotations kept of pods and of their owners. */
export const annotationsOfPods: TextMapLimits = {
  keep: (key) => podNames.has(key) || key.startsWith(ownPrefix),
  maxValueChars: 4096,
};

/** Annotations kept of nodes. */
export const annotationsOfNodes: TextMapLimits = {
  keep: (key) => nodeNames.has(key),
  maxValueChars: 4096,
};

/** Annotations kept of namespaces: team rules may name any. */
export const annotationsOfNamespaces: TextMapLimits = {
  keep: (key) => key !== lastApplied,
  maxValueChars: 1024,
};
