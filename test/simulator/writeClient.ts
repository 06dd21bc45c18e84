import { z } from "zod";
import type { Simulator } from "../../simulator/simulator.ts";
import { kubeObject, type SeenObject } from "./apiClient.ts";

export const merge = "application/merge-patch+json";
export const json = "application/json-patch+json";
export const strategic = "application/strategic-merge-patch+json";

/** What a write was answered: the HTTP status and the JSON, as far as these tests look at it. */
export interface Written {
  readonly code: number;
  readonly retryAfter: string | null;
  readonly body: z.infer<typeof answered>;
}

const answered = z.looseObject({
  kind: z.string(),
  status: z.unknown().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
  code: z.number().optional(),
  metadata: z.looseObject({ uid: z.string().optional(), resourceVersion: z.string().optional() }).optional(),
  spec: z.looseObject({}).optional(),
});

/** Sends a write as a client of the real API would. */
export async function send(
  simulator: Pick<Simulator, "apiUrl">,
  method: "POST" | "PATCH" | "PUT" | "DELETE",
  path: string,
  body?: unknown,
  contentType = "application/json",
): Promise<Written> {
  const response = await fetch(`${simulator.apiUrl}${path}`, {
    method,
    headers: { "content-type": contentType },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return {
    code: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: answered.parse(await response.json()),
  };
}

/** An Eviction; with a uid, only of that very pod. */
export function evictionOf(name: string, uid?: string): object {
  const deleteOptions = uid === undefined ? {} : { deleteOptions: { preconditions: { uid } } };
  return { apiVersion: "policy/v1", kind: "Eviction", metadata: { name }, ...deleteOptions };
}

/** Evicts a pod. */
export function evict(simulator: Pick<Simulator, "apiUrl">, { metadata }: SeenObject, more = ""): Promise<Written> {
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/eviction${more}`;
  return send(simulator, "POST", path, evictionOf(metadata.name, metadata.uid));
}

/** All objects of a collection. */
export async function objectsOf(simulator: Pick<Simulator, "apiUrl">, path: string): Promise<readonly SeenObject[]> {
  const list = z.object({ items: z.array(kubeObject) });
  return list.parse(await (await fetch(`${simulator.apiUrl}${path}`)).json()).items;
}

/** One object; fails when it is not there. */
export async function objectAt(simulator: Pick<Simulator, "apiUrl">, path: string): Promise<SeenObject> {
  return kubeObject.parse(await (await fetch(`${simulator.apiUrl}${path}`)).json());
}
