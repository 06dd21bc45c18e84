import type { ServerResponse } from "node:http";
import { isIPv4, isIPv6, type Socket } from "node:net";

/**
 * The client's address for limits: an IPv4 address, or the network (/64) of an IPv6 address, because one machine may use all of
 * that network. Empty once the connection is gone.
 */
export function addressOf({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  const mapped = remoteAddress.slice(remoteAddress.lastIndexOf(":") + 1);
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(remoteAddress)) return remoteAddress;
  const [before = "", after] = (remoteAddress.split("%")[0] ?? "").split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const gap = after === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array.from({ length: gap }, () => "0"), ...tail];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

const users = new WeakMap<ServerResponse, string>();

/** The user who sent the request of this response; empty if nobody checked who it was, because everybody may read. */
export function userOf(response: ServerResponse): string {
  return users.get(response) ?? "";
}

/** Remembers the user who sent the request, for the code that has checked it. */
export function setUser(response: ServerResponse, user: string): void {
  users.set(response, user);
}
