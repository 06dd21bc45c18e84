import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { serve } from "./served.ts";

/** A page of a real H100 node: 8 GPUs, one of them held by a vLLM worker (test/captured/SOURCES.md). */
const page = readFileSync(fileURLToPath(new URL("../captured/h100-eks-one-worker/page.prom", import.meta.url)));
const nodeName = "ip-100-64-147-149.ec2.internal";
const pod = { namespace: "dynamo-workload", name: "vllm-agg-0-vllmdecodeworker-dkb9q" };

let api: ApiServer;
let admin: Admin;
let exporter: Server;
let folder: string;

beforeAll(async () => {
  api = await startApiServer();
  admin = createAdmin(api);
  exporter = createServer((_, response) => response.end(page));
  await new Promise<void>((resolve) => exporter.listen(0, "127.0.0.1", resolve));
  folder = await mkdtemp(join(tmpdir(), "fairlead-serve-"));
});

afterAll(async () => {
  exporter.close();
  await admin.close();
  await api.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("serve on a real API server and a real exporter's page", () => {
  it("publishes who holds which GPU, and ends when asked to", async () => {
    await createCluster();
    const { url, log, stop } = await serve(writeConfig());
    await until("ready", async () => (await fetch(`${url}/readyz`)).ok).catch((error: unknown) => {
      throw new Error(`${error}: ${log()}`);
    });
    await until("telemetry is in", async () => (await text(`${url}/metrics`)).includes('team="dynamo"'));
    const metrics = await text(`${url}/metrics`);
    expect(sumOf(metrics, "fairlead_gpus{")).toBe(8);
    expect(sumOf(metrics, "fairlead_team_gpus{")).toBe(1);
    expect(sumOf(metrics, "fairlead_estimated_gpus{")).toBe(0);
    const devices: unknown = JSON.parse(await text(`${url}/api/v1/devices?team=dynamo`));
    expect(devices).toMatchObject({
      items: [
        {
          uuid: "GPU-8d76cfcf-a144-5e43-876b-a4b71f2aecd1",
          holders: [{ pod: pod.name, source: "dcgm", share: 1 }],
        },
      ],
    });
    expect(await stop()).toBe(0);
    expect(log()).not.toContain(api.adminToken);
  });
});

async function createCluster(): Promise<void> {
  const amounts = { "nvidia.com/gpu": "8", cpu: "192", memory: "2000Gi" };
  const labels = {
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.replicas": "1",
  };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName, labels } };
  const created = await admin.send("POST", "/api/v1/nodes", node);
  const ready = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const status = { capacity: amounts, allocatable: amounts, conditions: [ready], nodeInfo: { bootID: "boot-1" } };
  await admin.send("PUT", `/api/v1/nodes/${nodeName}/status`, {
    ...node,
    metadata: { ...node.metadata, ...versionOf(created) },
    status,
  });
  await admin.send("POST", "/api/v1/namespaces", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: pod.namespace, labels: { team: "dynamo" } },
  });
  const pods = `/api/v1/namespaces/${pod.namespace}/pods`;
  const container = { name: "main", image: "vllm", resources: { limits: { "nvidia.com/gpu": "1" } } };
  const object = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: pod.name },
    spec: { nodeName, containers: [container] },
  };
  await admin.send("POST", pods, object);
}

const versionOf = (object: {
  readonly metadata: { readonly resourceVersion: string };
}): { readonly resourceVersion: string } => ({
  resourceVersion: object.metadata.resourceVersion,
});

function writeConfig(): string {
  const kubeconfig = join(folder, "kubeconfig.yaml");
  writeFileSync(kubeconfig, api.kubeconfigFor(api.adminToken));
  const address = exporter.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const file = join(folder, "fairlead.yaml");
  writeFileSync(
    file,
    `cluster: real\ninterval: 1\nkubernetes: { kubeconfig: ${kubeconfig} }\ndcgm:\n  discovery: []\n  targets: [{ url: "http://127.0.0.1:${port}/metrics", node: ${nodeName} }]\n`,
  );
  return file;
}

const text = async (url: string): Promise<string> => await (await fetch(url)).text();

function sumOf(metrics: string, prefix: string): number {
  return metrics
    .split("\n")
    .filter((line) => line.startsWith(prefix))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}
