import { createServer, type RequestListener } from "node:http";
import type { Duplex } from "node:stream";
import { setUser } from "./user.ts";

/**
 * Answers the questions that `forward` sends: one at a time on each way. The result takes such a way, and the user whom the
 * other side has authenticated.
 */
export function createAnswerer(answers: RequestListener): (way: Duplex, user: string) => void {
  const users = new WeakMap<object, string>();
  const server = createServer((request, response) => {
    setUser(response, users.get(request.socket) ?? "");
    answers(request, response);
  });
  // Limits of time belong to the side that speaks with the network.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.timeout = 0;
  return (way, user) => {
    users.set(way, user);
    server.emit("connection", way);
  };
}
