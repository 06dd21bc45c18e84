import { type FaultBoard, faultsOf } from "../faults.ts";
import { type Reply, textReply } from "../reply.ts";
import { apiVersionOf, type KindInfo } from "./kinds.ts";
import { createLister, type Lister } from "./list.ts";
import { answerProxy, type PodPort, proxyRequest } from "./podProxy.ts";
import { objectText, type Rendering, renderingFor } from "./render.ts";
import { type ResourceRequest, resourceRequest } from "./route.ts";
import { type ObjectFilter, parseFieldSelector, parseLabelSelector } from "./selectors.ts";
import {
  type ApiStatus,
  badRequest,
  forbidden,
  internalError,
  methodNotAllowed,
  notAcceptable,
  notFound,
} from "./status.ts";
import { type ObjectStore, objectKey } from "./store.ts";
import type { WatchHub, WatchStream } from "./watch.ts";
import { scaleOf } from "./write/change.ts";
import type { ClusterControls } from "./write/controls.ts";
import type { WrittenRequest } from "./write/requestLog.ts";
import { answerWrite, hasSubresource, isDeletable } from "./write/write.ts";

/** The API server without a network: it is asked by calls. */
export interface ApiServer {
  /**
   * Answers a GET. `null`: it is a watch, which writes into the stream that `stream` returns for a watch of this many seconds
   * (0: without an end).
   */
  read(request: ReadRequest, stream: (timeoutSeconds: number) => WatchStream): Reply | null;
  write(request: ApiWrite): Reply;
}

/** A GET: its path with the query, and its header `accept`. */
export interface ReadRequest {
  readonly path: string;
  readonly accept: string | undefined;
}

/** A request that changes something. */
export interface ApiWrite {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  /** The media type as the header gives it; empty without a header. */
  readonly contentType: string;
  /** The body; `null`: it is larger than the server takes. */
  readonly body: string | null;
}

interface Parts {
  /** The kinds that are installed now. */
  readonly kinds: () => readonly KindInfo[];
  readonly store: ObjectStore;
  readonly hub: WatchHub;
  readonly faults: FaultBoard;
  readonly lister: Lister;
  readonly writing: ApiWriting;
  readonly podPort: PodPorts;
}

/** The port of a pod that can be asked; `undefined` where there is no such pod. */
export type PodPorts = (namespace: string, name: string) => PodPort | undefined;

/** What writes to the API do. */
export interface ApiWriting {
  readonly controls: ClusterControls;
  /** Called after every write that was answered. */
  written(request: Omit<WrittenRequest, "at">): void;
}

/**
 * Answers reads of the kinds that are installed, and the writes that a client of the real API would send, under the faults that
 * are on.
 */
export function createApiServer(
  kinds: () => readonly KindInfo[],
  store: ObjectStore,
  hub: WatchHub,
  faults: FaultBoard,
  writing: ApiWriting,
  podPort: PodPorts,
): ApiServer {
  const lister = createLister(store, () => faultsOf(faults, "api-continue-expired").length > 0);
  const parts = { kinds, store, hub, faults, lister, writing, podPort };
  return {
    read: (request, stream) => answer(parts, request, stream),
    write: (request) => answerChanging(parts, request),
  };
}

const verbs: Readonly<Record<string, string>> = { POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete" };

function answerChanging(parts: Parts, { method, path, body, ...request }: ApiWrite): Reply {
  const url = new URL(path, "http://simulator");
  const asked = resourceRequest(parts.kinds(), url.pathname);
  if (asked === undefined || (asked.subresource !== null && !hasSubresource(asked.info, asked.subresource))) {
    return textReply(404, "404 page not found\n");
  }
  if (isForbidden(parts.faults, asked.info)) {
    return statusReply(forbidden(asked.info, verbs[method] ?? method, asked.namespace, asked.name));
  }
  const contentType = request.contentType.split(";")[0]?.trim() ?? "";
  const dryRun = url.searchParams.getAll("dryRun");
  const { store, writing } = parts;
  const answered = answerWrite(store, writing.controls, { method, asked, contentType, body, dryRun });
  writing.written({
    method,
    path: url.pathname,
    contentType: contentType === "" ? null : contentType,
    body: loggedBody(body),
    dryRun: dryRun.length > 0,
    code: answered.code,
  });
  return jsonReply(answered.code, `${JSON.stringify(answered.body)}\n`);
}

function loggedBody(body: string | null): WrittenRequest["body"] {
  try {
    return JSON.parse(body ?? "null");
  } catch {
    return null;
  }
}

/** Answers a GET; `null` when the answer is a watch, which writes by itself. */
function answer(parts: Parts, { path, accept }: ReadRequest, stream: OpenStream): Reply | null {
  const url = new URL(path, "http://simulator");
  if (["/healthz", "/livez", "/readyz"].includes(url.pathname)) return textReply(200, "ok");
  const kinds = parts.kinds();
  const document = discovery(kinds, url.pathname);
  if (document !== undefined) return jsonReply(200, `${JSON.stringify(document)}\n`);
  const proxied = proxyRequest(url.pathname);
  if (proxied !== undefined) {
    const isRefused = faultsOf(parts.faults, "api-forbidden").some(({ resource }) => resource === "pods/proxy");
    const answered = answerProxy(proxied, parts.podPort(proxied.namespace, proxied.name), isRefused);
    return "kind" in answered ? statusReply(answered) : answered;
  }
  const asked = resourceRequest(kinds, url.pathname);
  if (asked === undefined || (asked.subresource !== null && !hasSubresource(asked.info, asked.subresource))) {
    return textReply(404, "404 page not found\n");
  }
  if (asked.subresource === "eviction") return statusReply(methodNotAllowed());
  const verb = asked.name !== null ? "get" : isTrue(url, "watch") ? "watch" : "list";
  if (isForbidden(parts.faults, asked.info)) {
    return statusReply(forbidden(asked.info, verb, asked.namespace, asked.name));
  }
  const rendering = renderingFor(accept);
  if (rendering === null) return statusReply(notAcceptable());
  if (asked.name !== null) return answerGet(parts.store, asked, asked.name, rendering);
  return answerCollection(parts, { ...asked, rendering }, url, verb === "watch" ? stream : null);
}

/** The discovery document at a path; `undefined` where there is none. */
function discovery(kinds: readonly KindInfo[], path: string): object | undefined {
  if (path === "/version") return { major: "1", minor: "35", gitVersion: "v1.35.2", platform: "linux/amd64" };
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups(kinds) };
  const [, root, group, version, ...rest] = path.split("/");
  if (rest.length > 0) return undefined;
  if (root === "api" && group === "v1" && version === undefined) return resourceList(kinds, "", "v1");
  if (root !== "apis" || group === undefined) return undefined;
  if (version !== undefined) return resourceList(kinds, group, version);
  const found = groups(kinds).find((each) => each.name === group);
  return found === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...found };
}

function groups(kinds: readonly KindInfo[]): readonly { readonly name: string }[] {
  const names = new Set(kinds.map(({ group }) => group).filter((group) => group !== ""));
  return [...names].map((name) => {
    const all = new Set(kinds.filter(({ group }) => group === name).map(({ version }) => version));
    const versions = [...all].map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] };
  });
}

function resourceList(kinds: readonly KindInfo[], group: string, version: string): object | undefined {
  const found = kinds.filter((info) => info.group === group && info.version === version);
  const [first] = found;
  if (first === undefined) return undefined;
  const resources = found.flatMap((info) => [
    {
      name: info.resource,
      singularName: info.kind.toLowerCase(),
      namespaced: info.namespaced,
      kind: info.kind,
      verbs: ["get", "list", "watch", "patch", "update", ...(isDeletable(info) ? ["delete"] : [])],
    },
    ...subresources(info),
  ]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(first), resources };
}

/**
 * The subresources of a kind in the discovery document, where `kubectl drain` looks for evictions, and `kubectl scale` for
 * scales.
 */
function subresources(info: KindInfo): readonly object[] {
  const { resource, namespaced } = info;
  const base = { singularName: "", namespaced };
  const scale = { group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] };
  const eviction = { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] };
  if (hasSubresource(info, "eviction")) return [{ name: `${resource}/eviction`, ...base, ...eviction }];
  return hasSubresource(info, "scale") ? [{ name: `${resource}/scale`, ...base, ...scale }] : [];
}

function isForbidden(faults: FaultBoard, info: KindInfo): boolean {
  return faultsOf(faults, "api-forbidden").some((fault) => fault.resource === info.resource);
}

function answerGet(store: ObjectStore, asked: ResourceRequest, name: string, rendering: Rendering): Reply {
  const found = store.get(asked.info.shelf, objectKey(asked.namespace ?? undefined, name));
  if (found === undefined) return statusReply(notFound(asked.info, name));
  if (asked.subresource !== null) return jsonReply(200, `${JSON.stringify(scaleOf(found.object))}\n`);
  return jsonReply(200, `${objectText(asked.info, found, rendering)}\n`);
}

type OpenStream = (timeoutSeconds: number) => WatchStream;

interface CollectionRequest extends ResourceRequest {
  readonly rendering: Rendering;
}

/** Answers a list or a watch of a collection. `stream` is where a watch goes; `null` for a list. */
function answerCollection(parts: Parts, asked: CollectionRequest, url: URL, stream: OpenStream | null): Reply | null {
  const matches = selectorOf(url);
  if (typeof matches !== "function") return statusReply(matches);
  const base = { info: asked.info, namespace: asked.namespace, matches, rendering: asked.rendering };
  const query = url.searchParams;
  if (stream !== null) {
    const version = query.get("resourceVersion") ?? "";
    if (!/^\d*$/.test(version)) return statusReply(badRequest(`invalid resource version "${version}"`));
    parts.hub.open(
      {
        ...base,
        resourceVersion: version === "" || version === "0" ? null : Number(version),
        allowBookmarks: isTrue(url, "allowWatchBookmarks"),
        sendInitialEvents: isTrue(url, "sendInitialEvents"),
      },
      stream(Number(query.get("timeoutSeconds") ?? 0)),
    );
    return null;
  }
  const broken = faultsOf(parts.faults, "api-list-error");
  if (broken.some((fault) => fault.resource === undefined || fault.resource === asked.info.resource)) {
    return statusReply(internalError("etcdserver: request timed out"));
  }
  const list = parts.lister.list({
    ...base,
    selective: query.has("labelSelector") || query.has("fieldSelector"),
    limit: Number(query.get("limit") ?? 0),
    continueToken: query.get("continue") ?? "",
  });
  return typeof list === "string" ? jsonReply(200, list) : statusReply(list);
}

function selectorOf(url: URL): ObjectFilter | ApiStatus {
  const labels = parseLabelSelector(url.searchParams.get("labelSelector") ?? "");
  if (!labels.ok) return badRequest(labels.message);
  const fields = parseFieldSelector(url.searchParams.get("fieldSelector") ?? "");
  if (!fields.ok) return badRequest(fields.message);
  return (object) => labels.matches(object) && fields.matches(object);
}

function isTrue(url: URL, parameter: string): boolean {
  const value = url.searchParams.get(parameter);
  return value === "true" || value === "1";
}

function statusReply(status: ApiStatus): Reply {
  return jsonReply(status.code, `${JSON.stringify(status)}\n`);
}

function jsonReply(code: number, body: string): Reply {
  return { code, contentType: "application/json", body };
}
