import type { ResourceAmounts } from "../../model/node.ts";
import type { ContainerRequest, KueuePodSet } from "../../model/queues/kueue.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { LimitRange } from "../../model/queues/queueObjects.ts";

/** LimitRanges by namespace, each list by name. */
export type LimitRanges = ReadonlyMap<string, readonly LimitRange[]>;

/** Groups LimitRanges; the order in which they come changes nothing. */
export function limitRangesByNamespace(ranges: readonly LimitRange[]): LimitRanges {
  const sorted = [...ranges].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return Map.groupBy(sorted, ({ namespace }) => namespace);
}

type Template = Pick<KueuePodSet, "pod" | "containers">;

const containersOf = ({ pod, containers }: Template): readonly ContainerRequest[] =>
  containers ?? [{ isInit: false, requests: pod.requests }];

/**
 * A template as the API server creates pods from it: a container without an amount of a resource gets the default, and if a
 * LimitRange has only a `max`, the API server has made that the default (`SetDefaults_LimitRangeItem` of k8s.io/kubernetes
 * pkg/apis/core/v1). Kueue takes this into account, but does not write it into the Workload (v0.19 pkg/workload/resources.go,
 * AdjustResources).
 */
export function withDefaults<Of extends Template>(
  template: Of,
  ranges: readonly LimitRange[],
  isGpu: (resource: string) => boolean,
): Of {
  const defaults = new Map<string, number>();
  for (const { type, defaults: amounts } of ranges.flatMap(({ limits }) => limits)) {
    if (type !== "Container") continue;
    for (const [resource, amount] of Object.entries(amounts))
      if (isGpu(resource) && amount > 0 && !defaults.has(resource)) defaults.set(resource, amount);
  }
  if (defaults.size === 0) return template;
  const containers = containersOf(template).map(({ isInit, requests }): ContainerRequest => {
    const missing = [...defaults].filter(([resource]) => requests[resource] === undefined);
    return { isInit, requests: { ...requests, ...Object.fromEntries(missing) } };
  });
  const requests = { ...template.pod.requests };
  for (const resource of defaults.keys()) requests[resource] = effective(containers, resource);
  const pod: PodNeeds = { ...template.pod, requests };
  return { ...template, pod, containers };
}

/** Init containers run one after the other before the rest; the rest run together. */
function effective(containers: readonly ContainerRequest[], resource: string): number {
  let [together, largestInit] = [0, 0];
  for (const { isInit, requests } of containers) {
    const amount = requests[resource] ?? 0;
    if (isInit) largestInit = Math.max(largestInit, amount);
    else together += amount;
  }
  return Math.max(together, largestInit);
}

/**
 * Why no pod of a template can be created: what a LimitRange of its namespace allows, and what is asked for, as a sentence;
 * `null` where none forbids it. A rule of type `Container` applies to each container, one of type `Pod` to all together.
 */
export function refusalBy(
  ranges: readonly LimitRange[],
  template: Template,
  isGpu: (resource: string) => boolean,
): string | null {
  for (const { name, limits } of ranges) {
    for (const { type, max } of limits) {
      const asked = type === "Pod" ? [template.pod.requests] : containersOf(template).map(({ requests }) => requests);
      for (const [resource, most] of Object.entries(max)) {
        const amount = isGpu(resource) ? largest(asked, resource) : 0;
        if (amount > most)
          return `LimitRange ${name} allows a ${type.toLowerCase()} at most ${most} ${resource}, and it asks for ${amount}`;
      }
    }
  }
  return null;
}

const largest = (asked: readonly ResourceAmounts[], resource: string): number =>
  Math.max(0, ...asked.map((requests) => requests[resource] ?? 0));
