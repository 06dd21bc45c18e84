import type { NodePoolView, NodeView } from "../../join/snapshot.ts";
import type { AdviceStep, ApiRequest } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";
import { drainCommand } from "./command.ts";
import { guardedPatch, queueTarget, setAt } from "./queuePatch.ts";
import { isUid, pathOf, type ResourceRef } from "./resourceRef.ts";
import { allSteps, mergePatch, noSteps, type PatchOperation, type StepsFound, stepOf } from "./step.ts";
import { evictionStep } from "./workloadSteps.ts";

const refOfNode = (name: string): ResourceRef => ({
  group: "",
  version: "v1",
  resource: "nodes",
  namespace: null,
  name,
});

/** The uid of a node, with which another node of the same name is not changed; `null` if none was read. */
const uidOf = ({ uid }: NodeView): string | null => (uid !== undefined && isUid(uid) ? uid : null);

const sameNode = (node: NodeView): string =>
  uidOf(node) === null
    ? `Node ${node.name} is still the machine that is meant: no uid of it is known, so that the request cannot check it.`
    : `Node ${node.name} is still the same one (its uid).`;

function unschedulable(node: NodeView, to: boolean): ApiRequest | null {
  return mergePatch(refOfNode(node.name), uidOf(node), { spec: { unschedulable: to } });
}

/** The step that keeps new pods off a node. */
export function cordonStep(node: NodeView, why: string): AdviceStep | null {
  return stepOf(unschedulable(node, true), { title: `Cordon node ${node.name}${why}`, precondition: sameNode(node) });
}

/** The step that lets new pods onto a node again. */
export function uncordonStep(node: NodeView): AdviceStep | null {
  return stepOf(unschedulable(node, false), {
    title: `Let pods onto node ${node.name} again`,
    precondition: `${sameNode(node)} Nobody else has cordoned it in the meantime for another reason.`,
  });
}

/** Removes a node from the cluster. Whatever added the node must release it, and this is not always a request to the API. */
export function removeNode({ analysis: { snapshot } }: AdviceMoment, index: number): StepsFound {
  const node = snapshot.nodes[index];
  if (node === undefined) return noSteps("the node is not there any more");
  if (node.schedulable === null) return noSteps(`Node ${node.name} is known from telemetry alone`);
  const pool = snapshot.nodePools.find(({ name }) => name === node.nodePool);
  const cordon = stepOf(unschedulable(node, true), {
    title: `Drain node ${node.name}: cordon it, and let what runs on it move`,
    precondition: `${sameNode(node)} No pod with GPUs has come to it. The request alone cordons; the command evicts its other pods too, and refuses where one has no owner or keeps data on the node.`,
    waitFor: `No pods but those of DaemonSets are left on it. ${nextOf(node, pool)}`,
  });
  const drain = cordon === null ? null : { ...cordon, ...drainCommand(node.name) };
  return allSteps(pool?.manager === "karpenter" ? [drain, deletion(node)] : [drain]);
}

/** The step that deletes a Node object of Karpenter: Karpenter's finalizer holds the object until the machine is gone. */
function deletion(node: NodeView): AdviceStep | null {
  const path = pathOf(refOfNode(node.name));
  const uid = uidOf(node);
  if (path === null) return null;
  const body = { apiVersion: "v1", kind: "DeleteOptions", ...(uid === null ? {} : { preconditions: { uid } }) };
  return stepOf(
    { verb: "DELETE", path, contentType: "application/json", body },
    {
      title: `Delete node ${node.name}: Karpenter ends its machine`,
      precondition: `${sameNode(node)} It is drained, and Karpenter made it.`,
      waitFor: "The node and its machine are gone. Karpenter adds one again when waiting pods need it.",
    },
  );
}

/** What has to happen for the machine to be removed, once it is empty. */
function nextOf({ name, nodePool }: NodeView, pool: NodePoolView | undefined): string {
  switch (pool?.manager) {
    case "karpenter":
      return "Then delete it, as the next step does.";
    case "cluster-autoscaler": {
      const least =
        pool.minNodes === null
          ? "unless its group is at its smallest size"
          : `unless its group is at its smallest size (${pool.minNodes})`;
      return `The Cluster Autoscaler removes an empty node by itself after its time for unneeded nodes (10 minutes where nothing else is set), ${least}.`;
    }
    case "cloud":
      return `Nothing in the cluster ends its machine: take this very node out of node pool ${nodePool} in the cloud, and make the pool one smaller.`;
    default:
      return `Nothing in the cluster ends its machine: switch it off where it came from, then delete node ${name}.`;
  }
}

/** Restarts the exporter on a node: its DaemonSet makes a new pod at once. */
export function restartExporter({ analysis: { snapshot } }: AdviceMoment, index: number): StepsFound {
  const node = snapshot.nodes[index];
  if (node === undefined) return noSteps("the node is not there any more");
  const pods = snapshot.exporterPods.filter(({ nodeName }) => nodeName === node.name);
  const [pod, ...others] = pods;
  if (pod === undefined) return noSteps(`no pod of a GPU exporter is known on node ${node.name}`);
  if (others.length > 0)
    return noSteps(`${pods.length} exporters run on node ${node.name}: which one is stuck is not known`);
  return allSteps([
    evictionStep(pod, {
      title: `Restart exporter ${pod.namespace}/${pod.name} on node ${node.name}`,
      waitFor: `A new pod of its DaemonSet is ready on ${node.name}, and its page has rows again.`,
    }),
  ]);
}

const labelKey = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const labelText = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

/** Sets a label of a node, which may have another value now. */
export function labelNode(
  { analysis: { snapshot } }: AdviceMoment,
  index: number,
  label: string,
  value: string,
): StepsFound {
  const node = snapshot.nodes[index];
  if (node === undefined) return noSteps("the node is not there any more");
  if (!labelKey.test(label) || !labelText.test(value)) return noSteps("it is no label that Kubernetes allows");
  if (node.labels[label] === value) return noSteps(`Node ${node.name} has ${label}=${value} already`);
  return allSteps([
    stepOf(mergePatch(refOfNode(node.name), uidOf(node), { metadata: { labels: { [label]: value } } }), {
      title: `Label node ${node.name} ${label}=${value}`,
      precondition: sameNode(node),
    }),
  ]);
}

/** Why Karpenter keeps empty nodes: `consolidateAfter` is Never, or these budgets (indices) allow no disruption. */
export type KeptBy = "never" | readonly number[];

/**
 * Lets Karpenter remove empty nodes of a NodePool after this many minutes, and no other nodes: nodes on which something runs
 * are disrupted no more than before. The fields were checked against the CRD of v1 (`spec.disruption`); budgets of v1beta1 have
 * no reasons.
 */
export function removeEmptyNodes({ name, karpenter }: NodePoolView, by: KeptBy, afterMinutes: number): StepsFound {
  if (karpenter === undefined || karpenter === null) return noSteps(`NodePool ${name} could not be read`);
  const at = ["spec", "disruption"] as const;
  const operations: PatchOperation[] = [];
  const before: PatchOperation[] = [];
  if (by === "never") {
    before.push({ op: "test", at: [...at, "consolidateAfter"], value: "Never" });
    operations.push(setAt([...at, "consolidateAfter"], `${Math.ceil(afterMinutes)}m`));
    if (karpenter.consolidationPolicy !== "WhenEmpty")
      operations.push(setAt([...at, "consolidationPolicy"], "WhenEmpty"));
  } else {
    if (karpenter.revision?.apiVersion.endsWith("/v1beta1") === true)
      return noSteps("its budgets have no reasons before karpenter.sh/v1: change them where the NodePool comes from");
    // The last budget is changed first, so that the indices of the others stay valid.
    for (const index of [...by].sort((a, b) => b - a)) {
      const budget = karpenter.budgets?.[index];
      if (budget === undefined) return noSteps(`NodePool ${name} has other budgets now`);
      const place = [...at, "budgets", index] as const;
      before.push({ op: "test", at: [...place, "nodes"], value: budget.nodes });
      const others = budget.reasons.length === 0 ? [...otherReasons] : budget.reasons.filter((one) => one !== "Empty");
      operations.push(
        others.length === 0 ? { op: "remove", at: place } : { op: "add", at: [...place, "reasons"], value: others },
      );
    }
  }
  const target = queueTarget("NodePool", karpenter, { apiVersion: "karpenter.sh/v1", resource: "nodepools" });
  const title = `Let Karpenter remove empty nodes of NodePool ${name}`;
  const owned = "Nobody wants its empty nodes kept: nodes that are, are to be labelled (idle.warmPools).";
  const step = guardedPatch(target, title, operations, before, owned);
  const waitFor = "Its empty nodes are gone. Karpenter adds nodes again when waiting pods need them.";
  return allSteps([step === null ? null : { ...step, waitFor }]);
}

/** The reasons for which Karpenter disrupts nodes, except for `Empty`. */
const otherReasons = ["Drifted", "Underutilized"] as const;
