import type { ServerResponse } from "node:http";

const users = new WeakMap<ServerResponse, string>();

/** The user who sent the request of this response, if this was asked; empty if everybody may. */
export function userOf(response: ServerResponse): string {
  return users.get(response) ?? "";
}

/** Remembers the user who sent the request, for the code that has checked it. */
export function setUser(response: ServerResponse, user: string): void {
  users.set(response, user);
}
