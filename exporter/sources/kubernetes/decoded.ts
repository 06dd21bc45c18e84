import { isRecord } from "../../kernel/parseJson.ts";
import type { OwnerRef } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import { child, flag, items, type Place, placeOf, text, time } from "./fields.ts";

/** A record, or why there is none. */
export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

/** The metadata that every object has. */
export interface ObjectMeta {
  readonly namespace: string;
  readonly name: string;
  /** The uid, or `namespace/name` where the object has none, as in hand-written files. */
  readonly uid: string;
  /** Creation time, seconds since the epoch; `null` where the object has none. */
  readonly createdAt: number | null;
}

/**
 * Turns one object from outside into a record: `project` reads what it needs and notes faults at its place. An object with
 * faults gives no record but a problem, which names the object and every faulty path.
 */
export function decodeObject<T>(
  kind: string,
  value: unknown,
  project: (object: Place, meta: ObjectMeta) => T,
): Decoded<T> {
  if (!isRecord(value)) return { ok: false, problem: malformed(kind, null, "it is not an object") };
  const object = placeOf(value);
  const meta = objectMeta(object);
  if (meta.name === "" && object.faults.length === 0) object.faults.push("metadata.name is missing");
  if (object.faults.length === 0) {
    const record = project(object, meta);
    if (object.faults.length === 0) return { ok: true, value: record };
  }
  const subject = meta.name === "" ? null : meta.namespace === "" ? meta.name : `${meta.namespace}/${meta.name}`;
  // A field that is read several times is reported only once.
  const faults = [...new Set(object.faults)];
  const shown = faults.slice(0, 3).join("; ");
  const more = faults.length > 3 ? `; and ${faults.length - 3} more` : "";
  return { ok: false, problem: malformed(kind, subject, shown + more) };
}

function objectMeta(object: Place): ObjectMeta {
  const metadata = child(object, "metadata");
  const namespace = text(metadata, "namespace") ?? "";
  const name = text(metadata, "name") ?? "";
  const uid = text(metadata, "uid");
  return {
    namespace,
    name,
    uid: uid === null || uid === "" ? `${namespace}/${name}` : uid,
    createdAt: time(metadata, "creationTimestamp"),
  };
}

function malformed(kind: string, subject: string | null, found: string): Problem {
  return {
    source: "kubernetes",
    code: "malformed-object",
    severity: "warning",
    subject: subject === null ? kind : `${kind} ${subject}`,
    message: `${kind} ${subject ?? "without a name"} is left out: ${found}.`,
    nextStep: `Look at the object with "kubectl get -o yaml" and correct the field, or report it if it is valid.`,
  };
}

/** The owner that controls the object: the reference marked `controller`, else the only reference, else none. */
export function controllerOf(object: Place): OwnerRef | null {
  const references = items(child(object, "metadata"), "ownerReferences");
  const controller = references.find((reference) => flag(reference, "controller")) ?? onlyOne(references);
  if (controller === undefined) return null;
  return {
    apiVersion: text(controller, "apiVersion") ?? "",
    kind: text(controller, "kind") ?? "",
    name: text(controller, "name") ?? "",
    uid: text(controller, "uid") ?? "",
  };
}

function onlyOne(references: readonly Place[]): Place | undefined {
  return references.length === 1 ? references[0] : undefined;
}
