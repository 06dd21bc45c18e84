import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mendFinding } from "../../exporter/advice/steps/steps.ts";
import type { Finding, FindingCode } from "../../exporter/analysis/lint/finding.ts";
import { findings } from "../../exporter/analysis/lint/findings.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import { momentOf, stepsOf } from "../advice/steps/stepMoment.ts";
import { type AdviceSender, createAdviceSender } from "./adviceRequests.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { createGpuNodes } from "./queues/gpuNodes.ts";
import { type Kueue, startKueue } from "./queues/kueue.ts";
import { conditionsOf, kueueCollections } from "./queues/kueueCluster.ts";
import { type Watcher, watchCluster } from "./queues/lookAt.ts";

const gpu = "nvidia.com/gpu";
const apiVersion = "kueue.x-k8s.io/v1beta2";
const namespace = "research";

let [server, admin, kueue, sender, watcher]: [
  ApiServer | undefined,
  Admin | undefined,
  Kueue | undefined,
  AdviceSender | undefined,
  Watcher | undefined,
] = [undefined, undefined, undefined, undefined, undefined];

const started = <Part>(part: Part | undefined): Part => {
  if (part === undefined) throw new Error("the cluster has not started");
  return part;
};

const make = (path: string, kind: string, name: string, spec: object) =>
  started(admin).send("POST", path, { apiVersion, kind, metadata: { name }, spec });

/** A queue that is sure of 4 GPUs, and a LocalQueue of the same name. */
async function makeQueue(name: string, more: object): Promise<void> {
  await make(kueueCollections.clusterQueues, "ClusterQueue", name, {
    namespaceSelector: {},
    resourceGroups: [
      { coveredResources: [gpu], flavors: [{ name: "h100", resources: [{ name: gpu, nominalQuota: "4" }] }] },
    ],
    ...more,
  });
  await make(`/apis/${apiVersion}/namespaces/${namespace}/localqueues`, "LocalQueue", name, { clusterQueue: name });
}

/** A Workload without a job, of one pod. */
function makeWorkload(name: string, queueName: string, gpus: number, priority = 0) {
  const resources = { requests: { [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } };
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", resources }] } };
  return make(`/apis/${apiVersion}/namespaces/${namespace}/workloads`, "Workload", name, {
    queueName,
    priority,
    podSets: [{ name: "main", count: 1, template }],
  });
}

const conditions = (name: string) => conditionsOf(started(admin), name);
const isAdmitted = async (name: string): Promise<boolean> =>
  (await conditions(name)).Admitted?.startsWith("True") ?? false;
const isPreempted = async (name: string): Promise<boolean> => (await conditions(name)).Evicted === "True: Preempted";
const comes = (name: string) => until(`${name} is admitted`, () => isAdmitted(name));
const isTried = (name: string) =>
  until(`Kueue has tried ${name}`, async () => "QuotaReserved" in (await conditions(name)));

const look = async (found: (snapshot: Snapshot) => boolean): Promise<Snapshot> => {
  await until("the snapshot has it", () => found(started(watcher).look().snapshot));
  const { snapshot } = started(watcher).look();
  // As it would be ten minutes later, if nothing had changed.
  return { ...snapshot, at: snapshot.at + 600 };
};
const waits = ({ queueing }: Snapshot, name: string): boolean =>
  queueing.gangs.some((gang) => gang.name === name && gang.reservedAt === null);
const foundIn = (snapshot: Snapshot, code: FindingCode, name: string): Finding | undefined =>
  findings(snapshot).find((finding) => finding.code === code && finding.name === name);

/** Does what mends the finding, as an administrator would. */
async function mend(snapshot: Snapshot, finding: Finding | undefined): Promise<void> {
  if (finding === undefined) throw new Error("there is no such finding");
  for (const { title, request } of stepsOf(mendFinding(momentOf(snapshot), finding))) {
    const { status, body } = await started(sender).send(request, false);
    expect([title, status, status === 200 ? "" : body]).toEqual([title, 200, ""]);
  }
}

beforeAll(async () => {
  server = await startApiServer();
  admin = createAdmin(server);
  sender = await createAdviceSender(server);
  kueue = await startKueue(server, admin, { featureGates: { VisibilityOnDemand: false } });
  const nodes = ["a", "b", "c"].map((name) => ({ name, product: "NVIDIA-H100-80GB-HBM3", gpus: 8 }));
  await createGpuNodes(admin, nodes);
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  await make(`/apis/${apiVersion}/resourceflavors`, "ResourceFlavor", "h100", {});
  watcher = await watchCluster(server);
}, 900_000);

afterAll(async () => {
  await watcher?.stop();
  await sender?.close();
  await kueue?.stop();
  await admin?.close();
  await server?.stop();
});

describe("Kueue 0.19 under reclaimWithinCohort LowerPriority", () => {
  const preemption = { reclaimWithinCohort: "LowerPriority" };

  it("takes back nothing from equal priorities, and does once it is told what the finding says", async () => {
    await makeQueue("vision", { cohortName: "equal", preemption });
    await makeQueue("ads", { cohortName: "equal", preemption: { reclaimWithinCohort: "Any" } });
    await makeWorkload("ads-own", "ads", 4);
    await comes("ads-own");
    await makeWorkload("ads-more", "ads", 4);
    await comes("ads-more");
    await makeWorkload("vision-waits", "vision", 2);
    await isTried("vision-waits");
    const snapshot = await look((one) => waits(one, "vision-waits"));
    expect([await isPreempted("ads-own"), await isPreempted("ads-more")]).toEqual([false, false]);

    await mend(snapshot, foundIn(snapshot, "kueue-reclaim-no-candidates", "vision"));
    await until(
      "Kueue takes back what ads borrowed",
      async () => (await isPreempted("ads-own")) || (await isPreempted("ads-more")),
    );
  });

  it("takes back from lower priorities by itself, and nothing is found", async () => {
    await makeQueue("speech", { cohortName: "several", preemption });
    await makeQueue("search", { cohortName: "several" });
    await makeWorkload("search-own", "search", 4);
    await comes("search-own");
    await makeWorkload("search-more", "search", 4);
    await comes("search-more");
    const before = await look(({ queueObjects }) =>
      queueObjects.kueueWorkloads.some(({ name, admission }) => name === "search-more" && admission !== null),
    );
    expect(foundIn(before, "kueue-reclaim-no-candidates", "speech")).toBeUndefined();
    await makeWorkload("speech-waits", "speech", 2, 100);
    await until(
      "Kueue takes back what search borrowed",
      async () => (await isPreempted("search-own")) || (await isPreempted("search-more")),
    );
  });
});

describe("Kueue 0.19 without a cohort", () => {
  it("lends nothing, and admits what waits once the queues are in the cohort that the finding asks for", async () => {
    await makeQueue("training", {});
    await makeQueue("serving", {});
    await makeWorkload("trains", "training", 4);
    await comes("trains");
    await makeWorkload("training-waits", "training", 2);
    await isTried("training-waits");
    const snapshot = await look((one) => waits(one, "training-waits"));
    expect(await isAdmitted("training-waits")).toBe(false);

    await mend(snapshot, foundIn(snapshot, "kueue-quota-not-shared", "training"));
    await comes("training-waits");
    expect(await isAdmitted("trains")).toBe(true);
  });
});
