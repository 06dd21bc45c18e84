import type { ExporterServer } from "../pages/server.ts";
import type { Reply } from "../reply.ts";
import { kindInfo } from "./kinds.ts";
import { type ApiStatus, failure, forbidden, notFound } from "./status.ts";

/** A port of a pod, behind which an exporter answers. */
export interface PodPort {
  readonly port: number;
  readonly exporter: ExporterServer;
}

/** What is asked of a pod through the API server: `/api/v1/namespaces/NS/pods/[SCHEME:]NAME[:PORT]/proxy/PATH`. */
export interface ProxyRequest {
  readonly namespace: string;
  readonly name: string;
  /** The port that is asked; `null`: the pod's first port. */
  readonly port: number | null;
  /** The path at the pod, which begins with `/`. */
  readonly path: string;
}

/** Reads the path of a request to a pod; `undefined` for any other path. */
export function proxyRequest(path: string): ProxyRequest | undefined {
  const found = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/(?:https?:)?([^/:]+)(?::(\d+))?\/proxy(\/.*)?$/.exec(path);
  const [, namespace, name, port, rest = "/"] = found ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return { namespace, name, port: port === undefined ? null : Number(port), path: rest };
}

/** Answers as the API server does: with the pod's answer, or with a status that says why the pod cannot be asked. */
export function answerProxy(
  { namespace, name, port, path }: ProxyRequest,
  pod: PodPort | undefined,
  isForbidden: boolean,
): Reply | ApiStatus {
  const pods = kindInfo("Pod");
  if (isForbidden) return forbidden({ ...pods, resource: "pods/proxy" }, "get", namespace, name);
  if (pod === undefined) return notFound(pods, name);
  if ((port ?? pod.port) !== pod.port || pod.exporter.isLost()) return unreachable(port ?? pod.port);
  return pod.exporter.read(path);
}

function unreachable(port: number): ApiStatus {
  const message = `error trying to reach service: dial tcp 127.0.0.1:${port}: connect: connection refused`;
  return failure(503, "ServiceUnavailable", message);
}
