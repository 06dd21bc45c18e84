import type { JsonValue } from "../../../exporter/model/recommendation.ts";
import { at, isArray, isObject, numberAt, sameJson, textAt, textsAt, toJson } from "../../json.ts";
import { annotationsField, type KubeObject, labelsField } from "../../objects/kubeObject.ts";
import { apiVersionOf, type KindInfo } from "../kinds.ts";
import { badRequest } from "../status.ts";
import type { ClusterControls } from "./controls.ts";
import { statusAnswer, type WriteAnswer } from "./evict.ts";
import { mergePatch } from "./mergePatch.ts";
import { invalidField, modified, patchFailed, scaleUidFailed, unsupportedPatch } from "./writeStatus.ts";

/** A PATCH, or a PUT (`put`), of an object or of its scale. */
export interface ChangeRequest {
  readonly info: KindInfo;
  readonly object: KubeObject;
  readonly subresource: "scale" | null;
  readonly contentType: string;
  readonly body: string;
  readonly dryRun: boolean;
}

/** Answers a PATCH or PUT: 200 with the object after the change, or why the change is refused. */
export function answerChange(controls: ClusterControls, asked: ChangeRequest, current: () => KubeObject): WriteAnswer {
  const { info, object, subresource, dryRun } = asked;
  const before = toJson(subresource === null ? object : scaleOf(object));
  const patched = patchedDocument(asked, before);
  if ("refused" in patched) return patched.refused;
  const after = patched.document;
  const refused = identityProblem(asked, after) ?? valueProblem(info, object.metadata.name, after);
  if (refused !== null) return refused;
  const wanted =
    subresource === null
      ? amended(object, after)
      : amended(object, mergePatch(toJson(object), { spec: { replicas: numberAt(after, "spec", "replicas") ?? 0 } }));
  if (!dryRun) controls.change(info, wanted);
  const shown = dryRun ? wanted : current();
  return { code: 200, body: subresource === null ? kinded(info, shown) : scaleOf(shown) };
}

type Patched = { readonly document: JsonValue } | { readonly refused: WriteAnswer };

function patchedDocument({ info, contentType, body }: ChangeRequest, before: JsonValue): Patched {
  const patch = parsed(body);
  const isStrategic = contentType === "application/strategic-merge-patch+json";
  switch (contentType) {
    case "put":
    case "application/merge-patch+json":
    case "application/strategic-merge-patch+json":
      // Custom resources do not support strategic merge patches.
      if (isStrategic && info.custom) return { refused: statusAnswer(unsupportedPatch()) };
      if (!isObject(patch)) return { refused: undecodable(patch, "map[string]interface {}") };
      return { document: contentType === "put" ? patch : mergePatch(before, patch, isStrategic) };
    case "application/json-patch+json": {
      if (!isArray(patch)) return { refused: undecodable(patch, "[]handlers.jsonPatchOp") };
      const document = jsonPatch(before, patch);
      return document === null ? { refused: statusAnswer(patchFailed()) } : { document };
    }
    default:
      return { refused: statusAnswer(unsupportedPatch()) };
  }
}

/** Applies a JSON patch (RFC 6902): the patched document; `null` when an operation cannot be done or a `test` fails. */
function jsonPatch(document: JsonValue, operations: readonly JsonValue[]): JsonValue | null {
  let patched: JsonValue | null = document;
  for (const operation of operations) {
    if (patched === null) return null;
    patched = applyOperation(patched, operation);
  }
  return patched;
}

function applyOperation(document: JsonValue, operation: JsonValue): JsonValue | null {
  const path = pointer(textAt(operation, "path"));
  const value = at(operation, "value");
  if (path === null) return null;
  const found = at(document, ...path);
  switch (textAt(operation, "op")) {
    case "test":
      return sameJson(found, value ?? null) ? document : null;
    case "add":
      return value === undefined ? null : write(document, path, value, "add");
    case "replace":
      return value === undefined || found === undefined ? null : write(document, path, value, "replace");
    case "remove":
      return found === undefined ? null : write(document, path, undefined, "replace");
    case "copy":
      return copy(document, operation, path, false);
    case "move":
      return copy(document, operation, path, true);
    default:
      return null;
  }
}

function copy(document: JsonValue, operation: JsonValue, path: readonly string[], moves: boolean): JsonValue | null {
  const from = pointer(textAt(operation, "from"));
  const copied = from === null ? undefined : at(document, ...from);
  if (from === null || copied === undefined) return null;
  const rest = moves ? write(document, from, undefined, "replace") : document;
  return rest === null ? null : write(rest, path, copied, "add");
}

/** The parts of a JSON pointer (RFC 6901); `null` for text that is none. */
function pointer(text: string | null): readonly string[] | null {
  if (text === null || (text !== "" && !text.startsWith("/"))) return null;
  const parts = text
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return parts.includes("__proto__") ? null : parts;
}

type How = "add" | "replace";

/** A copy of the document with `value` at the path, or without it (`undefined`); `null` where the path leads nowhere. */
function write(document: JsonValue, path: readonly string[], value: JsonValue | undefined, how: How): JsonValue | null {
  const [key, ...rest] = path;
  if (key === undefined) return value ?? null;
  if (isArray(document)) return writeItem(document, key, rest, value, how);
  if (!isObject(document)) return null;
  const { [key]: inner, ...others } = document;
  if (rest.length === 0) return value === undefined ? others : { ...document, [key]: value };
  const changed = inner === undefined ? null : write(inner, rest, value, how);
  return changed === null ? null : { ...document, [key]: changed };
}

function writeItem(
  items: readonly JsonValue[],
  key: string,
  rest: readonly string[],
  value: JsonValue | undefined,
  how: How,
): JsonValue | null {
  const index = key === "-" ? items.length : Number(key);
  if (!Number.isInteger(index) || index < 0 || index > items.length) return null;
  if (rest.length === 0) return items.toSpliced(index, how === "add" ? 0 : 1, ...(value === undefined ? [] : [value]));
  const inner = items[index];
  const changed = inner === undefined ? null : write(inner, rest, value, how);
  return changed === null ? null : items.with(index, changed);
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function undecodable(patch: JsonValue | undefined, wanted: string): WriteAnswer {
  const found = isArray(patch) ? "array" : typeof patch;
  const why =
    patch === undefined ? "invalid character" : `json: cannot unmarshal ${found} into Go value of type ${wanted}`;
  return statusAnswer(badRequest(`error decoding patch: ${why}`));
}

/** Refuses a change of the identity: name, namespace, uid and version in the patched object must be those of the object. */
function identityProblem({ info, object, subresource }: ChangeRequest, after: JsonValue): WriteAnswer | null {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  for (const [field, known] of [
    ["name", name],
    ["namespace", namespace],
  ] as const) {
    const asked = textAt(after, "metadata", field);
    if (asked === null || asked === known) continue;
    const message = `the ${field} of the object (${asked}) does not match the ${field} on the URL (${known ?? ""})`;
    return statusAnswer(badRequest(message));
  }
  const askedUid = textAt(after, "metadata", "uid");
  if (askedUid !== null && askedUid !== uid) {
    if (subresource === "scale") return statusAnswer(scaleUidFailed(info, name, askedUid, uid));
    return statusAnswer(invalidField(info, name, "metadata.uid", JSON.stringify(askedUid), "field is immutable"));
  }
  const version = textAt(after, "metadata", "resourceVersion");
  return version === null || version === resourceVersion ? null : statusAnswer(modified(info, name));
}

const typedFields = { suspend: "boolean", active: "boolean", unschedulable: "boolean", replicas: "number" } as const;

/** Refuses wrong types in the fields that the cluster acts on. */
function valueProblem(info: KindInfo, name: string, after: JsonValue): WriteAnswer | null {
  for (const [field, type] of Object.entries(typedFields)) {
    const value = at(after, "spec", field);
    const text = JSON.stringify(value);
    if (value === undefined) continue;
    if (typeof value !== type) {
      return statusAnswer(invalidField(info, name, `spec.${field}`, text, `must be of type ${type}`));
    }
    if (typeof value === "number" && value < 0) {
      return statusAnswer(invalidField(info, name, `spec.${field}`, text, "must be greater than or equal to 0"));
    }
  }
  return null;
}

/** The object with the labels, annotations and spec of a patched document; a write cannot change the rest. */
export function amended(object: KubeObject, document: JsonValue): KubeObject {
  const { labels: _labels, annotations: _annotations, ...metadata } = object.metadata;
  const spec = at(document, "spec");
  return {
    ...object,
    metadata: {
      ...metadata,
      ...labelsField(textsAt(document, "metadata", "labels")),
      ...annotationsField(textsAt(document, "metadata", "annotations")),
    },
    ...(isObject(spec) ? { spec } : {}),
  };
}

function kinded(info: KindInfo, object: KubeObject): object {
  return { kind: info.kind, apiVersion: apiVersionOf(info), ...object };
}

/** The Scale of a Deployment, StatefulSet or LeaderWorkerSet. */
export function scaleOf(object: KubeObject): object {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const document = toJson(object);
  const replicas = numberAt(document, "spec", "replicas") ?? 0;
  const selector = Object.entries(textsAt(document, "spec", "selector", "matchLabels"));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // A zero is left out, as the Go type does.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas, selector: selector.map((pair) => pair.join("=")).join(",") },
  };
}
