import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressOf } from "./address.ts";

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** How many answers are under way. */
  answers: number;
}

/**
 * Keeps the number of connections below a limit without refusing anybody: for one more, one on which nothing is asked is closed,
 * of the address that has most of them, the one that was used longest ago. Only where answers are under way on all of them is
 * the new one refused.
 */
export function limitConnections(server: Server, limit: number): void {
  /** In the order of their last use. */
  const known = new Map<string, Connection>();
  const use = (key: string, change: 1 | -1): void => {
    const connection = known.get(key);
    if (connection === undefined) return;
    connection.answers += change;
    known.delete(key);
    known.set(key, connection);
  };
  server.on("connection", (socket: Socket) => {
    if (known.size >= limit) {
      const [key, idle] = idlest(known) ?? [];
      if (key === undefined || idle === undefined) return void socket.destroy();
      known.delete(key);
      idle.socket.destroy();
    }
    const key = keyOf(socket);
    const connection: Connection = { socket, address: addressOf(socket), answers: 0 };
    known.set(key, connection);
    socket.once("close", () => {
      if (known.get(key) === connection) known.delete(key);
    });
  });
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const key = keyOf(request.socket);
    use(key, 1);
    response.once("close", () => use(key, -1));
  });
}

/** With TLS, requests come on another socket than the connection's: both have these ends. */
const keyOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

function idlest(known: ReadonlyMap<string, Connection>): readonly [string, Connection] | null {
  const counts = new Map<string, number>();
  for (const { address } of known.values()) counts.set(address, (counts.get(address) ?? 0) + 1);
  let found: readonly [string, Connection] | null = null;
  let most = 0;
  for (const [key, connection] of known) {
    const count = counts.get(connection.address) ?? 0;
    if (connection.answers > 0 || count <= most) continue;
    found = [key, connection];
    most = count;
  }
  return found;
}
