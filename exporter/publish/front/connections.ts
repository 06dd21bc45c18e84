import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressOf } from "./caller.ts";

interface Connection {
  readonly socket: Socket;
  readonly peer: Peer;
  /** How many answers are under way. */
  answers: number;
}

/** All connections of one address. */
interface Peer {
  count: number;
  /** Those on which nothing is asked, in the order of their last use. */
  readonly idle: Set<Connection>;
}

/**
 * Keeps the number of connections below a limit without refusing anybody: for one more, one on which nothing is asked is closed,
 * of the address that has most of them, the one that was used longest ago. Only where answers are under way on all of them is
 * the new one refused.
 */
export function limitConnections(server: Server, limit: number): void {
  const known = new Map<string, Connection>();
  const peers = new Map<string, Peer>();
  const forget = (key: string, connection: Connection, address: string): void => {
    if (known.get(key) !== connection) return;
    known.delete(key);
    const { peer } = connection;
    peer.idle.delete(connection);
    peer.count -= 1;
    if (peer.count === 0) peers.delete(address);
  };
  server.on("connection", (socket: Socket) => {
    if (known.size >= limit) {
      const idle = idlest(peers);
      (idle?.socket ?? socket).destroy();
      if (idle === null) return;
    }
    const [key, address] = [keyOf(socket), addressOf(socket)];
    const peer = peers.get(address) ?? { count: 0, idle: new Set() };
    peers.set(address, peer);
    const connection: Connection = { socket, peer, answers: 0 };
    peer.count += 1;
    peer.idle.add(connection);
    known.set(key, connection);
    socket.once("close", () => forget(key, connection, address));
  });
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const connection = known.get(keyOf(request.socket));
    if (connection === undefined) return;
    connection.answers += 1;
    connection.peer.idle.delete(connection);
    response.once("close", () => {
      connection.answers -= 1;
      if (connection.answers === 0 && !connection.socket.destroyed) connection.peer.idle.add(connection);
    });
  });
}

/** With TLS, requests come on another socket than the connection's: both have these ends. */
const keyOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

/** The connection that gives way; from then on it is none of those. */
function idlest(peers: ReadonlyMap<string, Peer>): Connection | null {
  let most: Peer | null = null;
  for (const peer of peers.values()) if (peer.idle.size > 0 && peer.count > (most?.count ?? 0)) most = peer;
  const [connection] = most?.idle ?? [];
  if (connection === undefined) return null;
  connection.peer.idle.delete(connection);
  return connection;
}
