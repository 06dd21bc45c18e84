import { parseJson } from "../../kernel/parseJson.ts";
import type { OwnerObject } from "../../model/cluster.ts";
import type { OwnerRef } from "../../model/pod.ts";
import type { ApiClient } from "./apiClient.ts";
import type { Clock } from "./clock.ts";
import { decodeOwner } from "./decodeOwner.ts";
import { type Discovered, discover } from "./discovery.ts";
import { hasGangSize } from "./gangSize.ts";
import { groupVersionPath } from "./kinds.ts";
import { ownerResource, parseApiVersion } from "./ownerKinds.ts";
import { resourceName } from "./rights.ts";
import { getGood, type Setback } from "./setback.ts";

/** A reference to follow: the controller of an object in a namespace. */
export interface WantedOwner {
  readonly namespace: string;
  readonly owner: OwnerRef;
}

export type OwnerReading = { readonly type: "found"; readonly object: OwnerObject } | OwnerNotRead;

/** The reason why an owner was not read. */
export type OwnerNotRead =
  /** The chain ends here. `forbiddenResource` names the resource if the whole kind may not be read, and is else `null`. */
  | { readonly type: "unreadable"; readonly reason: string; readonly forbiddenResource: string | null }
  /** The reading failed and is to be tried again. */
  | { readonly type: "failed"; readonly reason: string; readonly retryAfterSeconds: number };

/** The path at which an owner can be read. */
interface OwnerAddress {
  readonly type: "path";
  readonly path: string;
  readonly resource: string;
}

/** Reads one owner. `isForbidden` returns whether a resource may not be read. */
export type ReadOwner = (
  wanted: WantedOwner,
  isForbidden: (resource: string) => boolean,
  signal: AbortSignal,
) => Promise<OwnerReading>;

/** The greatest number of groups and versions that are remembered. References are text of users: more than this are made up. */
const maxGroupVersions = 200;

/** The media type that requests nothing but the metadata. */
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/**
 * The media type for whole objects: for a job its gang size is needed, too, and for a batch/v1 Job how it handles lost pods.
 */
const whole = "application/json";
const deadlineSeconds = 15;
const maxBytes = 2 * 1024 * 1024;

/**
 * Creates a reader of the metadata of owners, and of whole jobs. Known kinds are found by table, others by discovery of their
 * group, which is remembered for a while. An object of the same name with another uid is another object: then the owner is
 * gone.
 */
export function createOwnerReader(client: ApiClient, clock: Clock, rememberSeconds: number): ReadOwner {
  const discovered = new Map<string, { readonly at: number; readonly found: Promise<Discovered> }>();

  /** What a group and version serves; `null` where too many groups are already remembered. */
  const served = async (group: string, version: string, signal: AbortSignal): Promise<Discovered | null> => {
    const now = clock.monotonic();
    for (const [key, { at }] of discovered) if (now - at >= rememberSeconds) discovered.delete(key);
    const key = `${group}/${version}`;
    const known = discovered.get(key);
    if (known !== undefined) return await known.found;
    if (discovered.size >= maxGroupVersions) return null;
    const found = discover(client, group, version, signal);
    discovered.set(key, { at: now, found });
    const result = await found;
    if (!result.ok && result.setback.state === "failing") discovered.delete(key);
    return result;
  };

  const find = async ({ namespace, owner }: WantedOwner, signal: AbortSignal): Promise<OwnerAddress | OwnerNotRead> => {
    const parsed = parseApiVersion(owner.apiVersion);
    const isName = /^[A-Za-z0-9][A-Za-z0-9.:_-]{0,252}$/.test(owner.name);
    if (parsed === null || !isName) return unreadable("the reference is malformed");
    const { group, version } = parsed;
    const pathOf = (resource: string, isNamespaced: boolean): OwnerAddress => {
      const place = isNamespaced ? `/namespaces/${encodeURIComponent(namespace)}` : "";
      const path = `${groupVersionPath(group, version)}${place}/${encodeURIComponent(resource)}/${encodeURIComponent(owner.name)}`;
      return { type: "path", path, resource: resourceName(group, resource) };
    };
    const known = ownerResource(group, owner.kind);
    if (known !== null) return pathOf(known, true);
    // Secrets and the like are in the core group, so only the kinds of the table are ever requested there.
    if (group === "") return unreadable(`${owner.kind} is not a kind of workload`);
    const found = await served(group, version, signal);
    if (found === null) return unreadable("owners name too many API groups");
    if (!found.ok) return notRead({ ...found.setback, retryAfterSeconds: 0 }, null);
    const match = found.resources.find((resource) => resource.kind === owner.kind);
    if (match === undefined) return unreadable(`${owner.apiVersion} has no kind ${owner.kind}`);
    return pathOf(match.resource, match.namespaced);
  };

  return async (wanted, isForbidden, signal) => {
    const { owner } = wanted;
    const address = await find(wanted, signal);
    if (address.type !== "path") return address;
    const { path, resource } = address;
    if (isForbidden(resource)) return unreadable(`${resource} may not be read`, resource);
    const accept = hasGangSize(owner) ? whole : metadataOnly;
    const answer = await getGood(client, path, { accept, signal, deadlineSeconds, maxBytes });
    if (!answer.ok) return notRead(answer.setback, resource);
    const decoded = decodeOwner(parseJson(answer.body), owner);
    if (!decoded.ok) return unreadable(decoded.problem.message);
    if (decoded.value.uid !== owner.uid) return unreadable("another object has its name now");
    return { type: "found", object: decoded.value };
  };
}

function notRead({ state, message, retryAfterSeconds }: Setback, resource: string | null): OwnerNotRead {
  if (state === "failing") return { type: "failed", reason: message, retryAfterSeconds: retryAfterSeconds ?? 0 };
  return unreadable(message, state === "forbidden" ? resource : null);
}

function unreadable(reason: string, forbiddenResource: string | null = null): OwnerNotRead {
  return { type: "unreadable", reason, forbiddenResource };
}
