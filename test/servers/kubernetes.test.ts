import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ApiClient, createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { loadCredentials } from "../../exporter/sources/kubernetes/credentials.ts";
import { decodeOwner } from "../../exporter/sources/kubernetes/decodeOwner.ts";
import { locateKind } from "../../exporter/sources/kubernetes/discovery.ts";
import { jsonWire } from "../../exporter/sources/kubernetes/jsonWire.ts";
import { watchedKindNames } from "../../exporter/sources/kubernetes/kinds.ts";
import {
  createKubernetesSource,
  type KubernetesSource,
  type KubernetesSourceOptions,
} from "../../exporter/sources/kubernetes/kubernetesSource.ts";
import { createRowTable } from "../../exporter/sources/kubernetes/objectTable.ts";
import { createReflector, defaultTiming } from "../../exporter/sources/kubernetes/reflector.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { shippedClusterRole } from "./deployRightsObjects.ts";
import { type Admin, crdObject, createAdmin, gpuPodObject, plainPodObject, until } from "./kubernetesAdmin.ts";
import { startProxy } from "./kubernetesProxy.ts";
import { formatNames, inFormat } from "./wireAnswers.ts";

const pods = "/api/v1/namespaces/default/pods";
const quick = { slowRetrySeconds: 1, firstPauseSeconds: 0.1, longestPauseSeconds: 1, pageSize: 7 };

let server: ApiServer;
let admin: Admin;
let folder: string;
const open: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startApiServer({
    tokens: [
      { token: "reader-token", user: "fairlead" },
      { token: "denied-token", user: "denied" },
    ],
  });
  admin = createAdmin(server);
  folder = await mkdtemp(join(tmpdir(), "fairlead-kubernetes-"));
  await bind("fairlead", await shippedClusterRole());
}, 600_000);

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
  await removePods();
});

afterAll(async () => {
  await admin?.close();
  await server?.stop();
  if (folder) await rm(folder, { recursive: true });
});

interface NamedRole {
  readonly metadata: { readonly name: string };
  readonly rules: readonly { readonly resources: readonly string[] }[];
}

async function bind(user: string, role: NamedRole): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await admin.send("POST", `${rbac}/clusterroles`, role);
  await admin.send("POST", `${rbac}/clusterrolebindings`, {
    metadata: { name: `${user}-${role.metadata.name}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role.metadata.name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  });
}

async function clientFor(token: string, url = server.url): Promise<ApiClient> {
  const kubeconfigFile = join(folder, `${token}-${new URL(url).port}.yaml`);
  await writeFile(kubeconfigFile, server.kubeconfigFor(token).replace(server.url, url));
  const loaded = await loadCredentials({ kubeconfigFile, context: "test" });
  if (!loaded.ok) throw new Error(loaded.problem.message);
  const client = createApiClient(loaded.credentials, systemClock);
  open.push(() => client.close());
  return client;
}

async function startSource(
  client: ApiClient,
  options: Partial<KubernetesSourceOptions> = {},
): Promise<KubernetesSource> {
  const source = createKubernetesSource({
    client,
    exporters: [],
    gpuResources: [],
    maxAgeSeconds: 90,
    timing: quick,
    ...options,
  });
  open.push(() => source.stop());
  await source.start();
  return source;
}

function podNames(source: KubernetesSource): readonly string[] {
  return source
    .read()
    .pods.map(({ name }) => name)
    .sort();
}

async function removePods(): Promise<void> {
  for (const name of await admin.names(pods)) await admin.send("DELETE", `${pods}/${name}?gracePeriodSeconds=0`);
}

describe.each(formatNames)("the Kubernetes source with the shipped ClusterRole, in %s", (format) => {
  it("reads every kind, in pages, and follows changes", async () => {
    for (let index = 0; index < 20; index += 1) await admin.send("POST", pods, gpuPodObject(`paged-${index}`, 2));
    await admin.send("POST", pods, plainPodObject("plain"));
    const source = await startSource(inFormat(await clientFor("reader-token"), format));
    expect(source.problems()).toEqual([]);
    expect([...source.read().known].sort()).toEqual([...watchedKindNames, "owners"].sort());
    const state = source.read();
    expect(state.podCount).toBe(21);
    expect(podNames(source)).toEqual((await admin.names(pods)).filter((name) => name !== "plain"));
    expect(state.pods[0]?.gpu.resources).toEqual({ "nvidia.com/gpu": 2 });
    expect(state.priorityClasses.map(({ name }) => name).sort()).toEqual([
      "system-cluster-critical",
      "system-node-critical",
    ]);
    expect(source.requestsByNode()?.get("node-b")).toEqual({ pods: 1, cpuMilli: 100, memoryBytes: 64 * 2 ** 20 });
    expect(source.read().pods).toBe(state.pods);

    await admin.send("DELETE", `${pods}/paged-3?gracePeriodSeconds=0`);
    await admin.send("POST", pods, gpuPodObject("later", 1));
    await until("the cache has the change", () => podNames(source).includes("later"));
    expect(podNames(source)).not.toContain("paged-3");
    expect(source.status().pods).toMatchObject({ state: "synced", lists: 1, ageSeconds: 0, malformedMessages: 0 });
  });
});

describe("the Kubernetes source with the shipped ClusterRole", () => {
  it("reads claims and slices of resource.k8s.io/v1", async () => {
    const dra = "/apis/resource.k8s.io/v1";
    await admin.send("POST", `${dra}/resourceslices`, {
      metadata: { name: "slice-a" },
      spec: {
        driver: "gpu.nvidia.com",
        pool: { name: "node-a", generation: 1, resourceSliceCount: 1 },
        nodeName: "node-a",
        devices: [
          {
            name: "gpu-0",
            attributes: { uuid: { string: "GPU-1" }, type: { string: "gpu" }, driverVersion: { version: "1.2.3" } },
            capacity: { memory: { value: "80Gi" } },
          },
        ],
      },
    });
    const claims = `${dra}/namespaces/default/resourceclaims`;
    const request = { name: "gpu", exactly: { deviceClassName: "gpu.nvidia.com" } };
    const made = await admin.send("POST", claims, {
      metadata: { name: "claim-a" },
      spec: { devices: { requests: [request] } },
    });
    const matchFields = [{ key: "metadata.name", operator: "In", values: ["node-a"] }];
    await admin.send("PUT", `${claims}/claim-a/status`, {
      ...made,
      status: {
        allocation: {
          devices: { results: [{ request: "gpu", driver: "gpu.nvidia.com", pool: "node-a", device: "gpu-0" }] },
          nodeSelector: { nodeSelectorTerms: [{ matchFields }] },
        },
        reservedFor: [{ resource: "pods", name: "some-pod", uid: "pod-uid" }],
      },
    });
    const source = await startSource(await clientFor("reader-token"));
    const state = source.read();
    expect(state.resourceSlices).toMatchObject([
      {
        name: "slice-a",
        nodeName: "node-a",
        devices: [
          { name: "gpu-0", attributes: { uuid: "GPU-1", driverVersion: "1.2.3" }, capacity: { memory: 80 * 2 ** 30 } },
        ],
      },
    ]);
    expect(state.resourceClaims).toMatchObject([
      {
        name: "claim-a",
        allocated: [{ device: "gpu-0", adminAccess: false, shareId: null }],
        reservedForPods: ["pod-uid"],
        nodeName: "node-a",
      },
    ]);
  });

  it("reads the taints that an administrator puts on devices", async () => {
    const taint = { key: "example.com/repair", effect: "NoExecute" };
    await admin.send("POST", "/apis/resource.k8s.io/v1/devicetaintrules", {
      apiVersion: "resource.k8s.io/v1",
      kind: "DeviceTaintRule",
      metadata: { name: "repair-node-a" },
      spec: { deviceSelector: { driver: "gpu.nvidia.com", pool: "node-a" }, taint },
    });
    const source = await startSource(await clientFor("reader-token"));
    expect(source.read().deviceTaintRules).toEqual([
      { name: "repair-node-a", driver: "gpu.nvidia.com", pool: "node-a", device: null, taint: { ...taint, value: "" } },
    ]);
  });

  it("walks owners up to a kind whose definition appears, and reads only their metadata", async () => {
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const jobSets = "/apis/jobset.x-k8s.io/v1/namespaces/default/jobsets";
    await admin.send("POST", crds, crdObject("jobset.x-k8s.io", "JobSet", "jobsets"));
    await until("the kind is served", () =>
      admin.names(jobSets).then(
        () => true,
        () => false,
      ),
    );
    const jobSet = await admin.send("POST", jobSets, {
      apiVersion: "jobset.x-k8s.io/v1",
      kind: "JobSet",
      metadata: { name: "training", labels: { team: "vision" } },
      spec: { secret: "not read" },
    });
    const ownedBy = (apiVersion: string, kind: string, { metadata: { name, uid } }: typeof jobSet): object => ({
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    });
    const job = await admin.send("POST", "/apis/batch/v1/namespaces/default/jobs", {
      metadata: { name: "training-0", ...ownedBy("jobset.x-k8s.io/v1", "JobSet", jobSet) },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } } },
    });
    const source = await startSource(await clientFor("reader-token"));
    await admin.send("POST", pods, gpuPodObject("owned", 1, { metadata: ownedBy("batch/v1", "Job", job) }));
    // Nothing serves this group: the chain ends at the pod.
    await admin.send(
      "POST",
      pods,
      gpuPodObject("broken", 1, {
        metadata: ownedBy("nowhere.example/v1", "Thing", { metadata: { ...job.metadata, uid: "x" } }),
      }),
    );
    await until("both owners are read", () => source.read().owners.length === 2);
    const owners = new Map(source.read().owners.map((owner) => [owner.kind, owner]));
    expect(owners.get("Job")).toMatchObject({ name: "training-0", owner: { kind: "JobSet", name: "training" } });
    expect(owners.get("JobSet")).toMatchObject({ name: "training", labels: { team: "vision" }, owner: null });
    expect(source.problems()).toEqual([]);
  });
});

describe("a kind that may not be read", () => {
  it("is forbidden, said so, and read once it is granted", async () => {
    const role = await shippedClusterRole();
    const without = role.rules.map((rule) => ({
      ...rule,
      resources: rule.resources.filter((name) => name !== "nodes"),
    }));
    await bind("denied", { ...role, metadata: { name: "without-nodes" }, rules: without });
    const changes: string[] = [];
    const source = await startSource(await clientFor("denied-token"), {
      onStateChange: ({ kind, from, to }) => changes.push(`${kind}: ${from} -> ${to}`),
    });
    expect(source.status().nodes.state).toBe("forbidden");
    expect(source.read().known.has("nodes")).toBe(false);
    expect(source.read().known.has("pods")).toBe(true);
    expect(source.problems()).toMatchObject([{ code: "forbidden", severity: "error", subject: "nodes" }]);

    const rule = { apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] };
    await bind("denied", { metadata: { name: "with-nodes" }, rules: [rule] });
    await until("nodes are read", () => source.read().known.has("nodes"));
    expect(source.problems()).toEqual([]);
    expect(changes.filter((change) => change.startsWith("nodes"))).toEqual([
      "nodes: starting -> forbidden",
      "nodes: forbidden -> synced",
    ]);
  });
});

describe("a kind that is not there yet", () => {
  it("is absent, and read once its definition appears", async () => {
    const client = createApiClient(
      {
        server: server.url,
        proxyUrl: null,
        access: async () => ({ headers: { authorization: `Bearer ${server.adminToken}` }, tls: { ca: server.ca } }),
      },
      systemClock,
    );
    open.push(() => client.close());
    const table = createRowTable<string>();
    const kind = {
      group: "late.example.com",
      versions: ["v2", "v1"],
      resource: "lates",
      optional: true,
      right: null,
    } as const;
    const reflector = createReflector({
      kind: "lates",
      client,
      clock: systemClock,
      random: Math.random,
      timing: { ...defaultTiming, ...quick },
      locate: (signal) => locateKind(client, kind, signal),
      wire: jsonWire((value) => {
        const decoded = decodeOwner(value);
        return decoded.ok ? { ok: true, value: decoded.value.name } : decoded;
      }),
      table,
      optional: true,
      onStateChange: () => {},
    });
    open.push(() => reflector.stop());
    await reflector.start();
    expect(reflector.status().state).toBe("absent");

    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const late = "/apis/late.example.com/v1/namespaces/default/lates";
    await admin.send("POST", crds, crdObject("late.example.com", "Late", "lates"));
    const body = { apiVersion: "late.example.com/v1", kind: "Late", metadata: { name: "one" } };
    await until("the object can be made", () =>
      admin.send("POST", late, body).then(
        () => true,
        () => false,
      ),
    );
    await until("it is in the cache", () => table.rows().includes("one"));
    expect(reflector.status().state).toBe("synced");

    await admin.send("DELETE", `${crds}/lates.late.example.com`);
    await until("the kind is gone again", () => reflector.status().state === "absent" && table.size === 0);
  });
});

describe.each(formatNames)("an API server that goes away, read in %s", (format) => {
  it("is followed again after a restart", async () => {
    await admin.send("POST", pods, gpuPodObject("before", 1));
    const source = await startSource(inFormat(await clientFor("reader-token"), format));
    await server.restart();
    await admin.send("DELETE", `${pods}/before?gracePeriodSeconds=0`);
    await admin.send("POST", pods, gpuPodObject("after", 1));
    await until("the cache has only the new pod", () => podNames(source).join() === "after");
    // This API server has no queue system: those kinds stay absent, which is known too.
    const settledStates = new Set(["synced", "absent"]);
    await until("every kind is settled", () =>
      Object.values(source.status()).every(({ state }) => settledStates.has(state)),
    );
    expect(source.status().resourceSlices.state).toBe("synced");
    expect(source.status().resourceQuotas.state).toBe("synced");
  });

  it("answers 410 for a version that is too old: what vanished meanwhile is gone", async () => {
    const proxy = await startProxy(server.url);
    open.push(() => proxy.close());
    for (const name of ["stays", "vanishes"]) await admin.send("POST", pods, gpuPodObject(name, 1));
    const source = await startSource(
      inFormat(await clientFor("reader-token", `https://127.0.0.1:${proxy.port}`), format),
    );
    expect(podNames(source)).toEqual(["stays", "vanishes"]);
    proxy.cut();
    await admin.send("DELETE", `${pods}/vanishes?gracePeriodSeconds=0`);
    await admin.send("POST", pods, gpuPodObject("comes", 1));
    await until("the cut is noticed", () => source.status().pods.state === "failing");
    expect(podNames(source)).toEqual(["stays", "vanishes"]);
    expect(source.status().pods.ageSeconds).toBeGreaterThan(0);
    await server.compact();
    await server.restart();
    proxy.restore();
    await until("the cache is right again", () => podNames(source).join() === "comes,stays");
    expect(source.status().pods.lists).toBe(2);
    expect(source.status().pods.lastError).toMatch(/too old resource version|HTTP 410/);
  });
});

describe.each(formatNames)("thousands of pods under watch in %s", (format) => {
  it("leaves the cache equal to the API", async () => {
    const source = await startSource(inFormat(await clientFor("reader-token"), format), {
      timing: { ...quick, pageSize: 500 },
    });
    const total = 5000;
    const kept = (index: number): boolean => index % 100 === 0;
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < total; index = next++) {
        const name = `many-${index}`;
        await admin.send("POST", pods, index % 2 === 0 ? gpuPodObject(name, 1) : plainPodObject(name));
        if (!kept(index)) await admin.send("DELETE", `${pods}/${name}?gracePeriodSeconds=0`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    await admin.send("POST", pods, gpuPodObject("last", 1));
    await until("the last event has come", () => podNames(source).includes("last"));
    const names = await admin.names(pods);
    expect(names.length).toBe(51);
    await until("nothing is left over", () => source.read().podCount === names.length);
    expect(podNames(source)).toEqual(names);
    expect(source.status().pods).toMatchObject({ state: "synced", lists: 1, malformedMessages: 0, skippedObjects: 0 });
  });
});
