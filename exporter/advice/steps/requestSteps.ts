import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { AdviceMoment } from "../moment.ts";
import { resizedBy } from "./autoscaled.ts";
import { groupVersion, isUid } from "./resourceRef.ts";
import { allSteps, jsonPatch, noSteps, type PatchOperation, type StepsFound, stepOf } from "./step.ts";

/** Owners that recreate their pods when their template changes, by `Kind.group`; the values are their resources. */
const changeable: Readonly<Record<string, string>> = {
  "Deployment.apps": "deployments",
  "StatefulSet.apps": "statefulsets",
  "Notebook.kubeflow.org": "notebooks",
};

/** The form of the name of an extended resource: `domain/name`. */
const extendedResource = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;

/**
 * Changes the number of GPUs in the template of a workload's pods. Only the sum over all containers of a pod is known, so the
 * patch tests that the first one asks for all of them: if another container asks for some, or `requests` name GPUs too, the
 * patch is refused and nothing happens.
 */
export function changeRequest(
  { analysis: { snapshot } }: AdviceMoment,
  index: number,
  to: { readonly resource: string; readonly amount: number },
): StepsFound {
  const workload = snapshot.workloads[index];
  if (workload === undefined) return noSteps("the workload is not there any more");
  const { kind, namespace, name } = workload;
  const top = workload.owners.at(-1);
  if (top === undefined || top.kind !== kind || top.name !== name)
    return noSteps(`the owner of ${kind} ${namespace}/${name} could not be read`);
  const { group, version } = groupVersion(top.apiVersion);
  const key = `${kind}.${group}`;
  const resource = Object.hasOwn(changeable, key) ? changeable[key] : undefined;
  if (resource === undefined)
    return noSteps(`what a ${kind} asks for cannot be changed while it runs: its author asks for less next time`);
  if (!Number.isInteger(to.amount) || to.amount < 1 || !extendedResource.test(to.resource)) {
    return noSteps(`${to.amount} ${to.resource} is nothing that a container can ask for`);
  }
  const asked = askedBy(workload.pods.map((pod) => snapshot.pods[pod]?.needs?.requests ?? null));
  if (asked === null) return noSteps(`the pods of ${kind} ${namespace}/${name} do not all ask for the same GPUs`);
  if (asked.resource === to.resource && asked.amount === to.amount) return noSteps(`its pods ask for that already`);
  if (!isUid(top.uid)) return noSteps(`the uid of ${kind} ${namespace}/${name} is not known`);
  const limits = ["spec", "template", "spec", "containers", 0, "resources", "limits"];
  const change: readonly PatchOperation[] =
    asked.resource === to.resource
      ? [{ op: "replace", at: [...limits, to.resource], value: String(to.amount) }]
      : [
          { op: "remove", at: [...limits, asked.resource] },
          { op: "add", at: [...limits, to.resource], value: String(to.amount) },
        ];
  const request = jsonPatch({ group, version, resource, namespace, name }, [
    { op: "test", at: ["metadata", "uid"], value: top.uid },
    { op: "test", at: [...limits, asked.resource], value: String(asked.amount) },
    ...change,
  ]);
  const resizer = resizedBy(snapshot, workload);
  const beside =
    resizer === null
      ? ""
      : ` VerticalPodAutoscaler ${namespace}/${resizer.name} (${resizer.updateMode}) may restart them once more: it sets their CPU and memory, and leaves GPUs as they are.`;
  return allSteps([
    stepOf(request, {
      title: `Let the pods of ${kind} ${namespace}/${name} ask for ${to.amount} ${to.resource} instead of ${asked.amount} ${asked.resource}`,
      precondition: `${kind} ${namespace}/${name} is still the same one (its uid), and its first container asks for ${asked.amount} ${asked.resource} by its limits alone: the request tests the first two, the API server refuses where requests say otherwise.`,
      waitFor: `Its pods have been made anew: they restart, one after another as its strategy says.${beside}`,
    }),
  ]);
}

/** The only GPU resource that all pods ask for in the same way; `null` if there is none. */
function askedBy(
  pods: readonly (Readonly<Record<string, number>> | null)[],
): { readonly resource: string; readonly amount: number } | null {
  let found: { readonly resource: string; readonly amount: number } | null = null;
  for (const requests of pods) {
    const own = Object.entries(requests ?? {}).filter(([resource, amount]) => gpuLikeResource(resource) && amount > 0);
    const [first, ...others] = own;
    if (first === undefined || others.length > 0) return null;
    const [resource, amount] = first;
    if (!Number.isInteger(amount)) return null;
    if (found !== null && (found.resource !== resource || found.amount !== amount)) return null;
    found = { resource, amount };
  }
  return found;
}
