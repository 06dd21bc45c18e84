import type { ApiRequest, JsonValue, Recommendation } from "../../../exporter/model/recommendation.ts";
import { at, itemsAt, numberAt, textAt, textsAt, toJson } from "../../../simulator/json.ts";
import type { Simulator } from "../../../simulator/simulator.ts";
import { objectsOf } from "../../simulator/writeClient.ts";

type Json = JsonValue | undefined;

/** The objects of a cluster as its API shows them, by kind; nothing that the exporter made of them. */
export interface ApiObjects {
  readonly pods: readonly Json[];
  readonly budgets: readonly Json[];
  readonly jobs: readonly Json[];
  readonly kueueWorkloads: readonly Json[];
  readonly clusterQueues: readonly Json[];
}

const kueue = "/apis/kueue.x-k8s.io/v1beta2";

/** Reads what vetoes are about. */
export async function readObjects(simulator: Simulator, hasKueue: boolean): Promise<ApiObjects> {
  const list = async (path: string): Promise<readonly Json[]> => (await objectsOf(simulator, path)).map(toJson);
  return {
    pods: await list("/api/v1/pods"),
    budgets: await list("/apis/policy/v1/poddisruptionbudgets"),
    jobs: await list("/apis/batch/v1/jobs"),
    kueueWorkloads: hasKueue ? await list(`${kueue}/workloads`) : [],
    clusterQueues: hasKueue ? await list(`${kueue}/clusterqueues`) : [],
  };
}

const nameOf = (object: Json): string => textAt(object, "metadata", "name") ?? "";
const namespaceOf = (object: Json): string => textAt(object, "metadata", "namespace") ?? "";
const uidOf = (object: Json): string => textAt(object, "metadata", "uid") ?? "";
const labelsOf = (object: Json) => textsAt(object, "metadata", "labels");
const annotationsOf = (object: Json) => textsAt(object, "metadata", "annotations");
const titleOf = (pod: Json): string => `${namespaceOf(pod)}/${nameOf(pod)}`;
const isBound = (pod: Json): boolean =>
  textAt(pod, "spec", "nodeName") !== null && !["Succeeded", "Failed"].includes(textAt(pod, "status", "phase") ?? "");
const controllerOf = (object: Json): Json | undefined => itemsAt(object, "metadata", "ownerReferences")[0];
const isDaemon = (pod: Json): boolean => textAt(controllerOf(pod), "kind") === "DaemonSet";
const priorityOf = (pod: Json): number => numberAt(pod, "spec", "priority") ?? 0;

/** Pods that a request takes off their nodes, and whether one by one. */
export interface Taken {
  readonly by: "eviction" | "owner" | "queue";
  readonly pods: readonly Json[];
}

/** What a request of a plan takes away, by the request alone. */
export function takenBy({ verb, path, body }: ApiRequest, objects: ApiObjects): Taken {
  const bound = objects.pods.filter(isBound);
  const eviction = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/eviction$/.exec(path);
  if (eviction !== null) {
    const uid = textAt(body, "deleteOptions", "preconditions", "uid");
    return { by: "eviction", pods: bound.filter((pod) => uidOf(pod) === uid && nameOf(pod) === eviction[2]) };
  }
  const node = /^\/api\/v1\/nodes\/([^/]+)$/.exec(path)?.[1];
  if (node !== undefined) {
    // Pods of DaemonSets go with their node.
    const isOn = (pod: Json): boolean => textAt(pod, "spec", "nodeName") === node && !isDaemon(pod);
    return { by: "owner", pods: verb === "DELETE" ? bound.filter(isOn) : [] };
  }
  const text = JSON.stringify(body);
  const workload = /\/namespaces\/([^/]+)\/workloads\/([^/]+)$/.exec(path);
  if (workload !== null) {
    const object = objects.kueueWorkloads.find(
      (one) => namespaceOf(one) === workload[1] && nameOf(one) === workload[2],
    );
    const owner = nameOf({ metadata: { name: textAt(controllerOf(object), "name") ?? "" } });
    const pods = text.includes('"active":false') ? bound.filter((pod) => isOf(pod, workload[1], owner)) : [];
    return { by: "queue", pods };
  }
  const owner = /\/namespaces\/([^/]+)\/[^/]+\/([^/]+)$/.exec(path);
  const isReturn =
    /"(?:suspend)":false/.test(text) || /"path":"\/spec\/replicas","value":0\}.*"value":[1-9]/.test(text);
  return { by: "owner", pods: owner === null || isReturn ? [] : bound.filter((pod) => isOf(pod, owner[1], owner[2])) };
}

/** Pods of the simulator carry the name of their workload as the label `app`. */
const isOf = (pod: Json, namespace: string | undefined, name: string | undefined): boolean =>
  namespaceOf(pod) === namespace && labelsOf(pod).app === name;

/** What a plan breaks of the rules that hold for all of them, in words. */
export function brokenVetoes(advice: Recommendation, objects: ApiObjects): readonly string[] {
  const taken = advice.steps.map(({ request }) => takenBy(request, objects));
  const evicted = taken.filter(({ by }) => by === "eviction").flatMap(({ pods }) => pods);
  const all = taken.flatMap(({ pods }) => pods);
  if (advice.kind === "fix_source") return evicted.flatMap(brokenByExporter);
  return [
    ...all.flatMap(brokenByPod),
    ...evicted.flatMap((pod) => brokenByEviction(pod, evicted, objects)),
    ...evicted.flatMap((pod) => brokenGang(pod, evicted, objects)),
    ...brokenPriority(advice, all, objects),
  ];
}

/** Only pods that hold nothing and come back by themselves. */
function brokenByExporter(pod: Json): readonly string[] {
  const gpus = JSON.stringify(at(pod, "spec", "containers") ?? []).includes("nvidia.com/");
  return isDaemon(pod) && !gpus ? [] : [`${titleOf(pod)} is no exporter`];
}

const leaveAlone: readonly (readonly [string, string])[] = [
  ["karpenter.sh/do-not-disrupt", "true"],
  ["cluster-autoscaler.kubernetes.io/safe-to-evict", "false"],
  ["descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"],
  ["fairlead.dev/do-not-disrupt", "true"],
];

/** Whether a pod asks not to be touched at all. */
export function isProtected(pod: Json): boolean {
  return brokenByPod(pod).length > 0;
}

function brokenByPod(pod: Json): readonly string[] {
  const broken: string[] = [];
  const owner = textAt(controllerOf(pod), "kind");
  if (owner === null) broken.push("nobody makes it again");
  if (owner === "DaemonSet" || owner === "Node") broken.push("it belongs to its node");
  for (const [name, value] of leaveAlone) if (annotationsOf(pod)[name] === value) broken.push(name);
  for (const volume of itemsAt(pod, "spec", "volumes")) {
    const isMemory = textAt(volume, "emptyDir", "medium") === "Memory";
    const { emptyDir, hostPath } = { emptyDir: at(volume, "emptyDir"), hostPath: at(volume, "hostPath") };
    if (hostPath !== undefined || (emptyDir !== undefined && !isMemory)) broken.push("it keeps data on its node");
  }
  return broken.map((why) => `${titleOf(pod)}: ${why}`);
}

function brokenByEviction(pod: Json, evicted: readonly Json[], { budgets, jobs }: ApiObjects): readonly string[] {
  const broken: string[] = [];
  const covering = budgets.filter((budget) => covers(budget, pod));
  if (covering.length > 1) broken.push("two budgets");
  for (const budget of covering) {
    const together = evicted.filter((other) => covers(budget, other)).length;
    if (together > (numberAt(budget, "status", "disruptionsAllowed") ?? 0)) broken.push(`budget ${nameOf(budget)}`);
  }
  const owner = controllerOf(pod);
  if (textAt(owner, "kind") === "Job") {
    const job = jobs.find((one) => uidOf(one) === textAt(owner, "uid"));
    const policy = JSON.stringify(at(job, "spec", "podFailurePolicy") ?? null);
    const failed = numberAt(job, "status", "failed") ?? 0;
    const together = evicted.filter((other) => textAt(controllerOf(other), "uid") === textAt(owner, "uid")).length;
    if (policy.includes("FailJob")) broken.push("its Job would fail");
    const limit = numberAt(job, "spec", "backoffLimit") ?? 6;
    if (!policy.includes("Ignore") && failed + together >= limit) broken.push("backoffLimit");
  }
  return broken.map((why) => `${titleOf(pod)}: ${why}`);
}

function covers(budget: Json, pod: Json): boolean {
  const wanted = Object.entries(textsAt(budget, "spec", "selector", "matchLabels"));
  return namespaceOf(budget) === namespaceOf(pod) && wanted.every(([key, value]) => labelsOf(pod)[key] === value);
}

/** By what pods say which of them run together. */
function gangOf(pod: Json): string | null {
  const annotations = annotationsOf(pod);
  const named = ["scheduling.k8s.io/group-name", "pod-group-name", "kueue.x-k8s.io/workload"]
    .map((key) => annotations[key])
    .find((value) => value !== undefined);
  if (named !== undefined) return `${namespaceOf(pod)}/${named}`;
  const hasSize = annotations["leaderworkerset.sh/size"] !== undefined;
  return hasSize ? `${namespaceOf(pod)}/${labelsOf(pod).app}` : null;
}

function brokenGang(pod: Json, evicted: readonly Json[], { pods }: ApiObjects): readonly string[] {
  const gang = gangOf(pod);
  if (gang === null) return [];
  const uids = new Set(evicted.map(uidOf));
  const stays = pods.filter((other) => isBound(other) && gangOf(other) === gang && !uids.has(uidOf(other)));
  return stays.map((other) => `${titleOf(pod)} would leave ${titleOf(other)} of its gang`);
}

/** Who is moved or stopped for someone has no higher priority; who only loses has a lower one, or the policy takes it back. */
function brokenPriority(advice: Recommendation, taken: readonly Json[], objects: ApiObjects): readonly string[] {
  const { kind, beneficiary, effect, queue } = advice;
  if (kind !== "reclaim" && kind !== "defragment" && kind !== "unblock_gang") return [];
  const names = beneficiary.kind === "workload" ? [beneficiary.name] : effect.starts;
  const gaining = names.flatMap((name) => prioritiesOf(name, objects));
  if (gaining.length === 0) return [];
  const lowest = Math.min(...gaining);
  const own = objects.clusterQueues.find((one) => nameOf(one) === queue);
  const policy = textAt(own, "spec", "preemption", "reclaimWithinCohort");
  const mayTakeEqual = kind !== "reclaim" || own === undefined || policy === "Any";
  return taken
    .filter((pod) => (mayTakeEqual ? kind !== "reclaim" && priorityOf(pod) > lowest : priorityOf(pod) >= lowest))
    .map((pod) => `${titleOf(pod)} has priority ${priorityOf(pod)}, those who gain ${lowest}`);
}

function prioritiesOf(work: string, { pods, kueueWorkloads }: ApiObjects): readonly number[] {
  const [namespace = "", name = ""] = work.split("/");
  const own = pods.filter((pod) => isOf(pod, namespace, name)).map(priorityOf);
  const queued = kueueWorkloads
    .filter((one) => namespaceOf(one) === namespace && textAt(controllerOf(one), "name") === name)
    .map((one) => numberAt(one, "spec", "priority") ?? 0);
  return [...own, ...queued];
}
