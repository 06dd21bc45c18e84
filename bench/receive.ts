/**
 * What does a page cost from socket to columns? Gets the pages of all nodes: by bare sockets, which is the least that Node's own
 * sockets cost; by Fairlead's client, thrown away or read; and on new connections, because real exporters close those that are
 * idle for ten seconds.
 */
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { configSchema } from "../exporter/config/schema.ts";
import { createPageReader } from "../exporter/sources/dcgm/pageReader.ts";
import { createGetPool, type GetRequest } from "../exporter/sources/http/getPool.ts";
import { startFleet } from "./fleet/fleet.ts";
import { nodeAddress } from "./fleet/layout.ts";
import { type Contender, collectGarbage, compare, ratioByRounds } from "./measure.ts";
import { ask } from "./question.ts";

const readBytes = 262_144;
/** Enough for the ends of all connections to arrive before a sample begins. */
const untilClosedMs = 500;
const [bare, bareReopened, received, parsed, reopened] = [
  "bare sockets",
  "bare sockets on new connections",
  "receive alone",
  "receive and parse",
  "receive and parse on new connections",
] as const;

await ask("receive", async ({ nodes, samples, helpers, progress }) => {
  const fleet = await startFleet(nodes);
  for (const pid of fleet.pids) helpers.add(pid);
  const { dcgm, interval } = configSchema.parse({ cluster: "bench" });
  const pool = createGetPool({
    timeoutSeconds: dcgm.timeoutSeconds,
    maxBytes: dcgm.maxPageBytes,
    concurrency: dcgm.concurrency,
    backOff: { firstSeconds: interval, maxSeconds: 4 * interval },
    accept: "text/plain;version=0.0.4",
    keepAliveSeconds: 3 * interval,
    now: () => performance.now() / 1000,
    random: Math.random,
  });
  const requests = Array.from(
    { length: nodes },
    (_, node): GetRequest => ({
      url: `http://${nodeAddress(node)}:${fleet.exporterPort}/metrics`,
      auth: { kind: "none" },
      caFile: null,
      insecureSkipVerify: false,
    }),
  );
  const readers = requests.map(({ url }, node) =>
    createPageReader({ target: url, node: `node-${node}`, origin: "exporter", splitsByHost: false }),
  );
  const getAll = async (consume: (node: number, body: Buffer) => unknown): Promise<void> => {
    const results = await Promise.all(
      requests.map((request, node) => pool.get(request, (body) => consume(node, body) !== null)),
    );
    if (results.some(({ ok }) => !ok)) throw new Error("a page could not be received");
  };
  const readAll = (): Promise<void> => getAll((node, body) => readers[node]?.read(body, 0).pages.length);
  const sockets = bareSockets(nodes, fleet.exporterPort, dcgm.concurrency);
  progress("memory of connections and of what is remembered of pages");
  const atFirst = keptBytes();
  await sockets.getAll();
  const withConnections = keptBytes();
  await readAll();
  const withReaders = keptBytes();
  const closeAll = async (): Promise<void> => {
    await fleet.closeConnections();
    await wait(untilClosedMs);
  };
  const contenders: readonly Contender[] = [
    { name: bareReopened, run: sockets.getAll, prepare: closeAll },
    { name: reopened, run: readAll, prepare: closeAll },
    { name: parsed, run: readAll },
    { name: received, run: () => getAll((_node, body) => body.length) },
    // Its connections were closed before, too: they are opened again, unmeasured.
    { name: bare, run: sockets.getAll, prepare: sockets.getAll },
  ];
  progress("pages by turns");
  const measurements = await compare(contenders, { samples, warmUps: 2 });
  sockets.close();
  await pool.close();
  fleet.stop();
  return {
    measurements,
    figures: {
      bytesPerConnection: (withConnections - atFirst) / nodes,
      bytesPerClient: (withReaders - withConnections) / nodes,
      ratioOfReceivedToBare: ratioByRounds(measurements, (cpu) => cpu(received) / cpu(bare)),
      ratioOfParsedToBare: ratioByRounds(measurements, (cpu) => cpu(parsed) / cpu(bare)),
      ratioOfReopenedToBare: ratioByRounds(measurements, (cpu) => cpu(reopened) / cpu(bareReopened)),
      ratioOfReopenedToParsed: ratioByRounds(measurements, (cpu) => cpu(reopened) / cpu(parsed)),
    },
  };
});

/** Bytes that are alive, in the heap and beside it. */
function keptBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A kept connection for each node that reads answers of an announced length into one buffer and looks at nothing else. */
function bareSockets(nodes: number, port: number, concurrency: number) {
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  const connections = Array.from({ length: nodes }, (_, node) => bareSocket(nodeAddress(node), port, buffer));
  return {
    getAll: async (): Promise<void> => {
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < nodes) {
          const connection = connections[next];
          next += 1;
          await connection?.get();
        }
      };
      await Promise.all(Array.from({ length: concurrency }, worker));
    },
    close: () => {
      for (const { close } of connections) close();
    },
  };
}

function bareSocket(host: string, port: number, buffer: Buffer) {
  let left = 0;
  let done = (): void => {};
  const callback = (count: number): boolean => {
    if (left === 0) {
      const head = buffer.toString("latin1", 0, Math.min(count, 512));
      const length = /Content-Length: (\d+)\r\n/.exec(head)?.[1];
      left = Number(length) + head.indexOf("\r\n\r\n") + 4;
    }
    left -= count;
    if (left === 0) done();
    return true;
  };
  let socket: ReturnType<typeof connect> | null = null;
  const request = `GET /metrics HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
  return {
    get: (): Promise<void> =>
      new Promise((resolve, reject) => {
        done = resolve;
        if (socket === null || socket.destroyed) {
          left = 0;
          socket = connect({ host, port, onread: { buffer, callback } });
          socket.on("error", reject);
        }
        socket.write(request, "latin1");
      }),
    close: () => socket?.destroy(),
  };
}
