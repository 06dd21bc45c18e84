import { isRecord, parseJson } from "../../kernel/parseJson.ts";
import type { ApiClient } from "./apiClient.ts";
import { groupVersionPath, type WatchedKind } from "./kinds.ts";
import type { Located } from "./reflector.ts";
import { failing, getGood, type Setback } from "./setback.ts";

/** One resource that a group and version serves. */
export interface ServedResource {
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
}

export type Discovered =
  | { readonly ok: true; readonly resources: readonly ServedResource[] }
  | { readonly ok: false; readonly setback: Setback };

const deadlineSeconds = 15;
const maxBytes = 4 * 1024 * 1024;

/** The resources that a group and version serves; `absent` where the API server does not have it. Subresources are left out. */
export async function discover(
  client: ApiClient,
  group: string,
  version: string,
  signal: AbortSignal,
): Promise<Discovered> {
  const path = groupVersionPath(group, version);
  const answer = await getGood(client, path, { accept: "application/json", signal, deadlineSeconds, maxBytes });
  if (!answer.ok) return answer;
  const resources = resourcesOf(answer.body);
  if (resources === null) return { ok: false, setback: failing(`${path} did not answer with a list of resources`) };
  return { ok: true, resources };
}

function resourcesOf(body: Buffer): readonly ServedResource[] | null {
  const document = parseJson(body);
  if (!isRecord(document) || !Array.isArray(document.resources)) return null;
  const entries: readonly unknown[] = document.resources;
  return entries.flatMap((entry) => {
    if (!isRecord(entry) || typeof entry.kind !== "string" || typeof entry.name !== "string") return [];
    if (entry.name.includes("/")) return [];
    return [{ kind: entry.kind, resource: entry.name, namespaced: entry.namespaced === true }];
  });
}

/**
 * The path of a kind's collection, in the best version that the API server has. Discovery, which every account may read, shows
 * whether a cluster has an optional kind: a list that the role does not allow is answered with "forbidden" even for a kind that
 * does not exist.
 */
export async function locateKind(client: ApiClient, kind: WatchedKind, signal: AbortSignal): Promise<Located> {
  const [only, ...others] = kind.versions;
  if (others.length === 0 && !kind.optional)
    return { ok: true, path: `${groupVersionPath(kind.group, only)}/${kind.resource}` };
  for (const version of kind.versions) {
    const found = await discover(client, kind.group, version, signal);
    if (found.ok && found.resources.some((served) => served.resource === kind.resource)) {
      return { ok: true, path: `${groupVersionPath(kind.group, version)}/${kind.resource}` };
    }
    if (!found.ok && found.setback.state !== "absent") return found;
  }
  const message = `the API server has ${kind.resource}.${kind.group} in none of ${kind.versions.join(", ")}`;
  return { ok: false, setback: { state: "absent", message, retryAfterSeconds: null } };
}
