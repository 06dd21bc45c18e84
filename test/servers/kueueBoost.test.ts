import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Candidate } from "../../exporter/advice/candidate.ts";
import { findUnblockGang } from "../../exporter/advice/kinds/unblockGang.ts";
import { boostPriority } from "../../exporter/advice/steps/steps.ts";
import { createTrial } from "../../exporter/advice/whatIf/trial.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import { inOneStep } from "../../exporter/kernel/steps.ts";
import type { AdviceStep } from "../../exporter/model/recommendation.ts";
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
const workloads = `/apis/${apiVersion}/namespaces/${namespace}/workloads`;

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

/** A strict queue for 8 GPUs, and a LocalQueue for it. */
async function makeQueue(name: string, local: string, preemption: object): Promise<void> {
  await make(kueueCollections.clusterQueues, "ClusterQueue", name, {
    queueingStrategy: "StrictFIFO",
    namespaceSelector: {},
    preemption,
    resourceGroups: [
      { coveredResources: [gpu], flavors: [{ name: "h100", resources: [{ name: gpu, nominalQuota: "8" }] }] },
    ],
  });
  await make(`/apis/${apiVersion}/namespaces/${namespace}/localqueues`, "LocalQueue", local, { clusterQueue: name });
}

/** A Workload without a job, of one pod. */
function makeWorkload(name: string, gpus: number, more: object = {}) {
  const resources = { requests: { [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } };
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", resources }] } };
  return make(workloads, "Workload", name, {
    queueName: "main",
    podSets: [{ name: "main", count: 1, template }],
    ...more,
  });
}

const isAdmitted = async (name: string): Promise<boolean> =>
  (await conditionsOf(started(admin), name)).Admitted?.startsWith("True") ?? false;

const comes = (name: string) => until(`${name} is admitted`, () => isAdmitted(name));

/** Of what was created in the same second Kueue serves any first. */
async function nextSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000);
  await until("the next second begins", () => Math.floor(Date.now() / 1000) > second, 5);
}

/** The cluster as it would be ten minutes later, if nothing had changed. */
const later = (snapshot: Snapshot): Snapshot => ({ ...snapshot, at: snapshot.at + 600 });

const send = async ({ title, request }: AdviceStep): Promise<void> => {
  const { status, body } = await started(sender).send(request, false);
  expect([title, status, status === 200 ? "" : body]).toEqual([title, 200, ""]);
};

beforeAll(async () => {
  server = await startApiServer();
  admin = createAdmin(server);
  sender = await createAdviceSender(server);
  kueue = await startKueue(server, admin, { featureGates: { PriorityBoost: true, VisibilityOnDemand: false } });
  await createGpuNodes(admin, [{ name: "node-a", product: "NVIDIA-H100-80GB-HBM3", gpus: 8 }]);
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  await make(`/apis/${apiVersion}/resourceflavors`, "ResourceFlavor", "h100", {});
  await makeQueue("strict", "main", {});
  await makeWorkload("runs", 5);
  await comes("runs");
  watcher = await watchCluster(server);
}, 900_000);

afterAll(async () => {
  await watcher?.stop();
  await sender?.close();
  await kueue?.stop();
  await admin?.close();
  await server?.stop();
});

describe("Kueue 0.19 with its feature gate PriorityBoost", () => {
  const look = async (found: (snapshot: Snapshot) => boolean): Promise<Snapshot> => {
    await until("the snapshot has it", () => found(started(watcher).look().snapshot));
    return started(watcher).look().snapshot;
  };
  const waits = ({ queueing }: Snapshot, name: string): number =>
    queueing.gangs.findIndex((gang) => gang.name === name && gang.reservedAt === null);

  it("admits what Fairlead advises to boost past the head of the queue, and lets it run on without the boost", async () => {
    await makeWorkload("head", 8);
    await until(
      "Kueue has tried the head",
      async () => "QuotaReserved" in (await conditionsOf(started(admin), "head")),
    );
    await nextSecond();
    await makeWorkload("small", 2);
    const snapshot = await look((one) => waits(one, "head") >= 0 && waits(one, "small") >= 0);
    const moment = momentOf(later(snapshot));
    const { candidates, withheld } = inOneStep(findUnblockGang(moment, createTrial(moment)));
    expect(withheld).toEqual([]);
    const [advice]: readonly (Candidate | undefined)[] = candidates;
    expect(advice?.title).toBe("boost the priority of research/small (2 GPUs) past research/head: then it starts");
    const [on, off] = advice?.steps ?? [];
    if (on === undefined || off === undefined) throw new Error("no steps");
    expect([await isAdmitted("small"), await isAdmitted("head")]).toEqual([false, false]);

    await send(on);
    await comes("small");
    expect(await isAdmitted("head")).toBe(false);
    const boosted = await look((one) => waits(one, "small") < 0);
    expect(boosted.queueObjects.kueueWorkloads.find(({ name }) => name === "small")?.priorityBoost).toBe(1);

    await send(off);
    await look(({ queueObjects }) =>
      queueObjects.kueueWorkloads.every((one) => one.name !== "small" || one.priorityBoost === undefined),
    );
    expect([await isAdmitted("small"), await isAdmitted("head"), await isAdmitted("runs")]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("refuses a boost that is no number: so the gate is seen", async () => {
    await makeWorkload("probe", 1);
    const snapshot = await look((one) => waits(one, "probe") >= 0);
    const [on] = stepsOf(boostPriority(momentOf(snapshot), waits(snapshot, "probe"), 1));
    if (on === undefined) throw new Error("no step");
    const body = JSON.parse(JSON.stringify(on.request.body).replace(':"1"', ':"x"'));
    const answer = await started(sender).send({ ...on.request, body }, true);
    expect(answer.status).toBe(403);
    expect(JSON.stringify(answer.body)).toContain("must be a valid signed integer");
    expect((await started(sender).send(on.request, true)).status).toBe(200);
  });

  it("preempts equal work for what is boosted, where its queue preempts at all: so Fairlead does not advise it there", async () => {
    await makeQueue("preempting", "other", { withinClusterQueue: "LowerPriority" });
    await makeWorkload("equal", 6, { queueName: "other" });
    await comes("equal");
    await makeWorkload("first", 8, { queueName: "other" });
    await nextSecond();
    await makeWorkload("second", 2, { queueName: "other" });
    const snapshot = await look((one) => waits(one, "first") >= 0 && waits(one, "second") >= 0);
    const moment = momentOf(later(snapshot));
    const { withheld } = inOneStep(findUnblockGang(moment, createTrial(moment)));
    expect(withheld.find(({ subject }) => subject === "preempting")).toMatchObject({
      why: "guard",
      reason: expect.stringContaining("could preempt research/equal"),
    });
    const [on] = stepsOf(boostPriority(moment, waits(snapshot, "first"), 1));
    if (on === undefined) throw new Error("no step");
    await send(on);
    await until(
      "Kueue preempts its equal",
      async () => (await conditionsOf(started(admin), "equal")).Evicted === "True: Preempted",
    );
  });
});
