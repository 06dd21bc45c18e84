import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findLocalQueues } from "../../exporter/analysis/localQueues/findLocalQueues.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { freePort } from "./program.ts";
import { createGpuNodes } from "./queues/gpuNodes.ts";
import { type Kueue, startKueue } from "./queues/kueue.ts";
import { conditionsOf, kueueCollections } from "./queues/kueueCluster.ts";
import { type Watcher, watchCluster } from "./queues/lookAt.ts";

const gpu = "nvidia.com/gpu";
const apiVersion = "kueue.x-k8s.io/v1beta2";
const group = "visibility.kueue.x-k8s.io";
const namespace = "research";

/** A ClusterQueue with four GPUs, and LocalQueues `a` and `b` of it. */
async function makeQueue(admin: Admin, name: string, more: object): Promise<void> {
  await admin.send("POST", kueueCollections.clusterQueues, {
    ...{ apiVersion, kind: "ClusterQueue", metadata: { name } },
    spec: {
      namespaceSelector: {},
      resourceGroups: [
        { coveredResources: [gpu], flavors: [{ name: "h100", resources: [{ name: gpu, nominalQuota: "4" }] }] },
      ],
      ...more,
    },
  });
  for (const local of ["a", "b"])
    await admin.send("POST", `/apis/${apiVersion}/namespaces/${namespace}/localqueues`, {
      ...{ apiVersion, kind: "LocalQueue", metadata: { name: `${name}-${local}` }, spec: { clusterQueue: name } },
    });
}

async function makeWorkload(admin: Admin, name: string, queueName: string, priority: number): Promise<void> {
  const resources = { requests: { [gpu]: "4" }, limits: { [gpu]: "4" } };
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", resources }] } };
  await admin.send("POST", `/apis/${apiVersion}/namespaces/${namespace}/workloads`, {
    ...{ apiVersion, kind: "Workload", metadata: { name } },
    spec: { queueName, priority, podSets: [{ name: "main", count: 1, template }] },
  });
}

/** As Kueue's manifests do, with a Service that is a name for the loopback address; whoever asks through the API server may read it. */
async function serveVisibility(admin: Admin, port: number): Promise<void> {
  const service = { namespace: "kueue-system", name: "visibility-server" };
  await admin.send("POST", `/api/v1/namespaces/${service.namespace}/services`, {
    ...{ metadata: { name: service.name }, spec: { type: "ExternalName", externalName: "localhost" } },
  });
  await admin.send("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
    metadata: { name: `v1beta2.${group}` },
    spec: {
      ...{ group, version: "v1beta2", groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true },
      service: { ...service, port },
    },
  });
  // The API server has no certificate of its own here by which Kueue would believe on whose behalf it asks.
  const name = "pending-workloads-of-anybody";
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await admin.send("POST", `${rbac}/clusterroles`, {
    metadata: { name },
    rules: [
      { apiGroups: [group], resources: ["clusterqueues/pendingworkloads"], verbs: ["get"] },
      { nonResourceURLs: ["/apis", "/apis/*"], verbs: ["get"] },
    ],
  });
  await admin.send("POST", `${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:unauthenticated" }],
  });
  let refused = "";
  const isServed = async (): Promise<boolean> => {
    const path = `/apis/${group}/v1beta2/clusterqueues/one-line/pendingworkloads`;
    refused = await admin.send("GET", path).then(() => "", String);
    return refused === "";
  };
  await until("the visibility API is served", isServed).catch((error) => {
    throw new Error(`${error}; it says ${refused}`);
  });
}

let [server, admin, kueue, watcher]: [
  ApiServer | undefined,
  Admin | undefined,
  Kueue | undefined,
  Watcher | undefined,
] = [undefined, undefined, undefined, undefined];

beforeAll(async () => {
  server = await startApiServer();
  const all = createAdmin(server);
  admin = all;
  const bindPort = await freePort();
  kueue = await startKueue(server, admin, {
    featureGates: { VisibilityOnDemand: true },
    visibilityServer: { bindAddress: "127.0.0.1", bindPort },
    admissionFairSharing: { usageHalfLifeTime: "1h", usageSamplingInterval: "1s" },
  });
  await createGpuNodes(admin, [{ name: "n", product: "NVIDIA-H100-80GB-HBM3", gpus: 8 }]);
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  await admin.send("POST", `/apis/${apiVersion}/resourceflavors`, {
    ...{ apiVersion, kind: "ResourceFlavor", metadata: { name: "h100" }, spec: {} },
  });
  await makeQueue(admin, "one-line", {});
  await makeQueue(admin, "by-usage", { admissionScope: { admissionMode: "UsageBasedAdmissionFairSharing" } });
  for (const queue of ["one-line", "by-usage"]) {
    const runs = `${queue}-runs`;
    await makeWorkload(admin, runs, `${queue}-a`, 0);
    await until(
      `${runs} is admitted`,
      async () => (await conditionsOf(all, runs)).Admitted?.startsWith("True") === true,
    );
    await makeWorkload(admin, `${queue}-a-first`, `${queue}-a`, 0);
    await makeWorkload(admin, `${queue}-a-urgent`, `${queue}-a`, 50);
    await makeWorkload(admin, `${queue}-b-last`, `${queue}-b`, 0);
  }
  await serveVisibility(admin, bindPort);
  watcher = await watchCluster(server);
}, 900_000);

afterAll(async () => {
  await watcher?.stop();
  await kueue?.stop();
  await admin?.close();
  await server?.stop();
});

describe("Kueue 0.19 with its visibility API", () => {
  const linesOf = () => {
    if (watcher === undefined) throw new Error("the cluster has not started");
    const { snapshot, fairness } = watcher.look();
    const told = findLocalQueues(snapshot, fairness);
    const computed = findLocalQueues({ ...snapshot, kueuePendingWorkloads: new Map() }, fairness);
    const names = (lines: ReadonlyMap<string, readonly number[] | null>, queue: string) =>
      lines.get(queue)?.map((index) => snapshot.queueing.gangs[index]?.name) ?? null;
    return { told, names: (queue: string) => [names(told.lines, queue), names(computed.lines, queue)] };
  };

  it("tells the line that our own rule computes where priority and age decide", async () => {
    await until("Kueue was asked", () => linesOf().told.toldByKueue.has("one-line"));
    const line = ["one-line-a-urgent", "one-line-a-first", "one-line-b-last"];
    expect(linesOf().names("one-line")).toEqual([line, line]);
  });

  it("tells the line where usage decides, which no object says without Kueue's Configuration", async () => {
    await until("Kueue was asked", () => linesOf().told.toldByKueue.has("by-usage"));
    const line = ["by-usage-b-last", "by-usage-a-urgent", "by-usage-a-first"];
    expect(linesOf().names("by-usage")).toEqual([line, null]);
  });
});
