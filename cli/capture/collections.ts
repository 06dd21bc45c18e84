import { z } from "zod";
import { parseJson } from "../../exporter/kernel/parseJson.ts";
import type { ApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { type Discovered, discover } from "../../exporter/sources/kubernetes/discovery.ts";
import { groupVersionPath, watchedKinds } from "../../exporter/sources/kubernetes/kinds.ts";
import { ownerKinds } from "../../exporter/sources/kubernetes/ownerKinds.ts";
import { resourceName } from "../../exporter/sources/kubernetes/rights.ts";
import { failing, type Setback, setbackOf } from "../../exporter/sources/kubernetes/setback.ts";

/** All objects of one kind that the API server has. */
export interface Collection {
  /** The name that messages of RBAC use: `pods`, `jobs.batch`. */
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly path: string;
}

/** A kind for which it is not known where the API server has it. */
interface Unlocated {
  readonly name: string;
  readonly setback: Setback;
}

/** The kinds that can be listed, and those that could not be asked for. */
export type FoundCollections =
  | {
      readonly ok: true;
      readonly collections: readonly Collection[];
      readonly failed: readonly Unlocated[];
    }
  | { readonly ok: false; readonly setback: Setback };

const groupList = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      versions: z.array(z.object({ version: z.string() })),
      preferredVersion: z.object({ version: z.string() }).optional(),
    }),
  ),
});

const deadlineSeconds = 15;
const maxBytes = 4 * 1024 * 1024;

/** Finds where the API server has the kinds that answers are made of: all kinds that are watched, and all that own pods. */
export async function findCollections(client: ApiClient, signal: AbortSignal): Promise<FoundCollections> {
  const groups = await servedGroups(client, signal);
  if (!groups.ok) return groups;
  const asked = new Map<string, Promise<Discovered>>();
  const resourcesOf = (group: string, version: string): Promise<Discovered> => {
    const key = `${group}/${version}`;
    const known = asked.get(key) ?? discover(client, group, version, signal);
    asked.set(key, known);
    return known;
  };
  const found = await Promise.all(
    listedKinds().map(async ({ group, resource, versions }): Promise<Collection | Unlocated | null> => {
      const served = groups.versions.get(group) ?? [];
      const name = resourceName(group, resource);
      for (const version of versions === null ? served : versions.filter((one) => served.includes(one))) {
        const answer = await resourcesOf(group, version);
        if (!answer.ok && answer.setback.state === "absent") continue;
        if (!answer.ok) return { name, setback: answer.setback };
        const kind = answer.resources.find((one) => one.resource === resource)?.kind;
        if (kind === undefined) continue;
        const apiVersion = group === "" ? version : `${group}/${version}`;
        return { name, kind, apiVersion, path: `${groupVersionPath(group, version)}/${resource}` };
      }
      return null;
    }),
  );
  return {
    ok: true,
    collections: found.flatMap((one) => (one !== null && "path" in one ? [one] : [])),
    failed: found.flatMap((one) => (one !== null && "setback" in one ? [one] : [])),
  };
}

/** A kind that is listed where the API server has it. */
export interface ListedKind {
  readonly group: string;
  readonly resource: string;
  /** The versions that a decoder reads, best first; `null`: any version. */
  readonly versions: readonly string[] | null;
}

/** All kinds that answers are made of. Pods and nodes come first, because they show where the exporters are. */
export function listedKinds(): readonly ListedKind[] {
  const wanted = new Map<string, ListedKind>();
  const { pods, nodes, ...others } = watchedKinds;
  for (const { group, resource, versions } of [pods, nodes, ...Object.values(others)])
    wanted.set(resourceName(group, resource), { group, resource, versions });
  for (const { group, resource } of Object.values(ownerKinds).flat()) {
    const name = resourceName(group, resource);
    if (!wanted.has(name)) wanted.set(name, { group, resource, versions: null });
  }
  return [...wanted.values()];
}

type ServedGroups =
  | { readonly ok: true; readonly versions: ReadonlyMap<string, readonly string[]> }
  | { readonly ok: false; readonly setback: Setback };

/** The versions of each group, starting with the one that the server prefers. */
async function servedGroups(client: ApiClient, signal: AbortSignal): Promise<ServedGroups> {
  const answer = await client.get("/apis", { accept: "application/json", signal, deadlineSeconds, maxBytes });
  if (!answer.ok) return { ok: false, setback: failing(answer.message) };
  if (answer.status !== 200)
    return { ok: false, setback: setbackOf(answer.status, answer.body, answer.retryAfterSeconds) };
  const parsed = groupList.safeParse(parseJson(answer.body));
  if (!parsed.success) return { ok: false, setback: failing("/apis did not answer with a list of API groups") };
  const versions = new Map<string, readonly string[]>([["", ["v1"]]]);
  for (const { name, versions: all, preferredVersion } of parsed.data.groups) {
    const names = all.map(({ version }) => version);
    const first = preferredVersion === undefined ? [] : [preferredVersion.version];
    versions.set(name, [...new Set([...first, ...names])]);
  }
  return { ok: true, versions };
}
