import type { PodView } from "../../join/snapshot.ts";
import type { TextMap } from "../../model/node.ts";
import type { HostPort, PodSelector, PodTerm } from "../../model/podPlacement.ts";
import { meets } from "../../model/queues/nodeMatch.ts";

/** The parts of a pod that selectors look at. */
export type SelectedPod = Pick<PodView, "namespace" | "labels">;

/** Whether a selector selects labels: all of its requirements are met. */
export const takesLabels = (selector: PodSelector, labels: TextMap): boolean =>
  selector.every((one) => meets(labels, one));

/** Whether a term of a pod in a namespace looks at another pod. */
export function looksAt(term: PodTerm, namespace: string, pod: SelectedPod): boolean {
  const isIn = term.namespaces.length === 0 ? pod.namespace === namespace : term.namespaces.includes(pod.namespace);
  return isIn && takesLabels(term.selector, pod.labels);
}

const everyAddress = "0.0.0.0";

/** Whether two pods cannot both have their host ports on one node (kube-scheduler: NodePorts). */
export const collide = (some: readonly HostPort[], others: readonly HostPort[]): boolean =>
  some.some((one) =>
    others.some(
      (other) =>
        one.port === other.port &&
        one.protocol === other.protocol &&
        (one.address === other.address || one.address === everyAddress || other.address === everyAddress),
    ),
  );
