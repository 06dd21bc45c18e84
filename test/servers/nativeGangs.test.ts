import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Memory } from "../../exporter/join/memory.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { createKubernetesSource, type KubernetesSource } from "../../exporter/sources/kubernetes/kubernetesSource.ts";
import { analysed, defaultSettings, joined, statesOf } from "../join/outcomes.ts";
import { type ApiServer, gangGates, servingNativeGangs, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { createGpuNodes } from "./queues/gpuNodes.ts";
import { runContainer } from "./queues/jobPods.ts";
import { type RealScheduler, startScheduler } from "./realScheduler.ts";

const groups = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
const pods = "/api/v1/namespaces/default/pods";
const members = ["rank-0", "rank-1", "rank-2", "rank-3"];
const anObject = z.looseObject({});

let server: ApiServer;
let admin: Admin;
let scheduler: RealScheduler;
let source: KubernetesSource;
let memory: Memory | undefined;

beforeAll(async () => {
  server = await startApiServer({ apiServerFlags: servingNativeGangs });
  admin = createAdmin(server);
  await createGpuNodes(admin, [{ name: "four", product: "NVIDIA-H100-80GB-HBM3", gpus: 4 }]);
  await createPod("other", { nodeName: "four" });
  await admin.send("POST", groups, {
    metadata: { name: "train" },
    spec: { schedulingPolicy: { gang: { minCount: 4 } } },
  });
  scheduler = await startScheduler(server, [gangGates]);
  const access = async () => ({ headers: { authorization: `Bearer ${server.adminToken}` }, tls: { ca: server.ca } });
  const client = createApiClient({ server: server.url, proxyUrl: null, access }, systemClock);
  source = createKubernetesSource({ client, exporters: [], gpuResources: [], maxAgeSeconds: 90 });
  await source.start();
}, 300_000);

afterAll(async () => {
  await source?.stop();
  await scheduler?.stop();
  await admin?.close();
  await server?.stop();
});

async function createPod(name: string, spec: object, gpus = 1): Promise<void> {
  const resources = { limits: { "nvidia.com/gpu": String(gpus) } };
  await admin.send("POST", pods, {
    metadata: { name },
    spec: { ...spec, containers: [{ name: "main", image: "none", resources }] },
  });
}

const createMember = (name: string): Promise<void> => createPod(name, { schedulingGroup: { podGroupName: "train" } });

/** Its kubelet, which is not there, says that its container runs. */
async function run(name: string): Promise<void> {
  await runContainer(admin, `${pods}/${name}`, anObject.parse(await admin.send("GET", `${pods}/${name}`)));
}

/** One cycle now. */
function cycle(): Snapshot {
  const found = joined(source.read(), defaultSettings, memory, Date.now() / 1000);
  memory = found.memory;
  return found.snapshot;
}

const read = (): readonly Pod[] => source.read().pods.filter(({ name }) => !name.includes("other"));
const bound = (): number => read().filter(({ nodeName }) => nodeName !== null).length;
const causes = (): readonly string[] => analysed(cycle()).waiting.work.map(({ cause }) => cause);

describe("a gang of four that kube-scheduler places", () => {
  it("waits for its last member, though three have room", async () => {
    for (const name of members.slice(0, 3)) await createMember(name);
    await until("three members and their group are read", () => {
      return read().length === 3 && source.read().queues.nativePodGroups.length === 1;
    });
    expect(source.read().queues.nativePodGroups).toMatchObject([{ name: "train", minCount: 4, wasScheduled: false }]);
    expect(causes()).toEqual(["gang"]);
    expect(bound()).toBe(0);
  });

  it("waits as a gang when all four are there and three have room, and for capacity when none has", async () => {
    await createPod("another", { nodeName: "four" }, 3);
    await createMember("rank-3");
    await until("all members are read", () => read().length === 4);
    await until("the scheduler has looked at it", () =>
      read().some(({ unschedulable }) => unschedulable !== undefined),
    );
    expect(causes()).toEqual(["capacity"]);
    await admin.send("DELETE", `${pods}/another?gracePeriodSeconds=0`);
    await until("three have room", () => source.read().pods.length === 5);
    expect(causes()).toEqual(["gang"]);
    expect(bound()).toBe(0);
  });

  it("that runs is seen in the next cycle after it has lost a member", async () => {
    await admin.send("DELETE", `${pods}/other?gracePeriodSeconds=0`);
    await until("all members are bound", () => bound() === 4);
    for (const name of members) await run(name);
    await until("all members run", () => read().every(({ phase }) => phase === "Running"));
    const whole = cycle();
    expect(whole.pods.map(({ gang }) => gang)).toEqual(
      members.map(() => expect.objectContaining({ bound: 4, min: 4, partialSince: null })),
    );
    await admin.send("DELETE", `${pods}/rank-2?gracePeriodSeconds=0`);
    await until("the member is gone", () => read().length === 3);
    const lost = cycle();
    expect(statesOf(lost).gang_wait).toBe(3);
    expect(analysed(lost).waiting.partialGangs).toMatchObject([
      { id: "PodGroup default/train", bound: 3, min: 4, allocatedGpus: 3, hasLostMember: true },
    ]);
  });
});
