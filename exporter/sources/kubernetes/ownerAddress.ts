import type { OwnerRef } from "../../model/pod.ts";
import type { ApiClient } from "./apiClient.ts";
import type { Clock } from "./clock.ts";
import { type Discovered, discover } from "./discovery.ts";
import { groupVersionPath } from "./kinds.ts";
import { ownerResource, parseApiVersion } from "./ownerKinds.ts";
import { resourceName } from "./rights.ts";

/** Where an owner can be read. `unreadable`: nowhere, and that will not change soon. `unknown`: ask again later. */
export type OwnerAddress =
  | { readonly type: "path"; readonly path: string; readonly resource: string }
  | { readonly type: "unreadable"; readonly reason: string }
  | { readonly type: "unknown"; readonly reason: string };

export interface OwnerAddresses {
  find(namespace: string, owner: OwnerRef, signal: AbortSignal): Promise<OwnerAddress>;
}

/** References are user's text: more groups than this are made up. */
const maxGroupVersions = 200;

/** Finds owners' paths: known kinds by table, others by discovery of their group, which is remembered for a while. */
export function createOwnerAddresses(client: ApiClient, clock: Clock, rememberSeconds: number): OwnerAddresses {
  const discovered = new Map<string, { readonly at: number; readonly found: Promise<Discovered> }>();

  const forgetOld = (now: number): void => {
    for (const [key, { at }] of discovered) if (now - at >= rememberSeconds) discovered.delete(key);
  };

  /** `null` where too many groups are remembered already. */
  const served = async (group: string, version: string, signal: AbortSignal): Promise<Discovered | null> => {
    const key = `${group}/${version}`;
    const now = clock.monotonic();
    forgetOld(now);
    const known = discovered.get(key);
    if (known !== undefined) return await known.found;
    if (discovered.size >= maxGroupVersions) return null;
    const found = discover(client, group, version, signal);
    discovered.set(key, { at: now, found });
    const result = await found;
    if (!result.ok && result.setback.state === "failing") discovered.delete(key);
    return result;
  };

  return {
    find: async (namespace, owner, signal) => {
      const parsed = parseApiVersion(owner.apiVersion);
      const isName = /^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$/.test(owner.name);
      if (parsed === null || !isName) return { type: "unreadable", reason: "the reference is malformed" };
      const { group, version } = parsed;
      const base = groupVersionPath(group, version);
      const place = `namespaces/${encodeURIComponent(namespace)}`;
      const name = encodeURIComponent(owner.name);
      const known = ownerResource(group, owner.kind);
      if (known !== null) {
        return { type: "path", path: `${base}/${place}/${known}/${name}`, resource: resourceName(group, known) };
      }
      // Secrets and the like are in the core group: only the kinds of the table are ever asked for there.
      if (group === "") return { type: "unreadable", reason: `${owner.kind} is not a kind of workload` };
      const found = await served(group, version, signal);
      if (found === null) return { type: "unreadable", reason: "owners name too many API groups" };
      if (!found.ok) {
        const type = found.setback.state === "failing" ? "unknown" : "unreadable";
        return { type, reason: found.setback.message };
      }
      const match = found.resources.find((resource) => resource.kind === owner.kind);
      if (match === undefined) return { type: "unreadable", reason: `${owner.apiVersion} has no kind ${owner.kind}` };
      const resource = encodeURIComponent(match.resource);
      const path = match.namespaced ? `${base}/${place}/${resource}/${name}` : `${base}/${resource}/${name}`;
      return { type: "path", path, resource: resourceName(group, match.resource) };
    },
  };
}
