import type { JsonValue } from "../../exporter/model/recommendation.ts";
import { gpuResources, kueueNames } from "../../exporter/model/wellKnown.ts";
import type { KindInfo } from "../api/kinds.ts";
import { at, itemsAt, numberAt, sameJson, textAt, textsAt, toJson } from "../json.ts";
import type { KubeObject } from "../objects/kubeObject.ts";
import { queueObjectUid } from "../objects/queues/identity.ts";
import { requestedResources } from "../objects/resources.ts";
import type { GpuRequest, WorkloadSpec } from "../scenario.ts";
import { evict } from "./lifecycle.ts";
import { migConfigLabel, wishMig } from "./migManager.ts";
import { queueingAfter } from "./quotaWrites.ts";
import { removePod } from "./removePod.ts";
import type { SimNode, Workload, World } from "./world.ts";

/** Annotation by which notebooks are stopped (kubeflow, notebook-controller). */
const notebookStopped = "kubeflow-resource-stopped";

/**
 * Lets the cluster do what the written object asks for. Fields that the cluster does not act on are only kept in the object.
 */
export function apply(world: World, info: KindInfo, object: KubeObject): void {
  const document = toJson(object);
  if (info.kind === "Node") {
    const node = world.nodesByName.get(object.metadata.name);
    if (node !== undefined) applyToNode(world, node, document);
    return;
  }
  if (info.system === "kueue" && info.kind === "Workload") {
    const workload = workloadWith(world, (each) => queueObjectUid(each) === object.metadata.uid);
    if (workload !== undefined) applyToKueueWorkload(world, workload, document);
    return;
  }
  if (info.system !== null) {
    const written = { system: info.system, kind: info.kind, name: object.metadata.name, spec: at(document, "spec") };
    world.scenario = { ...world.scenario, queueing: queueingAfter(world.scenario.queueing, written) };
    return;
  }
  if (info.kind === "NodePool") {
    const consolidateAfter = textAt(document, "spec", "disruption", "consolidateAfter") ?? "0s";
    const nodePools = (world.scenario.nodePools ?? []).map((pool) =>
      pool.name === object.metadata.name ? { ...pool, consolidateAfter } : pool,
    );
    world.scenario = { ...world.scenario, nodePools };
    return;
  }
  const workload = workloadWith(world, ({ uid }) => uid === object.metadata.uid);
  if (workload !== undefined && workload.endedTime === null) applyToOwner(world, workload, document);
}

function workloadWith(world: World, is: (workload: Workload) => boolean): Workload | undefined {
  for (const workload of world.workloads) if (is(workload)) return workload;
  return undefined;
}

function applyToNode(world: World, node: SimNode, document: JsonValue): void {
  const cordoned = at(document, "spec", "unschedulable") === true;
  if (cordoned !== node.spec.cordoned) node.spec = { ...node.spec, cordoned };
  wishMig(world, node, textsAt(document, "metadata", "labels")[migConfigLabel]);
  node.tainted = itemsAt(document, "spec", "taints").some(repels);
  world.dirtyNodes.add(node);
}

/** Whether a taint keeps GPU pods away. The taints of the node's own state do not count: they are made from that state. */
function repels(taint: JsonValue): boolean {
  const key = textAt(taint, "key") ?? "";
  if (key === gpuResources.nvidia || key.startsWith("node.kubernetes.io/")) return false;
  return textAt(taint, "effect") !== "PreferNoSchedule";
}

/**
 * Switches a Workload of Kueue off or on. If it is off, it loses its quota and its pods, and waits until it is switched on
 * again.
 */
function applyToKueueWorkload(world: World, workload: Workload, document: JsonValue): void {
  workload.boost = numberAt(document, "metadata", "annotations", kueueNames.priorityBoost) ?? 0;
  const active = at(document, "spec", "active") !== false;
  if (active === workload.active || workload.endedTime !== null) return;
  workload.active = active;
  if (!active && workload.admittedAt !== null) evict(world, workload, "Deactivated", null);
}

function applyToOwner(world: World, workload: Workload, document: JsonValue): void {
  world.newWorkloads.add(workload);
  world.unsettled.add(workload);
  switch (workload.spec.kind) {
    case "Job":
    case "JobSet":
      suspend(world, workload, at(document, "spec", "suspend") === true);
      return;
    case "PyTorchJob":
      suspend(world, workload, at(document, "spec", "runPolicy", "suspend") === true);
      return;
    case "Deployment":
    case "StatefulSet":
      retemplate(world, workload, at(document, "spec", "template"));
      scale(workload, numberAt(document, "spec", "replicas") ?? 1);
      return;
    case "LeaderWorkerSet":
      retemplate(world, workload, at(document, "spec", "leaderWorkerTemplate", "workerTemplate"));
      // The simulator's sets have one group: their replicas are on or off.
      workload.stopped = (numberAt(document, "spec", "replicas") ?? 1) === 0;
      return;
    case "Notebook":
      retemplate(world, workload, at(document, "spec", "template"));
      workload.stopped = textAt(document, "metadata", "annotations", notebookStopped) !== null;
      return;
    case "Pod":
    case "PodGroup":
      return;
  }
}

/**
 * Suspends or resumes a job. Kueue decides whether its jobs are suspended: a job that it admitted and a user suspends is
 * started anew at once.
 */
function suspend(world: World, workload: Workload, suspended: boolean): void {
  if (suspended === workload.suspended) return;
  workload.suspended = workload.system === "kueue" ? false : suspended;
  for (const pod of workload.pods) removePod(world, pod, null);
}

function scale(workload: Workload, replicas: number): void {
  workload.stopped = replicas === 0;
  if (replicas > 0) workload.spec = { ...workload.spec, pods: replicas };
}

/**
 * Gives a workload the template's requests. All its pods are made anew at once, whereas a rolling update replaces them one by
 * one.
 */
function retemplate(world: World, workload: Workload, template: JsonValue | undefined): void {
  const spec = specFromTemplate(workload.spec, template);
  if (spec === workload.spec) return;
  // The pods give back their GPUs before the amounts change.
  for (const pod of workload.pods) removePod(world, pod, null);
  workload.spec = spec;
}

/** The spec of a workload whose pods are made by this template; the same spec where the template asks for the same. */
function specFromTemplate(spec: WorkloadSpec, template: JsonValue | undefined): WorkloadSpec {
  const [container] = itemsAt(template, "spec", "containers");
  if (container === undefined) return spec;
  const amounts = { ...textsAt(container, "resources", "requests"), ...textsAt(container, "resources", "limits") };
  const numbers = at(container, "resources", "limits");
  const asked = Object.keys({ ...amounts, ...(typeof numbers === "object" ? numbers : {}) })
    .filter((name) => name.startsWith(gpuResources.nvidiaPrefix))
    .map((name) => [name, String(numberAt(container, "resources", "limits", name) ?? amounts[name] ?? "")] as const);
  const gpus = Object.fromEntries(asked);
  const cpuMilli = milliCores(amounts.cpu) ?? spec.cpuMilli;
  const memoryMiB = mebibytes(amounts.memory) ?? spec.memoryMiB;
  const request = sameJson(gpus, requestedResources(spec.request)) ? spec.request : requestOf(spec.request, gpus);
  if (request === spec.request && cpuMilli === spec.cpuMilli && memoryMiB === spec.memoryMiB) return spec;
  return { ...spec, request, cpuMilli, memoryMiB };
}

function requestOf(before: GpuRequest, gpus: Readonly<Record<string, string>>): GpuRequest {
  for (const [name, amount] of Object.entries(gpus)) {
    const count = Number(amount);
    if (!Number.isInteger(count) || count <= 0) continue;
    if (name.startsWith(gpuResources.nvidiaMigPrefix)) {
      return { kind: "mig", profile: name.slice(gpuResources.nvidiaMigPrefix.length), count, strategy: "mig-mixed" };
    }
    if (name === gpuResources.nvidiaShared) return { kind: "replicas", count, strategy: "time-slicing", renamed: true };
    if (name !== gpuResources.nvidia) continue;
    return before.kind === "replicas" || before.kind === "extended-resource"
      ? { ...before, count }
      : { kind: "physicalGpus", count };
  }
  return before.kind === "claim" || before.kind === "fraction" ? before : { kind: "none" };
}

function milliCores(text: string | undefined): number | null {
  const match = /^(\d+)(m?)$/.exec(text ?? "");
  return match === null ? null : Number(match[1]) * (match[2] === "m" ? 1 : 1000);
}

function mebibytes(text: string | undefined): number | null {
  const match = /^(\d+)(Mi|Gi)$/.exec(text ?? "");
  return match === null ? null : Number(match[1]) * (match[2] === "Mi" ? 1 : 1024);
}
