/**
 * A stand-in for an API server, in its own process. It answers lists (paged) and watches of the fleet's objects, in JSON or
 * protobuf according to `Accept`. Answers are written from templates, so that the stand-in adds little to what is measured.
 * Arguments: the number of nodes, and the port of the exporters.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createTemplates, type Encoding, encodeEvent, encodeList, objectBytes, podValues } from "./encodings.ts";
import { answerCommands, reply } from "./ipc.ts";
import {
  changeOf,
  digits,
  jobUid,
  nodeAddress,
  nodeName,
  podAt,
  podsPerNode,
  teamCount,
  teamName,
  widths,
} from "./layout.ts";
import { useExporterPort } from "./objects.ts";

const nodes = Number(process.argv[2]);
useExporterPort(Number(process.argv[3]));
const templates = { json: createTemplates("json"), protobuf: createTemplates("protobuf") };
const generations = new Uint32Array(nodes * podsPerNode);
let version = 10 ** (widths.version - 1);

interface Kind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly count: number;
  item(encoding: Encoding, index: number): Buffer;
}

const none = (kind: string, apiVersion: string): Kind => ({ kind, apiVersion, count: 0, item: () => Buffer.alloc(0) });

const podsPath = "/api/v1/pods";
const kinds: ReadonlyMap<string, Kind> = new Map([
  [podsPath, { kind: "Pod", apiVersion: "v1", count: nodes * podsPerNode, item: podItem }],
  ["/api/v1/nodes", { kind: "Node", apiVersion: "v1", count: nodes, item: nodeItem }],
  ["/api/v1/namespaces", { kind: "Namespace", apiVersion: "v1", count: teamCount, item: namespaceItem }],
  ["/apis/scheduling.k8s.io/v1/priorityclasses", none("PriorityClass", "scheduling.k8s.io/v1")],
  ["/apis/policy/v1/poddisruptionbudgets", none("PodDisruptionBudget", "policy/v1")],
]);

function podItem(encoding: Encoding, index: number): Buffer {
  return podBytes(encoding, { index, generation: generations[index] ?? 0, version });
}

function podBytes(encoding: Encoding, at: Pick<Change, "index" | "generation" | "version">): Buffer {
  const pod = podAt(at.index, at.generation);
  return objectBytes(templates[encoding].pods[pod.kind], podValues(pod, String(at.version)));
}

function nodeItem(encoding: Encoding, node: number): Buffer {
  const podUid = `${digits(node, 8)}-0000-4000-a000-000000000000`;
  const values = { node: nodeName(node), ip: nodeAddress(node), podUid, version: String(version) };
  return objectBytes(templates[encoding].node, { ...unused, ...values });
}

function namespaceItem(encoding: Encoding, team: number): Buffer {
  const podUid = `${digits(team, 8)}-0000-4000-b000-000000000000`;
  return objectBytes(templates[encoding].namespace, {
    ...unused,
    team: teamName(team),
    podUid,
    version: String(version),
  });
}

const unused = { node: "", team: "", podName: "", podUid: "", job: "", jobUid: "", ip: "" };

/** An event of the watch of pods. */
interface Change {
  readonly version: number;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly index: number;
  readonly generation: number;
}

/** The latest changes, which are kept for watches that are opened again. */
let history: Change[] = [];
const historyLength = 50_000;

interface Watch {
  readonly path: string;
  readonly encoding: Encoding;
  readonly response: ServerResponse;
}
const watches = new Set<Watch>();

const contentTypes = { json: "application/json", protobuf: "application/vnd.kubernetes.protobuf" } as const;

function handle(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://stand-in");
  const encoding: Encoding = request.headers.accept?.includes("application/vnd.kubernetes.protobuf")
    ? "protobuf"
    : "json";
  const kind = kinds.get(url.pathname);
  if (kind === undefined) {
    const job = /^\/apis\/batch\/v1\/namespaces\/([^/]+)\/jobs\/(train-(\d+))$/.exec(url.pathname);
    if (job !== null) sendJob(response, job[1] ?? "", job[2] ?? "", job[3] ?? "");
    else if (url.pathname === "/version") sendJson(response, 200, { major: "1", minor: "36", gitVersion: "v1.36.3" });
    else sendJson(response, 404, status(404, "NotFound", "the server could not find the requested resource"));
  } else if (!url.searchParams.has("watch")) list(kind, url, encoding, response);
  else if (url.searchParams.get("sendInitialEvents") === "true") {
    sendJson(response, 422, status(422, "Invalid", "sendInitialEvents is forbidden for watch"));
  } else watch(url, encoding, response);
}

function list(kind: Kind, url: URL, encoding: Encoding, response: ServerResponse): void {
  const from = Number(url.searchParams.get("continue") ?? 0);
  const limit = Number(url.searchParams.get("limit") ?? 0);
  const to = limit > 0 ? Math.min(kind.count, from + limit) : kind.count;
  const items: Buffer[] = [];
  for (let index = from; index < to; index += 1) items.push(kind.item(encoding, index));
  const next = to < kind.count ? String(to) : "";
  const head = { kind: `${kind.kind}List`, apiVersion: kind.apiVersion, version: String(version), next };
  const body = encodeList(encoding, head, items);
  response.writeHead(200, { "content-type": contentTypes[encoding], "content-length": body.length });
  response.end(body);
}

function watch(url: URL, encoding: Encoding, response: ServerResponse): void {
  const stream = encoding === "protobuf" ? ";stream=watch" : "";
  response.writeHead(200, { "content-type": `${contentTypes[encoding]}${stream}` });
  response.flushHeaders();
  const entry: Watch = { path: url.pathname, encoding, response };
  const seen = Number(url.searchParams.get("resourceVersion") ?? version);
  if (entry.path === podsPath) {
    const missed = history.filter((change) => change.version > seen);
    if (missed.length > 0) response.write(eventsOf(missed, encoding));
  }
  watches.add(entry);
  response.on("close", () => watches.delete(entry));
}

function eventsOf(changes: readonly Change[], encoding: Encoding): Buffer {
  return Buffer.concat(
    changes.map((change) => encodeEvent(encoding, change.type, "Pod", "v1", podBytes(encoding, change))),
  );
}

function sendJob(response: ServerResponse, namespace: string, name: string, number: string): void {
  sendJson(response, 200, {
    kind: "PartialObjectMetadata",
    apiVersion: "meta.k8s.io/v1",
    metadata: { name, namespace, uid: jobUid(number), resourceVersion: "1", creationTimestamp: "2026-11-20T08:00:00Z" },
  });
}

function sendJson(response: ServerResponse, code: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(code, { "content-type": "application/json", "content-length": bytes.length });
  response.end(bytes);
}

function status(code: number, reason: string, message: string): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
}

/** Sends the changes of a cycle to every watch of pods, and a bookmark to the others. */
function advance(cycle: number): { events: number; version: string } {
  const changes: Change[] = [];
  const add = (type: Change["type"], index: number): void => {
    version += 1;
    changes.push({ version, type, index, generation: generations[index] ?? 0 });
  };
  for (const [index, generation] of generations.entries()) {
    const change = changeOf(index, cycle);
    if (change === "none") continue;
    if (change === "modified") add("MODIFIED", index);
    else {
      add("DELETED", index);
      generations[index] = generation + 1;
      add("ADDED", index);
    }
  }
  history = [...history, ...changes].slice(-historyLength);
  for (const { path, encoding, response } of watches) {
    response.write(path === podsPath ? eventsOf(changes, encoding) : bookmark(path, encoding));
  }
  return { events: changes.length, version: String(version) };
}

function bookmark(path: string, encoding: Encoding): Buffer {
  const kind = kinds.get(path);
  const object =
    encoding === "json"
      ? Buffer.from(JSON.stringify({ metadata: { resourceVersion: String(version) } }))
      : Buffer.concat([Buffer.from([0x0a, 2 + widths.version, 0x32, widths.version]), Buffer.from(String(version))]);
  return encodeEvent(encoding, "BOOKMARK", kind?.kind ?? "", kind?.apiVersion ?? "", object);
}

answerCommands(advance);
const server = createServer(handle);
server.requestTimeout = 0;
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) reply({ type: "listening", port: address.port });
});
