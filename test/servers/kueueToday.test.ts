import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { causesOf } from "../analysis/waiting/causesOf.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { createGpuNodes } from "./queues/gpuNodes.ts";
import { type Kueue, startKueue } from "./queues/kueue.ts";
import { conditionsOf, kueueCollections } from "./queues/kueueCluster.ts";
import { type Look, type Watcher, watchCluster } from "./queues/lookAt.ts";

const gpu = "nvidia.com/gpu";
const apiVersion = "kueue.x-k8s.io/v1beta2";
const namespace = "research";
const workloads = `/apis/${apiVersion}/namespaces/${namespace}/workloads`;
const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;

let [server, admin, kueue, watcher]: [
  ApiServer | undefined,
  Admin | undefined,
  Kueue | undefined,
  Watcher | undefined,
] = [undefined, undefined, undefined, undefined];

const started = <Part>(part: Part | undefined): Part => {
  if (part === undefined) throw new Error("the cluster has not started");
  return part;
};
const make = (path: string, kind: string, name: string, spec: object) =>
  started(admin).send("POST", path, { apiVersion, kind, metadata: { name }, spec });

const queueSpec = (nominalQuota: number, more: object = {}) => ({
  namespaceSelector: {},
  resourceGroups: [
    {
      coveredResources: [gpu],
      flavors: [{ name: "h100", resources: [{ name: gpu, nominalQuota: String(nominalQuota) }] }],
    },
  ],
  ...more,
});

/** A ClusterQueue of so many GPUs, and a LocalQueue of its name. */
async function makeQueue(name: string, nominalQuota: number, more: object = {}): Promise<void> {
  await make(kueueCollections.clusterQueues, "ClusterQueue", name, queueSpec(nominalQuota, more));
  await make(`/apis/${apiVersion}/namespaces/${namespace}/localqueues`, "LocalQueue", name, { clusterQueue: name });
}

const template = (gpus: number) => {
  const resources = { requests: { [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } };
  return { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", resources }] } };
};
const makeWorkload = (name: string, queueName: string, gpus: number) =>
  make(workloads, "Workload", name, { queueName, podSets: [{ name: "main", count: 1, template: template(gpus) }] });

const makeJob = (
  name: string,
  queue: string,
  pods: number,
  annotations: Readonly<Record<string, string>>,
  suspend: boolean,
) =>
  started(admin).send("POST", jobs, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, labels: { "kueue.x-k8s.io/queue-name": queue }, annotations },
    spec: { suspend, parallelism: pods, completions: 100, template: template(1) },
  });

const stored = z.looseObject({
  metadata: z.looseObject({}),
  spec: z.looseObject({}),
  status: z.looseObject({}).default({}),
});

async function change(path: string, spec: object): Promise<void> {
  const object = stored.parse(await started(admin).send("GET", path));
  await started(admin).send("PUT", path, { ...object, spec: { ...object.spec, ...spec } });
}

const conditionIs = (name: string, type: string, is: RegExp) =>
  until(`${name} has ${type} ${is.source}`, async () =>
    is.test((await conditionsOf(started(admin), name))[type] ?? ""),
  );

/** What waits in a queue, once it is so. */
async function waits(queue: string, isSo: (gangs: Look["snapshot"]["queueing"]["gangs"]) => boolean) {
  const gangsOf = () =>
    started(watcher)
      .look()
      .snapshot.queueing.gangs.filter((gang) => gang.queue === queue);
  await until(`what waits in ${queue} is seen`, () => isSo(gangsOf()));
  return gangsOf();
}

beforeAll(async () => {
  server = await startApiServer();
  admin = createAdmin(server);
  kueue = await startKueue(server, admin, { featureGates: { VisibilityOnDemand: false } });
  await createGpuNodes(admin, [{ name: "node-a", product: "NVIDIA-H100-80GB-HBM3", gpus: 8 }]);
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  await make(`/apis/${apiVersion}/resourceflavors`, "ResourceFlavor", "h100", {});
  watcher = await watchCluster(server);
}, 900_000);

afterAll(async () => {
  await watcher?.stop();
  await kueue?.stop();
  await admin?.close();
  await server?.stop();
});

describe("Kueue 0.19", () => {
  it("keeps what it has given quota until an admission check passes, and so long that is why it waits", async () => {
    const check = `/apis/${apiVersion}/admissionchecks`;
    await make(check, "AdmissionCheck", "nodes-to-come", { controllerName: "kueue.x-k8s.io/provisioning-request" });
    const active = {
      type: "Active",
      status: "True",
      reason: "Active",
      message: "",
      lastTransitionTime: new Date().toISOString(),
    };
    const made = stored.parse(await started(admin).send("GET", `${check}/nodes-to-come`));
    await started(admin).send("PUT", `${check}/nodes-to-come/status`, { ...made, status: { conditions: [active] } });
    const admissionChecksStrategy = { admissionChecks: [{ name: "nodes-to-come" }] };
    await makeQueue("checked", 8, { admissionChecksStrategy });
    await makeWorkload("checked", "checked", 8);
    await conditionIs("checked", "QuotaReserved", /^True/);
    const [gang] = await waits(
      "checked",
      ([one]) => one !== undefined && one.reservedAt !== null && one.checks !== undefined,
    );
    expect(gang).toMatchObject({
      awaitsNodes: true,
      gpus: 8,
      never: null,
      checks: [{ name: "nodes-to-come", state: "Pending", controller: "kueue.x-k8s.io/provisioning-request" }],
    });
    expect(causesOf(started(watcher).look().snapshot, "checked")).toEqual(["admission_check"]);
    expect(await conditionsOf(started(admin), "checked")).not.toHaveProperty(
      "Admitted",
      expect.stringContaining("True"),
    );

    const workload = stored.parse(await started(admin).send("GET", `${workloads}/checked`));
    const state = { name: "nodes-to-come", state: "Ready", message: "", lastTransitionTime: new Date().toISOString() };
    await started(admin).send("PUT", `${workloads}/checked/status`, {
      ...workload,
      status: { ...workload.status, admissionChecks: [state] },
    });
    await conditionIs("checked", "Admitted", /^True/);
    await waits("checked", ([one]) => one?.checks === undefined);
  });

  it("reserves for an elastic job that scales from 4 to 6 only the 2 that it grows by", async () => {
    const annotations = { "kueue.x-k8s.io/elastic-job": "true" };
    await makeQueue("elastic", 5);
    await makeJob("grows", "elastic", 4, annotations, false);
    await waits("elastic", (gangs) => gangs.some(({ reservedAt }) => reservedAt !== null));
    await change(`${jobs}/grows`, { parallelism: 6 });
    const isGrowth = ({ growth }: { readonly growth?: object }) => growth !== undefined;
    const gangs = await waits("elastic", (found) => found.some(isGrowth));
    expect(gangs.filter(isGrowth)).toMatchObject([
      { kind: "Job", name: "grows", gpus: 2, pods: 2, reservedAt: null, growth: { from: 4, to: 6 } },
    ]);
    expect(started(watcher).look().gpusOf("elastic")).toMatchObject({ reserved: 4, pending: 6 });

    // One GPU more is what 6 takes, where 4 + 6 would take 10.
    await change(`${kueueCollections.clusterQueues}/elastic`, queueSpec(6));
    const grown = await waits(
      "elastic",
      (found) => found.length === 1 && found.every((gang) => gang.reservedAt !== null),
    );
    expect(grown).toMatchObject([{ gpus: 6 }]);
    await until("the quota is that of 6 pods", () => started(watcher).look().gpusOf("elastic").reserved === 6);
  });

  it("admits a job with the fewest pods that will do, which is what it asks for until then", async () => {
    await makeQueue("partial", 2);
    await makeJob("partial", "partial", 6, { "kueue.x-k8s.io/job-min-parallelism": "3" }, true);
    const [waiting] = await waits("partial", ([one]) => one !== undefined);
    expect(waiting).toMatchObject({ gpus: 3, pods: 3, most: { pods: 6, gpus: 6 }, never: "above-limit" });
    await change(`${kueueCollections.clusterQueues}/partial`, queueSpec(3));
    const [admitted] = await waits("partial", ([one]) => one !== undefined && one.reservedAt !== null);
    expect(admitted).toMatchObject({ gpus: 3, pods: 3, never: null });
    expect(admitted).not.toHaveProperty("most");
  });

  it("finds work inadmissible that a LimitRange refuses, and so is it told, with the name", async () => {
    await makeQueue("limited", 8);
    await started(admin).send("POST", `/api/v1/namespaces/${namespace}/limitranges`, {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "small-pods" },
      spec: { limits: [{ type: "Pod", max: { [gpu]: "4" } }] },
    });
    await makeWorkload("small", "limited", 4);
    await conditionIs("small", "Admitted", /^True/);
    await makeWorkload("large", "limited", 8);
    await conditionIs("large", "QuotaReserved", /^False/);
    const found = await waits("limited", (gangs) => gangs.some(({ never }) => never === "limit-range"));
    expect(found.find(({ name }) => name === "large")?.reason).toMatch(
      /^LimitRange small-pods allows a pod at most 4 nvidia\.com\/gpu, and it asks for 8; .*LimitRange/,
    );
    expect(found.find(({ name }) => name === "small")).toMatchObject({ never: null });
  });
});
