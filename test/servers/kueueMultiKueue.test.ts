import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { queueTimesOf } from "../../exporter/accounts/queueTime.ts";
import { analysed } from "../join/outcomes.ts";
import { causesOf } from "./causesOf.ts";
import { until } from "./kubernetesAdmin.ts";
import { type HandMadeKueue, madeIn, podTemplate, startHandMadeKueue } from "./queues/handMadeKueue.ts";
import { rewrite } from "./queues/rewrite.ts";

// A manager without GPUs, and one worker with 8: its queue has quota for two jobs of 8, the worker's for one.

const { namespace } = madeIn;
const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
const kueueApi = "/apis/kueue.x-k8s.io/v1beta2";

let worker: HandMadeKueue;
let manager: HandMadeKueue;

const send = (name: string) =>
  manager.admin.send("POST", jobs, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, labels: { "kueue.x-k8s.io/queue-name": "team" } },
    spec: { suspend: true, managedBy: "kueue.x-k8s.io/multikueue", template: podTemplate(8) },
  });

const queueingOf = ({ watcher }: HandMadeKueue) => watcher.look().snapshot.queueing;
const waitingIn = (cluster: HandMadeKueue, name: string) =>
  queueingOf(cluster).gangs.find((gang) => gang.name === name);
/** The copy of a job in the worker, which has no job of its own until the worker has given it quota. */
const copyOf = (name: string) => queueingOf(worker).gangs.find((gang) => gang.name.startsWith(`job-${name}-`));
/** Pending GPUs as they are accounted for. */
const pendingTime = ({ watcher }: HandMadeKueue): number =>
  queueTimesOf(analysed(watcher.look().snapshot), [{ hour: 0, seconds: 1 }]).reduce(
    (sum, { pending }) => sum + pending,
    0,
  );

beforeAll(async () => {
  // Its port is fixed, and two Kueues cannot have it.
  const settings = { featureGates: { VisibilityOnDemand: false } };
  [worker, manager] = await Promise.all([startHandMadeKueue(1, settings), startHandMadeKueue(0, settings)]);
  await worker.makeQueue("team", 8);
  const kubeconfig = Buffer.from(worker.server.kubeconfigFor(worker.server.adminToken)).toString("base64");
  await manager.admin.send("POST", "/api/v1/namespaces/kueue-system/secrets", {
    metadata: { name: "worker1" },
    data: { kubeconfig },
  });
  await manager.make(`${kueueApi}/multikueueclusters`, "MultiKueueCluster", "worker1", {
    clusterSource: { kubeConfig: { locationType: "Secret", location: "worker1" } },
  });
  await manager.make(`${kueueApi}/multikueueconfigs`, "MultiKueueConfig", "workers", { clusters: ["worker1"] });
  await manager.make(madeIn.admissionChecks, "AdmissionCheck", "workers", {
    controllerName: "kueue.x-k8s.io/multikueue",
    parameters: { apiGroup: "kueue.x-k8s.io", kind: "MultiKueueConfig", name: "workers" },
  });
  const admissionChecksStrategy = { admissionChecks: [{ name: "workers" }] };
  await manager.makeQueue("team", 16, { admissionChecksStrategy });
}, 900_000);

afterAll(async () => {
  await Promise.all([manager?.stop(), worker?.stop()]);
});

describe("Kueue 0.19 with MultiKueue", () => {
  it("shows what a worker has taken, what waits for a worker and what waits for quota, and each job waits once", async () => {
    await send("first");
    await until("the worker has taken the first", () => queueingOf(manager).dispatched?.length === 1);
    expect(queueingOf(manager).dispatched).toMatchObject([{ name: "first", cluster: "worker1" }]);
    await until("the worker sees it with quota", () => waitingIn(worker, "first")?.reservedAt != null);
    expect(waitingIn(worker, "first")).not.toHaveProperty("isCopy");

    await send("second");
    await until("the second has quota in the manager", () => waitingIn(manager, "second")?.checks !== undefined);
    await until("its copy waits in the worker", () => copyOf("second")?.isCopy === true);
    await send("third");
    await until("the third waits in the manager", () => waitingIn(manager, "third") !== undefined);
    await until("Kueue has said why", async () =>
      /^False/.test((await manager.conditions("third")).QuotaReserved ?? ""),
    );
    await until("that is seen", () => /quota/.test(waitingIn(manager, "third")?.reason ?? ""));
    await until("the cluster that was asked is seen", () => /asked/.test(waitingIn(manager, "second")?.reason ?? ""));
    await until("the worker has said why", () => causesOf(worker.watcher.look().snapshot, "team").includes("quota"));
    await until("all of it is seen", () => pendingTime(manager) === 16 && pendingTime(worker) === 8);

    expect(waitingIn(manager, "second")).toMatchObject({ never: "elsewhere" });
    expect(waitingIn(manager, "second")?.reason).toMatch(/no cluster has taken it yet; asked: worker1/);
    expect(waitingIn(manager, "third")).toMatchObject({ never: "elsewhere", reservedAt: null });
    expect(causesOf(manager.watcher.look().snapshot, "team").toSorted()).toEqual(["admission_check", "quota"]);
    expect(copyOf("third")).toBeUndefined();
    expect(causesOf(worker.watcher.look().snapshot, "team")).toContain("quota");

    // 8 GPUs of the second and of the third; in the worker those of the first, which still lacks its pods.
    expect([pendingTime(manager), pendingTime(worker)]).toEqual([16, 8]);
    expect(worker.watcher.look().gpusOf("team").pending).toBe(16);
  });

  it("hands the second over when the first has ended", async () => {
    const stored = z.looseObject({ status: z.looseObject({}).default({}) });
    const time = new Date().toISOString();
    const ended = (type: string) => ({ type, status: "True", reason: "CompletionsReached", lastTransitionTime: time });
    await rewrite(
      worker.admin,
      `${jobs}/first`,
      stored,
      (job) => ({
        ...job,
        status: {
          ...job.status,
          startTime: time,
          completionTime: time,
          succeeded: 1,
          conditions: [ended("SuccessCriteriaMet"), ended("Complete")],
        },
      }),
      "/status",
    );
    await until(
      "the second is taken",
      () => queueingOf(manager).dispatched?.some(({ name }) => name === "second") === true,
    );
    await until("the third waits for the worker", () => waitingIn(manager, "third")?.checks !== undefined);
    await until("its copy is there", () => copyOf("third")?.isCopy === true);
    await until("the second has quota in the worker", () => waitingIn(worker, "second")?.reservedAt != null);
    await until("each waits once", () => pendingTime(manager) === 8 && pendingTime(worker) === 8);
  });
});
