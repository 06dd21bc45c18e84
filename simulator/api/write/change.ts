import type { JsonValue } from "../../../exporter/model/recommendation.ts";
import { at, isArray, isObject, numberAt, textAt, textsAt, toJson } from "../../json.ts";
import { annotationsField, type KubeObject, labelsField } from "../../objects/kubeObject.ts";
import { apiVersionOf, type KindInfo } from "../kinds.ts";
import { badRequest } from "../status.ts";
import type { ClusterControls } from "./controls.ts";
import { statusAnswer, type WriteAnswer } from "./evict.ts";
import { jsonPatch } from "./jsonPatch.ts";
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

/** Answers a PATCH or PUT: 200 with the object as it is then, or why it is refused. */
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
      // Custom resources know no strategic merge.
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

/** Name, namespace, uid and version in the patched object must be those of the object. */
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

/** Fields that the cluster acts on must have their type. */
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

/** The object with labels, annotations and spec of a patched document; nobody else may write the rest. */
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
    // Zero is left out, as the Go type does.
    spec: replicas === 0 ? {} : { replicas },
    status: { replicas, selector: selector.map((pair) => pair.join("=")).join(",") },
  };
}
