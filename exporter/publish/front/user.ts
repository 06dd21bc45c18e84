import type { ServerResponse } from "node:http";

const users = new WeakMap<ServerResponse, string>();

/** Who sent the request of this response, as far as it was asked; empty where everybody may. */
export function userOf(response: ServerResponse): string {
  return users.get(response) ?? "";
}

/** Remembers who sent the request: for what has checked it, or was informed by who has. */
export function setUser(response: ServerResponse, user: string): void {
  users.set(response, user);
}
