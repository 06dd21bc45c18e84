import { connect as connectSocket, type Socket } from "node:net";

/** A connection to a server, and what it is busy with. */
export interface Connection<E> {
  readonly socket: Socket;
  /** Under which name it is kept while it is idle. */
  readonly url: string;
  /** `null` while it is idle. */
  exchange: E | null;
  /** Whether it carried a request before. */
  isReused: boolean;
}

/** What connections say. */
export interface ConnectionEvents<E> {
  /** Bytes came; they are overwritten once this returns. */
  readonly bytes: (connection: Connection<E>, bytes: Buffer) => void;
  /** No more will come: the other side ended it (`null`), or it broke. May be reported several times. */
  readonly end: (connection: Connection<E>, error: Error | null) => void;
}

/** Where a connection leads. */
export interface ConnectionTarget {
  readonly url: string;
  readonly host: string;
  readonly port: number;
}

/** Opens a connection that reads into `readBuffer`; what is written before it is open is sent then. */
export function connect<E>(
  { url, host, port }: ConnectionTarget,
  readBuffer: Buffer,
  events: ConnectionEvents<E>,
): Connection<E> {
  const socket = connectSocket({
    host,
    port,
    onread: {
      buffer: readBuffer,
      callback: (count) => {
        events.bytes(connection, readBuffer.subarray(0, count));
        return true;
      },
    },
  });
  const connection: Connection<E> = { socket, url, exchange: null, isReused: false };
  const ended = (): void => events.end(connection, null);
  socket.on("error", (error) => events.end(connection, error));
  socket.on("end", ended);
  socket.on("close", ended);
  return connection;
}
