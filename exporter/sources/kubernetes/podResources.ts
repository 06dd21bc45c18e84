import { bareRecord } from "../../kernel/bareRecord.ts";
import { parseQuantity } from "../../kernel/quantity.ts";
import { gpuLikeResource, isSharedAmount } from "../../model/gpuResource.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { ContainerRequest } from "../../model/queues/kueue.ts";
import { child, fault, has, items, type Place, text } from "./fields.ts";

/** The effective requests of a pod. */
export interface PodResources {
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  /** Amounts above 0 of resources that look like GPUs. */
  readonly gpus: ResourceAmounts;
  /** The same for memory and cores of GPUs that are shared; `null` if there are none. */
  readonly shares: ResourceAmounts | null;
}

/**
 * The effective request of a pod, as the scheduler computes it (`PodRequests` of k8s.io/component-helpers/resource):
 * the larger of the sum over containers and restartable init containers, and each ordinary init container together
 * with the restartable ones before it; requests of the pod as a whole replace CPU and memory; overhead is added.
 * A missing request takes the limit, as the API server fills it in.
 */
export function podResources(spec: Place, configuredGpus: ReadonlySet<string>): PodResources {
  const running = new Map<string, number>();
  const peak = new Map<string, number>();
  for (const container of items(spec, "initContainers")) {
    const request = containerRequest(container, configuredGpus);
    if (text(container, "restartPolicy") === "Always") add(running, request);
    else raise(peak, sum(running, request));
  }
  for (const container of items(spec, "containers")) add(running, containerRequest(container, configuredGpus));
  raise(peak, running);
  for (const [name, amount] of containerRequest(spec, configuredGpus)) {
    if (name === "cpu" || name === "memory") peak.set(name, amount);
  }
  if (has(spec, "overhead")) add(peak, putQuantities(new Map(), child(spec, "overhead"), configuredGpus));

  const gpus = bareRecord<number>();
  let shares: Record<string, number> | null = null;
  for (const [name, amount] of peak) {
    if (name === "cpu" || name === "memory" || amount <= 0) continue;
    if (isSharedAmount(name)) {
      shares ??= bareRecord<number>();
      shares[name] = amount;
    } else gpus[name] = amount;
  }
  return { cpuMilli: peak.get("cpu") ?? 0, memoryBytes: peak.get("memory") ?? 0, gpus, shares };
}

/** Whether a container asks for a resource that looks like GPUs. */
export function asksForGpus(container: Place, configuredGpus: ReadonlySet<string>): boolean {
  for (const [name, amount] of containerRequest(container, configuredGpus))
    if (name !== "cpu" && name !== "memory" && amount > 0) return true;
  return false;
}

/**
 * For each container, its requests of resources that look like GPUs, amounts above 0; `null` for a pod of one container, whose
 * requests are those of the pod.
 */
export function containerGpus(spec: Place, configuredGpus: ReadonlySet<string>): readonly ContainerRequest[] | null {
  const [inits, mains] = [items(spec, "initContainers"), items(spec, "containers")];
  if (inits.length + mains.length < 2) return null;
  const read = (container: Place, isInit: boolean): ContainerRequest => {
    const requests = bareRecord<number>();
    for (const [name, amount] of containerRequest(container, configuredGpus))
      if (name !== "cpu" && name !== "memory" && amount > 0 && !isSharedAmount(name)) requests[name] = amount;
    return { isInit, requests };
  };
  return [
    ...inits.map((container) => read(container, text(container, "restartPolicy") !== "Always")),
    ...mains.map((container) => read(container, false)),
  ];
}

type Request = ReadonlyMap<string, number>;
const none: Request = new Map();

/** The requests in `resources` of a container, or of the pod as a whole. */
function containerRequest(container: Place, configuredGpus: ReadonlySet<string>): Request {
  if (!has(container, "resources")) return none;
  const resources = child(container, "resources");
  const request = new Map<string, number>();
  // A request replaces the limit.
  for (const key of ["limits", "requests"] as const)
    if (has(resources, key)) putQuantities(request, child(resources, key), configuredGpus);
  return request;
}

/** Adds CPU in thousandths, memory in bytes, and GPUs and parts of them as they are; everything else is left out. */
function putQuantities(request: Map<string, number>, place: Place, configuredGpus: ReadonlySet<string>): Request {
  for (const name of Object.keys(place.value)) {
    const isCounted = name === "cpu" || name === "memory" || isSharedAmount(name);
    if (!isCounted && !gpuLikeResource(name, configuredGpus)) continue;
    const amount = parseQuantity(place.value[name], name === "cpu" ? 3 : 0);
    if (amount === null || amount < 0) fault(place, name, "a quantity");
    else request.set(name, amount);
  }
  return request;
}

function add(total: Map<string, number>, part: Request): void {
  for (const [name, amount] of part) total.set(name, (total.get(name) ?? 0) + amount);
}

function sum(one: Request, other: Request): Request {
  const both = new Map(one);
  add(both, other);
  return both;
}

function raise(peak: Map<string, number>, candidate: Request): void {
  for (const [name, amount] of candidate) peak.set(name, Math.max(peak.get(name) ?? 0, amount));
}
