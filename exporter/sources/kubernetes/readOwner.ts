import { parseJson } from "../../kernel/parseJson.ts";
import type { OwnerObject } from "../../model/cluster.ts";
import type { OwnerRef } from "../../model/pod.ts";
import type { ApiClient } from "./apiClient.ts";
import { decodeOwner } from "./decodeOwner.ts";
import { hasGangSize } from "./gangSize.ts";
import type { OwnerAddresses } from "./ownerAddress.ts";
import { setbackOf } from "./setback.ts";

/** A reference to follow: the controller of an object in a namespace. */
export interface WantedOwner {
  readonly namespace: string;
  readonly owner: OwnerRef;
}

export type OwnerReading =
  | { readonly type: "found"; readonly object: OwnerObject }
  /** The chain ends here. `forbiddenResource`: the whole kind may not be read. */
  | { readonly type: "unreadable"; readonly reason: string; readonly forbiddenResource: string | null }
  | { readonly type: "failed"; readonly reason: string; readonly retryAfterSeconds: number };

/** Asks for nothing but the metadata. */
const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/** For a job, how many pods start together is needed, too, and for a batch/v1 Job how it handles lost pods. */
const whole = "application/json";
const deadlineSeconds = 15;
const maxBytes = 2 * 1024 * 1024;

/**
 * Reads the metadata of one owner, and a job whole. An object of the same name with another uid is another object: then the
 * owner is gone.
 */
export async function readOwner(
  client: ApiClient,
  addresses: OwnerAddresses,
  wanted: WantedOwner,
  isForbidden: (resource: string) => boolean,
  signal: AbortSignal,
): Promise<OwnerReading> {
  const { owner, namespace } = wanted;
  const address = await addresses.find(namespace, owner, signal);
  if (address.type === "unknown") return { type: "failed", reason: address.reason, retryAfterSeconds: 0 };
  if (address.type === "unreadable") return unreadable(address.reason);
  if (isForbidden(address.resource)) return unreadable(`${address.resource} may not be read`, address.resource);
  const accept = hasGangSize(owner) ? whole : metadataOnly;
  const answer = await client.get(address.path, { accept, signal, deadlineSeconds, maxBytes });
  if (!answer.ok) return { type: "failed", reason: answer.message, retryAfterSeconds: 0 };
  if (answer.status !== 200) {
    const setback = setbackOf(answer.status, answer.body, answer.retryAfterSeconds);
    if (setback.state === "failing") {
      return { type: "failed", reason: setback.message, retryAfterSeconds: setback.retryAfterSeconds ?? 0 };
    }
    return unreadable(setback.message, setback.state === "forbidden" ? address.resource : null);
  }
  const decoded = decodeOwner(parseJson(answer.body), owner);
  if (!decoded.ok) return unreadable(decoded.problem.message);
  if (decoded.value.uid !== owner.uid) return unreadable("another object has its name now");
  return { type: "found", object: decoded.value };
}

function unreadable(reason: string, forbiddenResource: string | null = null): OwnerReading {
  return { type: "unreadable", reason, forbiddenResource };
}
