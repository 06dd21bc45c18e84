import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { changeQuota } from "../../exporter/advice/steps/changeQuota.ts";
import { fixFinding } from "../../exporter/advice/steps/findingSteps.ts";
import { boostPriority } from "../../exporter/advice/steps/kueueSteps.ts";
import { movePods } from "../../exporter/advice/steps/moveSteps.ts";
import { labelNode, removeNode, restartExporter } from "../../exporter/advice/steps/nodeSteps.ts";
import { changeRequest } from "../../exporter/advice/steps/requestSteps.ts";
import type { StepsFound } from "../../exporter/advice/steps/step.ts";
import { requeueWorkload, stopWorkload } from "../../exporter/advice/steps/workloadSteps.ts";
import type { FindingCode } from "../../exporter/analysis/lint/finding.ts";
import { noQueueing } from "../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import { noQueueObjects } from "../../exporter/model/queues/queueObjects.ts";
import type { JsonValue } from "../../exporter/model/recommendation.ts";
import { momentOf, nodePoolView, owner, stepsOf, workloadMoment } from "../advice/steps/stepMoment.ts";
import { podNeeds, workload } from "../queues/kueueRows.ts";
import { gangView } from "../queues/queueView.ts";
import { type AdviceCluster, startAdviceCluster } from "./adviceCluster.ts";
import { type OwnerSample, ownerSamples } from "./adviceOwners.ts";
import { gpuPodObject } from "./kubernetesAdmin.ts";
import { nodePoolCases } from "./nodePoolCases.ts";

const namespace = "research";
const gpu = "nvidia.com/gpu";
const kueueApi = "/apis/kueue.x-k8s.io/v1beta2";

let cluster: AdviceCluster;

beforeAll(async () => {
  cluster = await startAdviceCluster(namespace);
}, 900_000);
afterAll(async () => await cluster?.stop());

async function create({ apiVersion, kind, plural, spec }: OwnerSample, name: string): Promise<string> {
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${plural}`;
  return (await cluster.make(path, kind, { metadata: { name }, spec })).metadata.uid;
}

const limits = { backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false } as const;

describe("owners", () => {
  it.each(ownerSamples)("are stopped, and only the one that is meant: $apiVersion $kind", async (sample) => {
    const name = `stop-${sample.kind.toLowerCase()}`;
    const uid = await create(sample, name);
    const moment = workloadMoment([owner(sample.apiVersion, sample.kind, name, { uid })], { job: limits });
    const [step] = await cluster.accepted(stopWorkload(moment, 0));
    if (step === undefined || step.request.verb === "POST") return; // a command for another object goes away unheard
    await cluster.refusedForAnother(step, uid);
    await cluster.sender.shell(step.command);
    expect((await cluster.sender.send(step.request, false)).status).toBe(200);
  });

  it.each(ownerSamples.filter(({ kind }) => ["Job", "JobSet", "PyTorchJob", "RayJob"].includes(kind)))(
    "are let in again: $apiVersion $kind",
    async (sample) => {
      const name = `again-${sample.kind.toLowerCase()}`;
      const uid = await create(sample, name);
      const moment = workloadMoment([owner(sample.apiVersion, sample.kind, name, { uid })], { job: limits });
      await cluster.accepted(requeueWorkload(moment, 0));
    },
  );

  it("ask for less, if their template is what was read", async () => {
    const sample = ownerSamples.find(({ kind }) => kind === "Deployment");
    if (sample === undefined) throw new Error("no Deployment");
    const uid = await create(sample, "less");
    const top = owner(sample.apiVersion, sample.kind, "less", { uid });
    const asking = (amount: number) =>
      workloadMoment(
        [owner("apps/v1", "ReplicaSet", "less-1"), top],
        {},
        { pod: { needs: podNeeds({ [gpu]: amount }) } },
      );
    const [step] = await cluster.accepted(changeRequest(asking(2), 0, { resource: gpu, amount: 1 }));
    await cluster.accepted(changeRequest(asking(2), 0, { resource: "nvidia.com/mig-1g.10gb", amount: 1 }));
    if (step === undefined) throw new Error("no step");
    await cluster.refusedForAnother(step, uid);
    const [stale] = stepsOf(changeRequest(asking(4), 0, { resource: gpu, amount: 1 }));
    if (stale === undefined) throw new Error("no step");
    expect((await cluster.sender.send(stale.request, false)).status).toBe(422);
  });
});

describe("a Job that Fairlead has read", () => {
  it("is suspended", async () => {
    const sample = ownerSamples.find(({ apiVersion }) => apiVersion === "batch/v1");
    if (sample === undefined) throw new Error("no Job");
    const uid = await create(sample, "read");
    const ownerReferences = [{ apiVersion: "batch/v1", kind: "Job", name: "read", uid, controller: true }];
    const pod = gpuPodObject("read-0", 1, { metadata: { ownerReferences } });
    await cluster.admin.send("POST", `/api/v1/namespaces/${namespace}/pods`, pod);
    const place = ({ workloads }: Snapshot) => workloads.findIndex(({ name, job }) => name === "read" && job !== null);
    const snapshot = await cluster.snapshotWith((one) => place(one) >= 0);
    const [step] = await cluster.accepted(stopWorkload(momentOf(snapshot), place(snapshot)));
    expect(step?.request.path).toBe(`/apis/batch/v1/namespaces/${namespace}/jobs/read`);
    await cluster.admin.send("DELETE", `/api/v1/namespaces/${namespace}/pods/read-0?gracePeriodSeconds=0`);
  });
});

describe("pods and nodes", () => {
  it("are moved, removed, labelled and restarted", async () => {
    const made = await cluster.admin.send("POST", `/api/v1/namespaces/${namespace}/pods`, gpuPodObject("llm-0", 1));
    const { uid } = made.metadata;
    const snapshot = await cluster.snapshotWith(({ nodes, pods }) => nodes.length === 1 && pods.length > 0);
    expect(snapshot.nodes[0]?.uid).toBe((await cluster.admin.send("GET", "/api/v1/nodes/node-a")).metadata.uid);
    const owners = [owner("apps/v1", "ReplicaSet", "llm-1"), owner("apps/v1", "Deployment", "llm")];
    const exporterPods = [{ namespace, name: "llm-0", uid, nodeName: "node-a" }];
    const moment = workloadMoment(
      owners,
      {},
      { pod: { uid, name: "llm-0", node: "node-a" }, snapshot: { nodes: snapshot.nodes, exporterPods } },
    );
    const [cordon, eviction, ...rest] = await cluster.accepted(movePods(moment, [[0]], [0]));
    if (cordon === undefined || eviction === undefined) throw new Error("no steps");
    expect(rest.length).toBe(1);
    await cluster.refusedForAnother(cordon, snapshot.nodes[0]?.uid ?? "");
    await cluster.refusedForAnother(eviction, uid);
    await cluster.accepted(restartExporter(moment, 0));
    await cluster.accepted(labelNode(moment, 0, "nvidia.com/mig.config", "all-1g.10gb"));

    const name = snapshot.nodes[0]?.nodePool ?? "";
    const nodePools = [nodePoolView({ name, manager: "karpenter" })];
    const removal = removeNode(momentOf({ nodes: snapshot.nodes, nodePools }), 0);
    const [, deletion] = await cluster.accepted({
      ok: true,
      // kubectl drain refuses a pod without an owner, dry run or not: the request alone is what is sent here.
      steps: stepsOf(removal).map((step) => (step.title.startsWith("Drain") ? { ...step, dryRun: null } : step)),
    });
    if (deletion === undefined) throw new Error("no deletion");
    await cluster.refusedForAnother(deletion, snapshot.nodes[0]?.uid ?? "");
    expect((await cluster.sender.send(eviction.request, false)).status).toBe(201);
    await cluster.admin
      .send("DELETE", `/api/v1/namespaces/${namespace}/pods/llm-0?gracePeriodSeconds=0`)
      .catch(() => {});
    const [drain] = stepsOf(removal);
    expect(await cluster.sender.shell(drain?.dryRun ?? "")).toContain("drained (server dry run)");
  });
});

nodePoolCases(() => cluster);

describe("queues", () => {
  const index = ({ queueing }: Snapshot, name: string): number =>
    queueing.queues.findIndex((queue) => queue.name === name);

  /** Accepted as it was read; refused as soon as someone else has changed the object. */
  async function guarded(found: StepsFound, change: () => Promise<unknown>): Promise<void> {
    const [step] = await cluster.accepted(found);
    if (step === undefined) throw new Error("no step");
    await change();
    const before = await cluster.sender.contentOf(step);
    expect([step.title, (await cluster.sender.send(step.request, false)).status]).toEqual([step.title, 422]);
    expect(await cluster.sender.contentOf(step)).toBe(before);
  }

  const patch = async (path: string, spec: JsonValue): Promise<void> => {
    const contentType = "application/merge-patch+json";
    const { status, body } = await cluster.sender.send({ verb: "PATCH", path, contentType, body: { spec } }, false);
    expect([status, status === 200 ? "" : body]).toEqual([200, ""]);
  };

  /** As an older Kueue would have given its queues, which has no newer version. */
  const asReadIn = (version: string, { queueObjects, ...rest }: Snapshot): Snapshot => {
    const kueueClusterQueues = queueObjects.kueueClusterQueues.map(({ revision, ...queue }) => ({
      ...queue,
      revision: revision ? { ...revision, apiVersion: `kueue.x-k8s.io/${version}` } : null,
    }));
    return { ...rest, queueObjects: { ...queueObjects, kueueClusterQueues } };
  };

  const fix = (snapshot: Snapshot, code: FindingCode, name: string): StepsFound =>
    fixFinding(momentOf(snapshot), { code, scheduler: "none", kind: "Queue", name, reason: "", change: "" });

  it("of Kueue are changed, with its webhooks in between", async () => {
    await cluster.make(`${kueueApi}/resourceflavors`, "ResourceFlavor", {
      metadata: { name: "h100" },
      spec: { nodeLabels: {} },
    });
    const queue = (name: string, nominalQuota: string | number, more: object) =>
      cluster.make(`${kueueApi}/clusterqueues`, "ClusterQueue", {
        metadata: { name },
        spec: {
          cohortName: "all",
          resourceGroups: [
            {
              coveredResources: ["cpu", gpu],
              flavors: [
                {
                  name: "h100",
                  resources: [
                    { name: "cpu", nominalQuota: 8 },
                    { name: gpu, nominalQuota, ...more },
                  ],
                },
              ],
            },
          ],
        },
      });
    await queue("kueue-a", 4, { borrowingLimit: 4, lendingLimit: 4 });
    await queue("kueue-b", "4", {});
    const snapshot = await cluster.snapshotWith((one) => index(one, "kueue-a") >= 0 && index(one, "kueue-b") >= 0);
    const moment = momentOf(snapshot);
    const a = index(snapshot, "kueue-a");
    await cluster.accepted(changeQuota(moment, a, { guaranteed: 2 }));
    await cluster.accepted(changeQuota(moment, a, { limit: Number.POSITIVE_INFINITY }));
    await cluster.accepted(changeQuota(moment, index(snapshot, "kueue-b"), { guaranteed: 6, limit: 8 }));
    await cluster.accepted(fix(snapshot, "kueue-no-reclaim", "kueue-a"));
    await cluster.accepted(fix(snapshot, "kueue-queue-selects-no-namespace", "kueue-a"));
    await cluster.accepted(changeQuota(momentOf(asReadIn("v1beta1", snapshot)), a, { guaranteed: 2 }));
    await guarded(changeQuota(moment, a, { guaranteed: 3, limit: 6 }), () =>
      patch(`${kueueApi}/clusterqueues/kueue-a`, { stopPolicy: "Hold" }),
    );
  });

  it("of Kueue give back a Workload", async () => {
    const path = `${kueueApi}/namespaces/${namespace}/workloads`;
    const pod = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } };
    const made = await cluster.make(path, "Workload", {
      metadata: { name: "job-train-1" },
      spec: { queueName: "none", podSets: [{ name: "main", count: 1, template: pod }] },
    });
    const queueObject = {
      scheduler: "kueue",
      kind: "Workload",
      namespace,
      name: "job-train-1",
      uid: made.metadata.uid,
    } as const;
    const moment = workloadMoment([owner("batch/v1", "Job", "train")], { job: limits, queueObject });
    const [off] = await cluster.accepted(requeueWorkload(moment, 0));
    if (off === undefined) throw new Error("no step");
    await cluster.refusedForAnother(off, made.metadata.uid);
    await cluster.sender.shell(off.command);
    expect(JSON.stringify(await cluster.admin.send("GET", `${path}/job-train-1`))).toContain('"active":false');
  });

  it("of Kueue take a boost for a Workload, and take it off again", async () => {
    const path = `${kueueApi}/namespaces/${namespace}/workloads`;
    const pod = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } };
    const made = await cluster.make(path, "Workload", {
      metadata: { name: "boosted" },
      spec: { queueName: "none", podSets: [{ name: "main", count: 1, template: pod }] },
    });
    const { uid } = made.metadata;
    const moment = momentOf({
      queueing: { ...noQueueing, gangs: [gangView({ uid })], queueOfPod: new Int32Array([0]) },
      queueObjects: { ...noQueueObjects, kueueWorkloads: [workload("boosted", [], { namespace, uid })] },
    });
    const [on, off] = await cluster.accepted(boostPriority(moment, 0, 1));
    if (on === undefined || off === undefined) throw new Error("no steps");
    await cluster.refusedForAnother(on, uid);
    // Its feature gate is off, as it is unless someone turns it on: then nobody reads the value.
    const nonsense = JSON.parse(JSON.stringify(on.request.body).replace(':"1"', ':"x"'));
    expect((await cluster.sender.send({ ...on.request, body: nonsense }, true)).status).toBe(200);
    await cluster.sender.shell(on.command);
    expect(await cluster.sender.contentOf(on)).toContain('"kueue.x-k8s.io/priority-boost":"1"');
    await cluster.sender.shell(off.command);
    expect(await cluster.sender.contentOf(off)).not.toContain("priority-boost");
  });

  it("of KAI are changed", async () => {
    const api = "/apis/scheduling.run.ai/v2/queues";
    const gpus = { quota: 4, overQuotaWeight: 1, limit: 6 };
    await cluster.make(api, "Queue", { metadata: { name: "kai-a" }, spec: { resources: { gpu: gpus } } });
    await cluster.make(api, "Queue", {
      metadata: { name: "kai-b" },
      spec: { resources: { gpu: { quota: 4 }, cpu: { limit: -1 } } },
    });
    const snapshot = await cluster.snapshotWith((one) => index(one, "kai-a") >= 0 && index(one, "kai-b") >= 0);
    const moment = momentOf(snapshot);
    await cluster.accepted(changeQuota(moment, index(snapshot, "kai-a"), { limit: Number.POSITIVE_INFINITY }));
    await cluster.accepted(fix(snapshot, "kai-no-surplus", "kai-b"));
    const steps = await cluster.accepted(fix(snapshot, "kai-limit-zero", "kai-b"));
    expect(steps[0]?.title).toContain("gpu, memory");
    await guarded(changeQuota(moment, index(snapshot, "kai-a"), { guaranteed: 2.5 }), () =>
      patch(`${api}/kai-a`, { resources: { gpu: { quota: 5 } } }),
    );
  });

  it("of Volcano are changed, whether their amounts are numbers or texts", async () => {
    const api = "/apis/scheduling.volcano.sh/v1beta1/queues";
    const deserved = { [gpu]: 4 };
    const spec = {
      weight: 1,
      reclaimable: false,
      deserved,
      guarantee: { resource: { [gpu]: "2" } },
      capability: { [gpu]: 8 },
    };
    await cluster.make(api, "Queue", { metadata: { name: "volcano-a" }, spec });
    await cluster.make(api, "Queue", { metadata: { name: "volcano-b" }, spec: { weight: 1, reclaimable: false } });
    const snapshot = await cluster.snapshotWith((one) => index(one, "volcano-a") >= 0 && index(one, "volcano-b") >= 0);
    const [a, b] = [index(snapshot, "volcano-a"), index(snapshot, "volcano-b")];
    const borrowing = snapshot.queueing.queues.map((queue, i) =>
      i === b ? { ...queue, allocated: 8, guaranteed: 0 } : queue,
    );
    const moment = momentOf({ ...snapshot, queueing: { ...snapshot.queueing, queues: borrowing } });
    await cluster.accepted(changeQuota(moment, b, { guaranteed: 2, limit: 4 }));
    await cluster.accepted(fix(snapshot, "volcano-keeps-surplus", "volcano-b"));
    await cluster.accepted(fix(snapshot, "volcano-queue-closed", "volcano-b"));
    await guarded(changeQuota(moment, a, { guaranteed: 1, limit: Number.POSITIVE_INFINITY }), () =>
      patch(`${api}/volcano-a`, { weight: 2 }),
    );
  });

  it("that are namespaces have their ResourceQuota changed", async () => {
    const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
    await cluster.admin.send("POST", path, { metadata: { name: "gpus" }, spec: { hard: { [`requests.${gpu}`]: 8 } } });
    const snapshot = await cluster.snapshotWith(({ queueObjects }) => queueObjects.resourceQuotas.length === 1);
    const [first] = snapshot.queueing.queues;
    if (first === undefined) throw new Error("no queues");
    const queues = [{ ...first, scheduler: "none", kind: "Namespace", name: `team/${namespace}` } as const];
    const moment = momentOf({ ...snapshot, queueing: { ...snapshot.queueing, queues, gangs: [] } });
    await guarded(changeQuota(moment, 0, { limit: 12 }), () =>
      patch(`${path}/gpus`, { hard: { [`requests.${gpu}`]: "9" } }),
    );
  });
});
