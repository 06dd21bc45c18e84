import { type KindInfo, qualifiedResource } from "../kinds.ts";
import { type ApiStatus, failure } from "../status.ts";

/** A `Status` that reports success, as the answer to an eviction and to some deletions. */
export interface ApiSuccess {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: "Success";
  readonly details?: object;
  readonly code?: number;
}

/** A success. The body only repeats `code` where the API server does so. */
export function success(more: Pick<ApiSuccess, "details" | "code">): ApiSuccess {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", ...more };
}

function groupField(info: KindInfo): object {
  return info.group === "" ? {} : { group: info.group };
}

/** The difference between an object and a precondition of a deletion or eviction. */
export type UnmetPrecondition = {
  readonly of: "UID" | "ResourceVersion";
  readonly asked: string;
  readonly found: string;
};

/** 409: the object in the precondition is another one, or another version. */
export function preconditionFailed(info: KindInfo, name: string, unmet: UnmetPrecondition): ApiStatus {
  const since = unmet.of === "UID" ? "deleted and then recreated" : "modified";
  const why = `the ${unmet.of} in the precondition (${unmet.asked}) does not match the ${unmet.of} in record (${unmet.found}). The object might have been ${since}`;
  const subject = info.group === "" ? info.kind : `${info.kind}.${info.group}`;
  const message = `Operation cannot be fulfilled on ${subject} "${name}": ${why}`;
  return failure(409, "Conflict", message, { name, ...groupField(info), kind: info.kind });
}

/** 409: the patch names an older version of the object. */
export function modified(info: KindInfo, name: string): ApiStatus {
  const why = "the object has been modified; please apply your changes to the latest version and try again";
  const message = `Operation cannot be fulfilled on ${qualifiedResource(info)} "${name}": ${why}`;
  return failure(409, "Conflict", message, { name, ...groupField(info), kind: info.resource });
}

/** 409: the scale subresource checks a uid as a precondition. */
export function scaleUidFailed(info: KindInfo, name: string, asked: string, found: string): ApiStatus {
  const kind = `${info.resource}/scale`;
  const subject = info.group === "" ? kind : `${kind}.${info.group}`;
  const why = `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${found}`;
  const message = `Operation cannot be fulfilled on ${subject} "${name}": ${why}`;
  return failure(409, "Conflict", message, { name, ...groupField(info), kind });
}

/** 422: a field has a value that the object cannot have. */
export function invalidField(info: KindInfo, name: string, field: string, value: string, why: string): ApiStatus {
  const subject = info.group === "" ? info.kind : `${info.kind}.${info.group}`;
  const problem = `Invalid value: ${value}: ${why}`;
  const causes = [{ reason: "FieldValueInvalid", message: problem, field }];
  const details = { name, ...groupField(info), kind: info.kind, causes };
  return failure(422, "Invalid", `${subject} "${name}" is invalid: ${field}: ${problem}`, details);
}

/** 422: `dryRun` has a value other than `All`. */
export function unknownDryRun(verb: "Create" | "Patch" | "Delete", asked: string): ApiStatus {
  const kind = `${verb}Options`;
  const problem = `Unsupported value: ["${asked}"]: supported values: "All"`;
  const causes = [{ reason: "FieldValueNotSupported", message: problem, field: "dryRun" }];
  const details = { group: "meta.k8s.io", kind, causes };
  return failure(422, "Invalid", `${kind}.meta.k8s.io "" is invalid: dryRun: ${problem}`, details);
}

/** 422: an operation of a JSON patch cannot be done, or its `test` failed; the server does not say which. */
export function patchFailed(): ApiStatus {
  return failure(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

/** 413: the body is larger than the limit. */
export function tooLarge(limit: number): ApiStatus {
  return failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`);
}

/** 415: a patch has a media type that is not supported. */
export function unsupportedPatch(): ApiStatus {
  return failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

/** 415: any other body has a media type that is not supported. */
export function unsupportedBody(): ApiStatus {
  const message =
    "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf";
  return failure(415, "UnsupportedMediaType", message);
}

/** 429: the budget allows no eviction. `counts` is `null` before the controller of budgets has looked at it. */
export function budgetExhausted(
  budget: string,
  counts: { readonly needed: number; readonly healthy: number } | null,
): ApiStatus {
  const message =
    counts === null
      ? `The disruption budget ${budget} is still being processed by the server.`
      : `The disruption budget ${budget} needs ${counts.needed} healthy pods and has ${counts.healthy} currently`;
  const causes = [{ reason: "DisruptionBudget", message }];
  const details = counts === null ? { causes, retryAfterSeconds: 10 } : { causes };
  const refused = "Cannot evict pod as it would violate the pod's disruption budget.";
  return failure(429, "TooManyRequests", refused, details);
}

/** 500: two budgets select the pod. The API server gives no reason there. */
export function severalBudgets(): Omit<ApiStatus, "reason"> {
  const message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 };
}
