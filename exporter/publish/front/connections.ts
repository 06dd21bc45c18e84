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
  /** The connections on which no request is under way, in the order of their last use. */
  readonly idle: Set<Connection>;
}

/**
 * Keeps the number of connections within a limit without refusing anybody. When one more comes, a connection without a request
 * under way is closed: the one that was used longest ago, of the address that has the most connections. The new connection is
 * refused only if answers are under way on all others.
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

/**
 * The key of a connection. With TLS, requests come on another socket object than the connection's, but both have the same ends.
 */
const keyOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

/** Returns the connection that gives way, and removes it from the idle ones; `null` if none is idle. */
function idlest(peers: ReadonlyMap<string, Peer>): Connection | null {
  let most: Peer | null = null;
  for (const peer of peers.values()) if (peer.idle.size > 0 && peer.count > (most?.count ?? 0)) most = peer;
  const [connection] = most?.idle ?? [];
  if (connection === undefined) return null;
  connection.peer.idle.delete(connection);
  return connection;
}
