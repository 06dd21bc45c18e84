import { type KindInfo, qualifiedResource } from "./kinds.ts";

/** A `Status` object, as the API server answers errors. */
export interface ApiStatus {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Readonly<Record<string, never>>;
  readonly status: "Failure";
  readonly message: string;
  readonly reason: string;
  readonly details?: object;
  readonly code: number;
}

/** A failure with its code, reason and message. */
export function failure(code: number, reason: string, message: string, details?: object): ApiStatus {
  const base = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason } as const;
  return details === undefined ? { ...base, code } : { ...base, details, code };
}

/** The user that messages name: the simulator asks for no credentials. */
const user = "system:serviceaccount:fairlead:fairlead";

export function forbidden(info: KindInfo, verb: string, namespace: string | null, name: string | null): ApiStatus {
  const subject = name === null ? qualifiedResource(info) : `${qualifiedResource(info)} "${name}"`;
  const where = namespace === null ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const what = `cannot ${verb} resource "${info.resource}" in API group "${info.group}"`;
  const message = `${subject} is forbidden: User "${user}" ${what} ${where}`;
  return failure(403, "Forbidden", message, detailsOf(info, name));
}

export function notFound(info: KindInfo, name: string): ApiStatus {
  return failure(404, "NotFound", `${qualifiedResource(info)} "${name}" not found`, detailsOf(info, name));
}

function detailsOf(info: KindInfo, name: string | null): object {
  return {
    ...(name === null ? {} : { name }),
    ...(info.group === "" ? {} : { group: info.group }),
    kind: info.resource,
  };
}

export function tooOldResourceVersion(asked: number, oldest: number): ApiStatus {
  return failure(410, "Expired", `too old resource version: ${asked} (${oldest})`);
}

export function expiredContinue(): ApiStatus {
  const message =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.";
  return failure(410, "Expired", message);
}

export function badRequest(message: string): ApiStatus {
  return failure(400, "BadRequest", message);
}

export function internalError(message: string): ApiStatus {
  const causes = { causes: [{ message }] };
  return failure(500, "InternalError", `Internal error occurred: ${message}`, causes);
}

export function methodNotAllowed(): ApiStatus {
  return failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

export function notAcceptable(): ApiStatus {
  const types = "application/json, application/json;stream=watch";
  return failure(406, "NotAcceptable", `only the following media types are accepted: ${types}`);
}
