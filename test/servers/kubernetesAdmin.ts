import { Agent } from "undici";
import type { ApiServer } from "./apiServer.ts";

/** Changes objects as the cluster's administrator, and reads them without any code under test. */
export interface Admin {
  send(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object): Promise<AdminObject>;
  /** Names of all objects of a collection, sorted. */
  names(path: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface AdminObject {
  readonly kind?: string;
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly items?: readonly AdminObject[];
}

export function createAdmin(server: ApiServer): Admin {
  const agent = new Agent({ connect: { ca: server.ca }, connections: 8 });
  const send: Admin["send"] = async (method, path, body) => {
    const response = await agent.request({
      origin: server.url,
      path,
      method,
      headers: { authorization: `Bearer ${server.adminToken}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300) throw new Error(`${method} ${path} answered ${response.statusCode}: ${text}`);
    return JSON.parse(text);
  };
  return {
    send,
    names: async (path) => ((await send("GET", path)).items ?? []).map(({ metadata }) => metadata.name).sort(),
    close: async () => await agent.destroy(),
  };
}

/** What does not come on a busy machine within this time does not come at all; it bounds how late a failure is reported. */
const patienceSeconds = 120;

/** Waits until a condition holds; fails with what it was waiting for. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds = patienceSeconds,
): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    const waited = performance.now() - began;
    if (waited > seconds * 1000) throw new Error(`after ${seconds} s still not: ${what}`);
    // What takes long is asked for less often: the answers cost those who are waited for their processor time.
    await new Promise((resolve) => setTimeout(resolve, Math.min(250, 50 + waited / 10)));
  }
}

/** A pod that asks for GPUs on a node. */
export function gpuPodObject(name: string, gpus: number, more: { metadata?: object; spec?: object } = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...more.metadata },
    spec: {
      nodeName: "node-a",
      containers: [{ name: "main", image: "none", resources: { limits: { "nvidia.com/gpu": String(gpus) } } }],
      ...more.spec,
    },
  };
}

/** A pod without GPUs. */
export function plainPodObject(name: string): object {
  const requests = { cpu: "100m", memory: "64Mi" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { nodeName: "node-b", containers: [{ name: "main", image: "none", resources: { requests } }] },
  };
}

/** A CustomResourceDefinition of any content. */
export function crdObject(group: string, kind: string, plural: string, version = "v1"): object {
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}
