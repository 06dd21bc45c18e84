import type { PodView, WorkloadView } from "../../join/snapshot.ts";
import type { Recommendation } from "../../model/recommendation.ts";
import { emptyNodesOf } from "../emptyNodes.ts";
import type { MomentIndex } from "../momentIndex.ts";
import type { TakenSign } from "../offer.ts";

const tolerance = 1e-6;

/** Whether all signs show that the advice was taken. Without any signs, this is not known and `false`. */
export function isTaken(signs: readonly TakenSign[], moment: MomentIndex): boolean {
  return signs.length > 0 && signs.every((sign) => isSeen(sign, moment));
}

/** How many parts of a plan are done; `null`: none. A plan that was begun is being carried out, or was left unfinished. */
export function partsDone(signs: readonly TakenSign[], moment: MomentIndex): Recommendation["parts"] {
  const parts = partsOf(signs);
  const done = parts.filter((part) => isSeen(part, moment)).length;
  return done === 0 ? null : { done, all: parts.length };
}

/** The targets of the parts that are not done, as `Recommendation.targets` names them. */
export function targetsLeft(signs: readonly TakenSign[], moment: MomentIndex): ReadonlySet<string> {
  const { workloads } = moment.analysis.snapshot;
  const left = partsOf(signs).filter((part) => !isSeen(part, moment));
  return new Set(
    left.flatMap((part): readonly string[] => {
      if (part.kind === "nodes-left") return part.nodes.map((name) => `Node ${name}`);
      if (part.kind === "request-changed") return [part.workload.replace("/", " ")];
      if (part.kind !== "pods-left") return [];
      return part.pods.flatMap(({ uid }) => {
        const pod = moment.allocated(uid);
        const workload = pod === undefined ? undefined : workloads[pod.workload];
        const own = pod === undefined ? [] : [`Pod ${pod.namespace}/${pod.name}`];
        return workload === undefined ? own : [...own, `${workload.kind} ${workload.namespace}/${workload.name}`];
      });
    }),
  );
}

function partsOf(signs: readonly TakenSign[]): readonly TakenSign[] {
  return signs.flatMap((sign): readonly TakenSign[] => {
    if (sign.kind === "pods-left") return sign.pods.map((pod) => ({ ...sign, pods: [pod] }));
    return sign.kind === "nodes-left" ? sign.nodes.map((node) => ({ ...sign, nodes: [node] })) : [sign];
  });
}

/** The signs in words. */
export function seenWords(signs: readonly TakenSign[]): string {
  return [...new Set(signs.map(wordsOf))].join("; ");
}

/** Whether a pod is on a node with GPUs. Most of those that are asked for are, and are found among the holders of its GPUs. */
const isOn = (node: string, uid: string, { allocated, holderOn }: MomentIndex): boolean =>
  holderOn(node, uid) !== undefined || allocated(uid)?.node === node;

function isSeen(sign: TakenSign, moment: MomentIndex): boolean {
  const { snapshot, findings } = moment.analysis;
  switch (sign.kind) {
    case "pods-left":
      // A pod that has ended by itself was not taken away by anybody.
      return (
        sign.pods.every(({ uid, node }) => !isOn(node, uid, moment)) &&
        sign.pods.some(({ uid }) => !snapshot.endedPods.has(uid))
      );
    case "nodes-left":
      return sign.nodes.every((name) => (moment.node(name)?.schedulable ?? false) === false);
    case "node-pool-changed": {
      const pool = snapshot.nodePools.find(({ name }) => name === sign.nodePool);
      return pool !== undefined && emptyNodesOf(pool).kind === "removed";
    }
    case "quota-changed": {
      const now = moment.queue(sign.queue)?.[sign.field];
      const [from, to] = [sign.from, sign.to];
      return now !== undefined && (to > from ? now > from + tolerance : now < from - tolerance);
    }
    case "finding-gone":
      return (
        !findings.some(
          ({ code, kind, name }) => code === sign.code && kind === sign.objectKind && name === sign.name,
        ) && snapshot.queueing.queues.some(({ name }) => name === sign.name)
      );
    case "request-changed":
      // New pods that wait for a place have the new request already.
      return moment.workloads(sign.workload).some(({ pods }) => {
        const asked = pods.map((pod) => snapshot.pods[pod]?.gpus ?? Number.NaN);
        return asked.length > 0 && asked.every((gpus) => gpus <= sign.gpusPerPod + tolerance);
      });
    case "priority-changed": {
      const waiting = (uid: string) =>
        snapshot.queueing.gangs.find((gang) => gang.uid === uid && gang.reservedAt === null);
      const own = waiting(sign.work);
      if (own !== undefined) return own.priority > sign.from;
      const isAdmitted =
        snapshot.queueing.gangs.some(({ uid }) => uid === sign.work) ||
        moment.workloads(sign.work).some((workload) => allocatedGpus(workload, snapshot.pods) > 0);
      return isAdmitted && waiting(sign.ahead) !== undefined;
    }
    case "exporter-restarted": {
      const pods = snapshot.exporterPods.filter(({ nodeName }) => nodeName === sign.node);
      return pods.length > 0 && pods.every(({ uid }) => uid !== sign.uid);
    }
  }
}

/** Whether what a sign showed was taken back: the setting is there and has its former value again. */
export function isTakenBack(sign: TakenSign, moment: MomentIndex): boolean {
  const { snapshot, findings } = moment.analysis;
  switch (sign.kind) {
    case "quota-changed": {
      const now = moment.queue(sign.queue)?.[sign.field];
      const { from, to } = sign;
      return now !== undefined && (to > from ? now <= from + tolerance : now >= from - tolerance);
    }
    case "node-pool-changed": {
      const pool = snapshot.nodePools.find(({ name }) => name === sign.nodePool);
      return pool !== undefined && emptyNodesOf(pool).kind !== "removed";
    }
    case "finding-gone":
      return findings.some(
        ({ code, kind, name }) => code === sign.code && kind === sign.objectKind && name === sign.name,
      );
    case "request-changed":
      return moment.workloads(sign.workload).some(({ pods }) => {
        const asked = pods.map((pod) => snapshot.pods[pod]?.gpus ?? Number.NaN);
        return asked.length > 0 && asked.every((gpus) => gpus > sign.gpusPerPod + tolerance);
      });
    // Signs do not show whether something came back that had left a node: the work itself is looked at.
    case "pods-left":
    case "nodes-left":
    case "priority-changed":
    case "exporter-restarted":
      return false;
  }
}

/** Physical GPUs that a workload's pods hold. */
export function allocatedGpus({ pods }: WorkloadView, all: readonly PodView[]): number {
  return pods.reduce((sum, index) => {
    const pod = all[index];
    return pod?.status === "allocated" ? sum + (pod.gpus ?? 0) : sum;
  }, 0);
}

function wordsOf(sign: TakenSign): string {
  switch (sign.kind) {
    case "pods-left":
      return sign.pods.length === 1
        ? "its pod has left its node"
        : `its ${sign.pods.length} pods have left their nodes`;
    case "nodes-left":
      return `${sign.nodes.join(", ")} ${sign.nodes.length === 1 ? "is" : "are"} gone or cordoned`;
    case "node-pool-changed":
      return `NodePool ${sign.nodePool} removes empty nodes now`;
    case "quota-changed":
      return `the queue's ${sign.field === "limit" ? "limit" : "quota"} has changed`;
    case "finding-gone":
      return `${sign.objectKind} ${sign.name} is configured otherwise now`;
    case "request-changed":
      return `${sign.workload} holds fewer GPUs`;
    case "priority-changed":
      return "its priority was boosted";
    case "exporter-restarted":
      return `the exporter on ${sign.node} was restarted`;
  }
}
