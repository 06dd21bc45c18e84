import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";

/** An HTTP server on a free port of the loopback address. */
export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts to listen. Closing breaks off connections that are still open. */
export async function listen(handler: RequestListener): Promise<Listener> {
  const server = createServer({ keepAliveTimeout: 60_000 }, handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
