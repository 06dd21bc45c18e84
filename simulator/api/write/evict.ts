import type { JsonValue } from "../../../exporter/model/recommendation.ts";
import { at, numberAt, textAt, textsAt, toJson } from "../../json.ts";
import type { KubeObject } from "../../objects/kubeObject.ts";
import type { KindInfo } from "../kinds.ts";
import { badRequest, notFound } from "../status.ts";
import { type ObjectStore, objectKey } from "../store.ts";
import type { ClusterControls } from "./controls.ts";
import { budgetExhausted, preconditionFailed, severalBudgets, success } from "./writeStatus.ts";

/** An answer to a write: its HTTP status and its JSON. */
export interface WriteAnswer {
  readonly code: number;
  readonly body: object;
}

/** An answer that is a Status with its own code. */
export function statusAnswer(status: object & { readonly code: number }): WriteAnswer {
  return { code: status.code, body: status };
}

/** Says why an object is not the one that a deletion or eviction means; `null` when it is. */
export function unmetPrecondition(
  info: KindInfo,
  { metadata }: KubeObject,
  options: JsonValue | undefined,
): WriteAnswer | null {
  const uid = textAt(options, "preconditions", "uid");
  if (uid !== null && uid !== metadata.uid) {
    return statusAnswer(preconditionFailed(info, metadata.name, { of: "UID", asked: uid, found: metadata.uid }));
  }
  const version = textAt(options, "preconditions", "resourceVersion");
  const found = metadata.resourceVersion ?? "";
  if (version === null || version === found) return null;
  return statusAnswer(preconditionFailed(info, metadata.name, { of: "ResourceVersion", asked: version, found }));
}

/** What an eviction is about. */
export interface EvictionRequest {
  readonly info: KindInfo;
  readonly namespace: string;
  readonly name: string;
  /** The Eviction object; `null` where the body is no JSON. */
  readonly eviction: JsonValue | null;
  readonly dryRun: boolean;
}

/**
 * Answers a POST to the eviction subresource. The checks have the order of the API server
 * (registry/core/pod/storage/eviction.go): the name, the pod, its budgets (only of pods that run), then the preconditions.
 */
export function answerEviction(store: ObjectStore, controls: ClusterControls, asked: EvictionRequest): WriteAnswer {
  const { info, namespace, name, eviction, dryRun } = asked;
  const kind = textAt(eviction ?? undefined, "kind");
  if (eviction === null || (kind !== null && kind !== "Eviction")) {
    const what = eviction === null ? "couldn't get version/kind; json parse error" : `no kind "${kind}" is registered`;
    return statusAnswer(badRequest(`the object provided is unrecognized (must be of type Eviction): ${what}`));
  }
  const named = textAt(eviction, "metadata", "name");
  if (named !== null && named !== name) {
    return statusAnswer(badRequest("name in URL does not match name in Eviction object"));
  }
  const pod = store.get(info.shelf, objectKey(namespace, name))?.object;
  if (pod === undefined) return statusAnswer(notFound(info, name));
  const phase = textAt(toJson(pod), "status", "phase");
  const refused = phase === "Running" ? refusedByBudget(store, pod) : null;
  if (refused !== null) return refused;
  const unmet = unmetPrecondition(info, pod, at(eviction, "deleteOptions"));
  if (unmet !== null) return unmet;
  if (!dryRun) controls.removePod(namespace, name, "eviction");
  return { code: 201, body: success({ code: 201 }) };
}

function refusedByBudget(store: ObjectStore, pod: KubeObject): WriteAnswer | null {
  const budgets = store
    .list("poddisruptionbudgets")
    .filter(({ object }) => object.metadata.namespace === pod.metadata.namespace && selects(object, pod));
  const [budget] = budgets;
  if (budget === undefined) return null;
  if (budgets.length > 1) return statusAnswer(severalBudgets());
  const status = at(toJson(budget.object), "status");
  if ((numberAt(status, "disruptionsAllowed") ?? 0) > 0) return null;
  const needed = numberAt(status, "desiredHealthy");
  const healthy = numberAt(status, "currentHealthy");
  const counts = needed === null || healthy === null ? null : { needed, healthy };
  return statusAnswer(budgetExhausted(budget.object.metadata.name, counts));
}

/** Whether a budget selects a pod: all labels of its selector are on the pod. A selector without labels selects every pod. */
function selects(budget: KubeObject, pod: KubeObject): boolean {
  const wanted = textsAt(toJson(budget), "spec", "selector", "matchLabels");
  return Object.entries(wanted).every(([label, value]) => pod.metadata.labels?.[label] === value);
}
