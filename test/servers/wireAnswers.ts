import { once } from "node:events";
import { request } from "node:https";
import type { ApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import type { ApiServer } from "./apiServer.ts";
import type { Admin } from "./kubernetesAdmin.ts";
import { wireObjects } from "./wireObjects.ts";

/** Flags that let the API server serve every version that Fairlead reads. */
export const wireServerFlags = [
  "--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true",
  "--feature-gates=DRAExtendedResource=true",
];

/** Collections that are read in both formats: the name of the kind, and the path. */
export const wireCollections = {
  nodes: "/api/v1/nodes",
  pods: "/api/v1/pods",
  namespaces: "/api/v1/namespaces",
  priorityClasses: "/apis/scheduling.k8s.io/v1/priorityclasses",
  podDisruptionBudgets: "/apis/policy/v1/poddisruptionbudgets",
  resourceClaims: "/apis/resource.k8s.io/v1/resourceclaims",
  "resourceClaims.v1beta2": "/apis/resource.k8s.io/v1beta2/resourceclaims",
  "resourceClaims.v1beta1": "/apis/resource.k8s.io/v1beta1/resourceclaims",
  resourceSlices: "/apis/resource.k8s.io/v1/resourceslices",
  "resourceSlices.v1beta2": "/apis/resource.k8s.io/v1beta2/resourceslices",
  "resourceSlices.v1beta1": "/apis/resource.k8s.io/v1beta1/resourceslices",
} as const;

export const accepts = {
  json: "application/json",
  protobuf: "application/vnd.kubernetes.protobuf",
  protobufWatch: "application/vnd.kubernetes.protobuf;stream=watch",
} as const;

/** Makes all objects, then their status. */
export async function makeWireObjects(admin: Admin): Promise<void> {
  for (const { collection, body, status } of wireObjects) {
    const made = await admin.send("POST", collection, body);
    if (status === undefined) continue;
    await admin.send("PUT", `${collection}/${body.metadata.name}/status`, { ...made, status });
  }
}

/** The whole body of an answer, as it is. */
export async function rawAnswer(server: ApiServer, path: string, accept: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${server.adminToken}`, accept };
  const asked = request(`${server.url}${path}`, { ca: server.ca, headers }).end();
  const [response] = await once(asked, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export const formatNames = ["protobuf", "json"] as const;

/** A client that is answered in this format: protobuf is asked for first, where nothing takes it out. */
export function inFormat(client: ApiClient, format: (typeof formatNames)[number]): ApiClient {
  if (format === "protobuf") return client;
  const jsonOnly = (accept: string): string => accept.replace(/application\/vnd\.kubernetes\.protobuf[^,]*,\s*/, "");
  return {
    ...client,
    get: (path, options) => client.get(path, { ...options, accept: jsonOnly(options.accept) }),
    open: (path, options) => client.open(path, { ...options, accept: jsonOnly(options.accept) }),
  };
}

/** Notes the content types of all answers. */
export function noting(client: ApiClient, contentTypes: Set<string>): ApiClient {
  const note = <Reply extends { readonly ok: boolean; readonly contentType?: string | null }>(reply: Reply): Reply => {
    if (reply.contentType) contentTypes.add(reply.contentType);
    return reply;
  };
  return {
    ...client,
    get: async (path, options) => note(await client.get(path, options)),
    open: async (path, options) => note(await client.open(path, options)),
  };
}
