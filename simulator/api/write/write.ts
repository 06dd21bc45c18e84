import type { JsonValue } from "../../../exporter/model/recommendation.ts";
import { itemsAt } from "../../json.ts";
import type { KubeObject } from "../../objects/kubeObject.ts";
import { apiVersionOf, type KindInfo } from "../kinds.ts";
import type { ResourceRequest } from "../route.ts";
import { methodNotAllowed, notFound } from "../status.ts";
import { type ObjectStore, objectKey } from "../store.ts";
import { bodyLimit } from "./body.ts";
import { answerChange } from "./change.ts";
import type { ClusterControls } from "./controls.ts";
import { answerEviction, statusAnswer, unmetPrecondition, type WriteAnswer } from "./evict.ts";
import { success, tooLarge, unknownDryRun, unsupportedBody } from "./writeStatus.ts";

/** A request that changes something. */
export interface WriteRequest {
  readonly method: string;
  readonly asked: ResourceRequest;
  /** The media type alone; empty without a header. */
  readonly contentType: string;
  /** The body; `null`: it is larger than the server takes. */
  readonly body: string | null;
  /** Values of the query's `dryRun`. */
  readonly dryRun: readonly string[];
}

/** Kinds with a scale subresource. */
const scaled: ReadonlySet<string> = new Set(["deployments", "statefulsets", "leaderworkersets"]);

/** Whether a kind has this subresource. */
export function hasSubresource({ resource, group }: KindInfo, name: string): boolean {
  return name === "scale" ? scaled.has(resource) : name === "eviction" && resource === "pods" && group === "";
}

/** Answers a write. Only pods and nodes can be deleted, and nothing but evictions can be created. */
export function answerWrite(store: ObjectStore, controls: ClusterControls, request: WriteRequest): WriteAnswer {
  const { method, asked, contentType, body } = request;
  const { info, namespace, name, subresource } = asked;
  if (name === null || !isAllowed(method, asked)) return statusAnswer(methodNotAllowed());
  if (body === null) return statusAnswer(tooLarge(bodyLimit));
  const content = parsed(body);
  const verb = method === "DELETE" ? "Delete" : method === "PATCH" ? "Patch" : "Create";
  const dryRuns = [...request.dryRun, ...bodyDryRun(subresource === "eviction" ? "deleteOptions" : "", content)];
  const unknown = dryRuns.find((value) => value !== "All");
  if (unknown !== undefined) return statusAnswer(unknownDryRun(verb, unknown));
  const dryRun = dryRuns.length > 0;
  if (method !== "PATCH" && contentType !== "" && contentType !== "application/json") {
    return statusAnswer(unsupportedBody());
  }
  if (subresource === "eviction") {
    return answerEviction(store, controls, { info, namespace: namespace ?? "", name, eviction: content, dryRun });
  }
  const key = objectKey(namespace ?? undefined, name);
  const object = store.get(info.shelf, key)?.object;
  if (object === undefined) return statusAnswer(notFound(info, name));
  if (method === "DELETE") return answerDeletion(controls, info, object, content, dryRun);
  const change = {
    info,
    object,
    subresource: subresource === "scale" ? ("scale" as const) : null,
    contentType: method === "PUT" ? "put" : contentType,
    body,
    dryRun,
  };
  return answerChange(controls, change, () => store.get(info.shelf, key)?.object ?? object);
}

/** Whether objects of a kind can be deleted here. */
export function isDeletable({ kind }: KindInfo): boolean {
  return kind === "Pod" || kind === "Node";
}

function isAllowed(method: string, { info, subresource }: ResourceRequest): boolean {
  if (subresource === "eviction") return method === "POST";
  if (method === "DELETE") return subresource === null && isDeletable(info);
  return method === "PATCH" || method === "PUT";
}

/** The parsed text; `null` if it is empty or no JSON. */
function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function bodyDryRun(field: string, body: JsonValue): readonly string[] {
  const values = field === "" ? itemsAt(body, "dryRun") : itemsAt(body, field, "dryRun");
  return values.map(String);
}

function answerDeletion(
  controls: ClusterControls,
  info: KindInfo,
  object: KubeObject,
  options: JsonValue,
  dryRun: boolean,
): WriteAnswer {
  const unmet = unmetPrecondition(info, object, options);
  if (unmet !== null) return unmet;
  const { name, namespace, uid } = object.metadata;
  if (info.kind === "Pod") {
    if (!dryRun) controls.removePod(namespace ?? "", name, "deletion");
    return { code: 200, body: { kind: info.kind, apiVersion: apiVersionOf(info), ...object } };
  }
  if (!dryRun) controls.deleteNode(name);
  return { code: 200, body: success({ details: { name, kind: info.resource, uid } }) };
}
