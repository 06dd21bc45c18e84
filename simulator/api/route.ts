import type { KindInfo } from "./kinds.ts";

/** What a URL asks for. */
export interface ResourceRequest {
  readonly info: KindInfo;
  /** The namespace; `null`: all namespaces, or a cluster-scoped kind. */
  readonly namespace: string | null;
  /** The name of the object; `null`: the collection. */
  readonly name: string | null;
  /** The subresource, such as `eviction` or `scale`; `null`: the object itself. */
  readonly subresource: string | null;
}

/** Reads `/api/v1/...` and `/apis/GROUP/VERSION/...`; `undefined` for anything that is no resource. */
export function resourceRequest(kinds: readonly KindInfo[], path: string): ResourceRequest | undefined {
  // Names in this API need no percent-encoding: a path that has some names nothing.
  if (path.includes("%")) return undefined;
  const parts = path.split("/").slice(1);
  const root = parts.shift();
  const group = root === "apis" ? parts.shift() : root === "api" ? "" : undefined;
  const version = parts.shift();
  if (group === undefined || version === undefined) return undefined;
  let namespace: string | null = null;
  // /namespaces/NAME alone is the Namespace object itself.
  if (parts[0] === "namespaces" && parts.length > 2) {
    namespace = parts[1] ?? null;
    parts.splice(0, 2);
  }
  const [resource, name, subresource, ...rest] = parts;
  const info = kinds.find((each) => each.resource === resource && each.group === group && each.version === version);
  if (info === undefined || rest.length > 0 || (namespace !== null && !info.namespaced)) return undefined;
  return { info, namespace, name: name ?? null, subresource: subresource ?? null };
}
