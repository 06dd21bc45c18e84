import type { OwnerRef } from "../../model/pod.ts";
import type { AdviceStep, ApiRequest, JsonValue } from "../../model/recommendation.ts";
import { commandOf } from "./command.ts";
import { isObjectName, isUid, pathOf, type ResourceRef } from "./resourceRef.ts";

/** The steps of a change, or the reason why no request to the API makes it. */
export type StepsFound =
  | { readonly ok: true; readonly steps: readonly AdviceStep[] }
  | { readonly ok: false; readonly reason: string };

/** The texts of a step besides its request. */
export interface StepWords {
  readonly title: string;
  readonly precondition: string;
  readonly waitFor?: string | null;
}

/** One step; `null` if its request cannot be written safely (a name that no object can have). */
export function stepOf(request: ApiRequest | null, words: StepWords): AdviceStep | null {
  const rendered = request === null ? null : commandOf(request);
  if (request === null || rendered === null) return null;
  const { title, precondition, waitFor = null } = words;
  return { title, request, precondition, ...rendered, waitFor };
}

/**
 * A JSON merge patch (RFC 7386). If it contains a uid, the server refuses it for another object of the same name, because it
 * would change an immutable field (422 Invalid).
 */
export function mergePatch(
  ref: ResourceRef,
  uid: string | null,
  fields: { readonly [key: string]: JsonValue } & { readonly metadata?: { readonly [key: string]: JsonValue } },
): ApiRequest | null {
  const path = pathOf(ref);
  if (path === null) return null;
  const { metadata, ...rest } = fields;
  const named = { ...(uid === null ? {} : { uid }), ...metadata };
  const body = Object.keys(named).length === 0 ? rest : { metadata: named, ...rest };
  return { verb: "PATCH", path, contentType: "application/merge-patch+json", body };
}

/** One operation of a JSON patch (RFC 6902); `at` is its path as a list of parts. */
export type PatchOperation =
  | { readonly op: "test" | "add" | "replace"; readonly at: readonly (string | number)[]; readonly value: JsonValue }
  | { readonly op: "remove"; readonly at: readonly (string | number)[] };

/** A JSON patch, of which nothing is applied if one `test` fails. */
export function jsonPatch(ref: ResourceRef, operations: readonly PatchOperation[]): ApiRequest | null {
  const path = pathOf(ref);
  if (path === null) return null;
  const body = operations.map((one): JsonValue => {
    const pointer = one.at.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
    return one.op === "remove" ? { op: one.op, path: pointer } : { op: one.op, path: pointer, value: one.value };
  });
  return { verb: "PATCH", path, contentType: "application/json-patch+json", body };
}

/** The steps as a result, or the reason why there is none: one of them could not be written. */
export function allSteps(steps: readonly (AdviceStep | null)[]): StepsFound {
  const written = steps.filter((step) => step !== null);
  if (written.length < steps.length) return noSteps("a name in it is none that an object of Kubernetes can have");
  return written.length === 0 ? noSteps("there is nothing to change") : { ok: true, steps: written };
}

/** The result if no request makes the change, with the reason. */
export const noSteps = (reason: string): StepsFound => ({ ok: false, reason });

/**
 * A Command of Volcano (`bus.volcano.sh/v1alpha1`), which requests an action of Volcano's controllers on a Job or Queue. It is
 * written as `vcctl` writes it (pkg/cli/util, pkg/cli/queue). It names its target by uid and goes away with it.
 */
export function volcanoCommand(
  namespace: string,
  action: "AbortJob" | "ResumeJob" | "OpenQueue",
  target: OwnerRef,
): ApiRequest | null {
  if (!isObjectName(namespace) || !isObjectName(target.name) || !isUid(target.uid)) return null;
  const { apiVersion, kind, name, uid } = target;
  const reference = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  return {
    verb: "POST",
    path: `/apis/bus.volcano.sh/v1alpha1/namespaces/${encodeURIComponent(namespace)}/commands`,
    contentType: "application/json",
    body: {
      apiVersion: "bus.volcano.sh/v1alpha1",
      kind: "Command",
      metadata: { generateName: `${name}-${action.toLowerCase()}-`, ownerReferences: [reference] },
      target: reference,
      action,
    },
  };
}
