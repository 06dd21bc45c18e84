import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ApiClient, createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { createKubernetesSource, type KubernetesSource } from "../../exporter/sources/kubernetes/kubernetesSource.ts";
import { listPages } from "../../exporter/sources/kubernetes/listPages.ts";
import type { WireFormat } from "../../exporter/sources/kubernetes/wire.ts";
import { formats } from "../sources/kubernetes/wireSubjects.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, gpuPodObject, plainPodObject, until } from "./kubernetesAdmin.ts";
import { inFormat, makeWireObjects, noting, wireCollections, wireServerFlags } from "./wireAnswers.ts";

/** Both formats against one real API server that serves every version of every kind that is read. */
let server: ApiServer;
let admin: Admin;
let client: ApiClient;
const open: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startApiServer({ apiServerFlags: wireServerFlags });
  admin = createAdmin(server);
  const headers = { authorization: `Bearer ${server.adminToken}` };
  const access = async () => ({ headers, tls: { ca: server.ca } });
  client = createApiClient({ server: server.url, proxyUrl: null, access }, systemClock);
  await makeWireObjects(admin);
}, 600_000);

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

afterAll(async () => {
  await client?.close();
  await admin?.close();
  await server?.stop();
});

/** All records of a collection, in pages of three, and how the answers called themselves. */
async function list(path: string, wire: WireFormat<unknown>): Promise<{ records: unknown[]; contentTypes: string[] }> {
  let records: unknown[] = [];
  const contentTypes = new Set<string>();
  const outcome = await listPages({
    client: noting(client, contentTypes),
    path,
    wire,
    pageSize: 3,
    pageDeadlineSeconds: 30,
    maxPageBytes: 10_000_000,
    signal: new AbortController().signal,
    begin: () => {
      records = [];
      return (object) => records.push(object);
    },
  });
  if (!outcome.ok) throw new Error(outcome.setback.message);
  return { records, contentTypes: [...contentTypes] };
}

async function startSource(through: ApiClient): Promise<KubernetesSource> {
  const source = createKubernetesSource({
    client: through,
    exporters: [{ namespaces: ["gpu-operator"], matchLabels: { app: "nvidia-dcgm-exporter" } }],
    gpuResources: ["example.com/gpu"],
    maxAgeSeconds: 90,
    timing: { pageSize: 50 },
  });
  open.push(() => source.stop());
  await source.start();
  return source;
}

describe("a real API server", () => {
  it.each(Object.entries(wireCollections))("lists %s with the same records in both formats", async (name, path) => {
    const [kind = ""] = name.split(".");
    const entry = Object.entries(formats).find(([one]) => one === kind);
    if (entry === undefined) throw new Error(`no format of ${kind}`);
    const [json, protobuf] = [await list(path, entry[1].json), await list(path, entry[1].protobuf)];
    expect(json.contentTypes).toEqual(["application/json"]);
    expect(protobuf.contentTypes).toEqual(["application/vnd.kubernetes.protobuf"]);
    expect(protobuf.records.length).toBeGreaterThan(0);
    expect(protobuf.records).toEqual(json.records);
  });

  it("says in protobuf what it refuses", async () => {
    const outcome = await list("/api/v1/nothings", formats.pods.protobuf).catch(String);
    expect(outcome).toMatch(/HTTP 404: .*(not found|could not find)/);
  });

  it("knows in both formats what pods have on their nodes, and what their Jobs survive", async () => {
    const made = await admin.send("POST", "/apis/batch/v1/namespaces/team-000/jobs", {
      metadata: { name: "limits" },
      spec: {
        suspend: true,
        backoffLimit: 2,
        podFailurePolicy: {
          rules: [
            { action: "FailJob", onExitCodes: { operator: "In", values: [42] } },
            { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
          ],
        },
        template: {
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "registry.example/main:1.0" }] },
        },
      },
    });
    const ownerReferences = [
      { apiVersion: "batch/v1", kind: "Job", name: "limits", uid: made.metadata.uid, controller: true },
    ];
    const pod = gpuPodObject("of-limits", 1);
    const metadata = { name: "of-limits", ownerReferences };
    await admin.send("POST", "/api/v1/namespaces/team-000/pods", { ...pod, metadata });
    for (const through of [client, inFormat(client, "json")]) {
      const { pods, owners } = (await startSource(through)).read();
      const hasLocalStorage = (name: string) => pods.find((one) => one.name === name)?.hasLocalStorage;
      expect(["disks", "no-disks", "claimed-and-disk"].map(hasLocalStorage)).toEqual([true, false, true]);
      expect(owners.find(({ uid }) => uid === made.metadata.uid)?.job).toEqual({
        backoffLimit: 2,
        failed: 0,
        onDisruption: "Ignore",
        isSuspended: true,
      });
    }
  });

  it("leads both formats through the same changes to the same state", async () => {
    const contentTypes = new Set<string>();
    const asProtobuf = await startSource(noting(client, contentTypes));
    const asJson = await startSource(inFormat(client, "json"));
    const pods = "/api/v1/namespaces/team-000/pods";
    for (let index = 0; index < 60; index += 1) {
      const name = `churn-${index}`;
      const made = await admin.send("POST", pods, index % 2 === 0 ? gpuPodObject(name, 1) : plainPodObject(name));
      await admin.send("PUT", `${pods}/${name}/status`, { ...made, status: { phase: "Running", podIP: "10.0.0.9" } });
      if (index % 3 === 0) await admin.send("DELETE", `${pods}/${name}?gracePeriodSeconds=0`);
    }
    await admin.send("DELETE", "/api/v1/nodes/node-lost");
    await admin.send("POST", pods, gpuPodObject("last", 1));
    for (const source of [asProtobuf, asJson]) {
      await until("the last change has come", () => source.read().pods.some(({ name }) => name === "last"));
      await until("the node is gone", () => source.read().nodes.every(({ name }) => name !== "node-lost"));
      expect(source.status().pods).toMatchObject({ lists: 1, malformedMessages: 0, skippedObjects: 0 });
    }
    const sorted = (source: KubernetesSource): unknown => {
      const { pods: all, nodes, exporterPods, podCount, resourceClaims, resourceSlices } = source.read();
      const byName = <Row extends { readonly name: string }>(rows: readonly Row[]): readonly Row[] =>
        rows.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      return {
        pods: byName(all),
        nodes: byName(nodes),
        claims: byName(resourceClaims),
        slices: byName(resourceSlices),
        exporterPods,
        podCount,
        requests: Object.fromEntries(source.requestsByNode() ?? []),
      };
    };
    expect(asProtobuf.read().pods.length).toBeGreaterThan(20);
    expect(sorted(asProtobuf)).toEqual(sorted(asJson));
    expect(contentTypes).toContain("application/vnd.kubernetes.protobuf;stream=watch");
  });
});
