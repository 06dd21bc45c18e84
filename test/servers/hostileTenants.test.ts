import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { installed } from "./program.ts";
import { createGpuNodes } from "./queues/gpuNodes.ts";
import { podTemplate, queueSpec } from "./queues/handMadeKueue.ts";
import { createDefinitions } from "./queues/resourceDefinitions.ts";
import { rewrite } from "./queues/rewrite.ts";
import { type RealScheduler, startScheduler } from "./realScheduler.ts";
import { type Served, serve } from "./served.ts";

/** A tenant: who may do in one namespace what Kubernetes' own role `edit` allows, by a token of its service account. */
interface Tenant {
  readonly send: Admin["send"];
  close(): Promise<void>;
}

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
const anObject = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) });

let api: ApiServer;
let admin: Admin;
let scheduler: RealScheduler;
let served: Served;
let folder: string;
let tenant: Tenant;
const exporters: Server[] = [];

beforeAll(async () => {
  api = await startApiServer();
  admin = createAdmin(api);
  folder = await mkdtemp(join(tmpdir(), "fairlead-tenants-"));
  await createGpuNodes(admin, [{ name: "node-a", product: "NVIDIA-H100-80GB-HBM3", gpus: 8 }]);
  await createDefinitions(admin, join(await installed("install-kueue.sh"), "crds"));
  for (const name of ["ads", "honest", "tenant", "victim", "gpu-operator"])
    await admin.send("POST", "/api/v1/namespaces", { metadata: { name, labels: { team: name } } });
  tenant = await createTenant("tenant");
  const real = await startExporter(0.9);
  await createExporterPod("gpu-operator", "nvidia-dcgm-exporter", real, admin.send, {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    name: "nvidia-dcgm-exporter",
    controller: true,
    uid: "11111111-2222-4333-8444-555555555555",
  });
  // What runs: ads holds all of the node.
  await admin.send("POST", podsOf("ads"), podObject("train", 8, { nodeName: "node-a" }));
  scheduler = await startScheduler(api);
  served = await serve(await writeConfig());
  await until("ready", async () => (await fetch(`${served.url}/readyz`)).ok);
}, 600_000);

afterAll(async () => {
  await served?.stop();
  await scheduler?.stop();
  for (const exporter of exporters) exporter.close();
  await tenant?.close();
  await admin?.close();
  await api?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function createTenant(namespace: string): Promise<Tenant> {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.send("POST", accounts, { metadata: { name: "dev" } });
  await allowIn(namespace, namespace);
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  const made = await admin.send("POST", `${accounts}/dev/token`, request);
  const { token } = z.looseObject({ status: z.looseObject({ token: z.string() }) }).parse(made).status;
  return createAdmin({ ...api, adminToken: token });
}

/** The rules of `edit` and `view`: nobody aggregates them without a controller manager. */
async function allowIn(namespace: string, ofTenant: string): Promise<void> {
  for (const name of ["system:aggregate-to-edit", "system:aggregate-to-view"])
    await admin.send("POST", `${rbac}/namespaces/${namespace}/rolebindings`, {
      metadata: { name: `${ofTenant}-${name.replaceAll(":", "-")}` },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name: "dev", namespace: ofTenant }],
    });
}

function podObject(name: string, gpus: number | string, spec: object = {}, metadata: object = {}): object {
  const resources = { limits: { "nvidia.com/gpu": String(gpus) } };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "main", image: "none", resources }], ...spec },
  };
}

async function startExporter(activity: number): Promise<number> {
  const rows = Array.from(
    { length: 8 },
    (_, i) => `DCGM_FI_DEV_GPU_UTIL{gpu="${i}",UUID="GPU-${i}",modelName="NVIDIA H100 80GB HBM3"} ${100 * activity}\n`,
  );
  const exporter = createServer((_, response) => response.end(rows.join("")));
  await new Promise<void>((resolve) => exporter.listen(0, "127.0.0.1", resolve));
  exporters.push(exporter);
  const address = exporter.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A pod that looks like an exporter of node-a; its kubelet, whose word a tenant has not, says that it runs. */
async function createExporterPod(
  namespace: string,
  name: string,
  port: number,
  send: Admin["send"],
  owner?: object,
): Promise<void> {
  const labels = { app: "nvidia-dcgm-exporter", "app.kubernetes.io/name": "dcgm-exporter" };
  await send("POST", podsOf(namespace), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
    spec: {
      nodeName: "node-a",
      containers: [{ name: "exporter", image: "none", ports: [{ name: "metrics", containerPort: port }] }],
    },
  });
  const status = {
    phase: "Running",
    podIP: "127.0.0.1",
    podIPs: [{ ip: "127.0.0.1" }],
    conditions: [{ type: "Ready", status: "True" }],
  };
  await rewrite(admin, `${podsOf(namespace)}/${name}`, anObject, (pod) => ({ ...pod, status }), "/status");
}

async function writeConfig(): Promise<string> {
  const kubeconfig = join(folder, "kubeconfig.yaml");
  await writeFile(kubeconfig, api.kubeconfigFor(api.adminToken), { mode: 0o600 });
  const file = join(folder, "fairlead.yaml");
  await writeFile(file, `cluster: shared\ninterval: 1\nkubernetes: { kubeconfig: ${kubeconfig} }\n`);
  return file;
}

const list = z.looseObject({ items: z.array(z.looseObject({})) });
const listed = async (name: string): Promise<z.output<typeof list>["items"]> =>
  list.parse(await (await fetch(`${served.url}/api/v1/${name}`)).json()).items;

const pendingSchema = z.looseObject({
  namespace: z.string(),
  name: z.string(),
  never: z.string().nullable(),
  cause: z.string(),
  reason: z.string(),
});
/** What waits, by `namespace/name`: why it never runs, and the cause of its wait. */
async function pendingNow(): Promise<ReadonlyMap<string, readonly [never: string | null, cause: string]>> {
  const items = (await listed("pending")).map((item) => pendingSchema.parse(item));
  return new Map(items.map(({ namespace, name, never, cause }) => [`${namespace}/${name}`, [never, cause]]));
}
const problemTexts = async (code: string): Promise<readonly string[]> =>
  (await listed("problems")).flatMap((one) => (one.code === code ? [String(one.message)] : []));

describe("a tenant with rights in its own namespace only", () => {
  it("makes up demand that does not count, beside honest demand that does", async () => {
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "missing" } }];
    const terms = [{ topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "nobody" } } }];
    const lies: Readonly<Record<string, readonly [gpus: number | string, spec: object]>> = {
      scheduler: [8, { schedulerName: "mine" }],
      volume: [8, { volumes }],
      selector: [8, { nodeSelector: { zone: "moon" } }],
      company: [8, { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }],
      absurd: ["9E", {}],
      large: [9, {}],
    };
    for (const [name, [gpus, spec]] of Object.entries(lies))
      await tenant.send("POST", podsOf("tenant"), podObject(name, gpus, spec));
    // A pod that is created with its node proves no scheduler.
    await tenant.send("POST", podsOf("tenant"), podObject("bound", 0, { schedulerName: "mine", nodeName: "node-a" }));
    await admin.send("POST", podsOf("honest"), podObject("waits", 8));
    const isReported = async (): Promise<boolean> => {
      const pending = await pendingNow();
      return (
        pending.has("honest/waits") &&
        Object.keys(lies).every((name) => (pending.get(`tenant/${name}`)?.[0] ?? null) !== null)
      );
    };
    await until("all of it is told", isReported);
    await until("the scheduler has spoken of what waits for a volume", async () =>
      JSON.stringify(await admin.send("GET", `${podsOf("tenant")}/volume`)).includes("not found"),
    );
    const pending = await pendingNow();
    expect(Object.fromEntries(pending)).toEqual({
      "honest/waits": [null, "capacity"],
      "tenant/scheduler": ["no-scheduler", "scheduler"],
      "tenant/volume": ["unschedulable", "constraint"],
      "tenant/selector": [expect.toBeOneOf(["no-node", "unschedulable"]), "constraint"],
      "tenant/company": ["unschedulable", "constraint"],
      "tenant/absurd": ["no-node", "constraint"],
      "tenant/large": ["no-node", "constraint"],
    });
    expect((await problemTexts("demand-impossible")).join("\n")).toContain("tenant/scheduler");
    const metrics = await (await fetch(`${served.url}/metrics`)).text();
    const amounts = [...metrics.matchAll(/^fairlead_queue_pending_gpus\{.*\} (\S+)$/gm)].map(([, value]) =>
      Number(value),
    );
    expect(amounts.every((gpus) => gpus < 100)).toBe(true);
  });

  it("cannot speak for a scheduler", async () => {
    const path = `${podsOf("tenant")}/scheduler`;
    const pod = anObject.parse(await tenant.send("GET", path));
    const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }];
    await expect(tenant.send("PUT", `${path}/status`, { ...pod, status: { conditions } })).rejects.toThrow("403");
  });

  it("does not replace the telemetry of a node from a namespace that it was given", async () => {
    const isBusy = async (): Promise<boolean> => (await listed("devices")).every(({ activity }) => activity === 0.9);
    await until("telemetry is in", async () => (await listed("devices")).length === 8 && (await isBusy()));
    await admin.send("POST", "/api/v1/namespaces", { metadata: { name: "dcgm-exporter" } });
    await allowIn("dcgm-exporter", "tenant");
    await createExporterPod("dcgm-exporter", "a", await startExporter(0), tenant.send);
    await until("both are named", async () =>
      (await problemTexts("several-exporters")).some(
        (text) => text.includes("gpu-operator/nvidia-dcgm-exporter") && text.includes("dcgm-exporter/a"),
      ),
    );
    expect(await isBusy()).toBe(true);
    // Also while the real one is away.
    await admin.send("DELETE", `${podsOf("gpu-operator")}/nvidia-dcgm-exporter?gracePeriodSeconds=0`);
    await until("it is reported that nothing is taken of it", async () =>
      (await problemTexts("several-exporters")).some((text) => text.includes("nothing is taken of it")),
    );
    expect((await listed("devices")).every(({ activity }) => activity !== 0)).toBe(true);
  });

  it("puts GPUs on nobody's queue, and hides nobody's shortfall, with a label", async () => {
    const kueue = "/apis/kueue.x-k8s.io/v1beta2";
    const make = (path: string, kind: string, name: string, spec: object) =>
      admin.send("POST", `${kueue}/${path}`, { apiVersion: "kueue.x-k8s.io/v1beta2", kind, metadata: { name }, spec });
    await createGpuNodes(admin, [{ name: "node-b", product: "NVIDIA-H100-80GB-HBM3", gpus: 8 }]);
    await make("resourceflavors", "ResourceFlavor", "h100", {});
    await make("clusterqueues", "ClusterQueue", "victim-cq", queueSpec(8));
    await make("namespaces/victim/localqueues", "LocalQueue", "main", { clusterQueue: "victim-cq" });
    await make("namespaces/victim/workloads", "Workload", "hungry", {
      queueName: "main",
      active: true,
      podSets: [{ name: "main", count: 1, template: podTemplate(8) }],
    });
    const labels = { "kueue.x-k8s.io/cluster-queue-name": "victim-cq" };
    await tenant.send("POST", podsOf("tenant"), podObject("thief", 8, { nodeName: "node-b" }, { labels }));
    const victim = async () => (await listed("queues")).find(({ name }) => name === "victim-cq");
    const isSeen = async (): Promise<boolean> =>
      (await victim())?.pending === 8 &&
      (await listed("devices")).some(({ node, state }) => node === "node-b" && state !== "free");
    await until("the queue and the pod are seen", isSeen);
    expect(await victim()).toMatchObject({ allocated: 0, pending: 8, guaranteed: 8 });
    const lines = (await listed("problems")).map(({ message }) => String(message));
    expect(lines.filter((line) => line.includes("tenant") && line.includes("victim-cq"))).not.toEqual([]);
  });

  it("makes no gang of a lone pod, with a count that it writes on it", async () => {
    await createGpuNodes(admin, [{ name: "node-c", product: "NVIDIA-H100-80GB-HBM3", gpus: 8 }]);
    const made: Readonly<Record<string, object>> = {
      group: {
        labels: { "kueue.x-k8s.io/pod-group-name": "g" },
        annotations: { "kueue.x-k8s.io/pod-group-total-count": "2" },
      },
      lws: {
        labels: { "leaderworkerset.sigs.k8s.io/name": "l", "leaderworkerset.sigs.k8s.io/group-index": "0" },
        annotations: { "leaderworkerset.sigs.k8s.io/size": "4" },
      },
    };
    for (const [name, metadata] of Object.entries(made))
      await tenant.send("POST", podsOf("tenant"), podObject(name, 4, { nodeName: "node-c" }, metadata));
    const found = async () =>
      (await listed("workloads")).filter(
        ({ namespace, name }) => namespace === "tenant" && Object.hasOwn(made, String(name)),
      );
    await until("both are seen", async () => (await found()).length === 2);
    expect((await found()).map(({ gang }) => gang)).toEqual([null, null]);
  });
});
