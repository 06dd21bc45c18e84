/**
 * All exporters of a fleet in one process: one listener on all loopback addresses, where `127.1AB.1CD.1EF` is node ABCDEF. It
 * implements only the necessary parts of HTTP/1.1, so that it adds little to what is measured. Argument: the number of nodes.
 */
import { createServer, type Socket } from "node:net";
import { answerCommands, reply } from "./ipc.ts";
import { changeOf, type FleetPod, nodeOfAddress, podAt, podsPerNode } from "./layout.ts";
import { createPage, type Page, refreshPage } from "./pages.ts";

const nodes = Number(process.argv[2]);
const generations = new Uint32Array(nodes * podsPerNode);
const pages: (Page | undefined)[] = new Array(nodes);
const rounds = new Uint32Array(nodes);
/** As the servers of real exporters do, which are written in Go. */
const idleMs = 10_000;
const sockets = new Set<Socket>();
let podLabels: Buffer | null = null;

function holdersOn(node: number): readonly FleetPod[] {
  const from = node * podsPerNode;
  return Array.from({ length: podsPerNode }, (_, slot) => podAt(from + slot, generations[from + slot] ?? 0)).filter(
    ({ gpus }) => gpus.length > 0,
  );
}

/** The page of `kube_pod_labels` that kube-state-metrics would give for all pods. */
function podLabelsPage(): Buffer {
  const lines = ["# HELP kube_pod_labels [STABLE] Kubernetes labels.\n# TYPE kube_pod_labels gauge\n"];
  for (const [index, generation] of generations.entries()) {
    const { namespace, name, uid, job } = podAt(index, generation);
    lines.push(
      `kube_pod_labels{namespace="${namespace}",pod="${name}",uid="${uid}",label_team="${namespace}",` +
        `label_queue="${namespace}-queue",label_job_name="${job}"} 1\n`,
    );
  }
  return Buffer.from(lines.join(""), "latin1");
}

function bodyFor(node: number, request: string): Buffer {
  if (request.startsWith("GET /pod-labels")) {
    podLabels ??= podLabelsPage();
    return podLabels;
  }
  const page = pages[node] ?? createPage(node, holdersOn(node));
  pages[node] = page;
  rounds[node] = (rounds[node] ?? 0) + 1;
  refreshPage(page, (rounds[node] ?? 0) + node);
  return page.bytes;
}

function serve(socket: Socket): void {
  const node = nodeOfAddress(socket.localAddress ?? "");
  socket.setNoDelay(true);
  sockets.add(socket);
  socket.setTimeout(idleMs, () => socket.destroy());
  socket.on("close", () => sockets.delete(socket));
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    const request = chunk.toString("latin1", 0, 64);
    const body = node < nodes || !request.startsWith("GET /metrics") ? bodyFor(node, request) : Buffer.alloc(0);
    socket.cork();
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    socket.uncork();
  });
}

const closeConnections = (): void => {
  for (const socket of sockets) socket.destroy();
};
answerCommands((cycle) => {
  let events = 0;
  for (const index of generations.keys()) {
    if (changeOf(index, cycle) !== "replaced") continue;
    generations[index] = (generations[index] ?? 0) + 1;
    pages[Math.floor(index / podsPerNode)] = undefined;
    events += 1;
  }
  return { events, version: "" };
}, closeConnections);
const server = createServer({ noDelay: true }, serve);
server.listen({ port: 0, host: "0.0.0.0", backlog: 4096 }, () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) reply({ type: "listening", port: address.port });
});
