import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { causesOf } from "./causesOf.ts";
import { until } from "./kubernetesAdmin.ts";
import { type HandMadeKueue, madeIn, podTemplate, queueSpec, startHandMadeKueue } from "./queues/handMadeKueue.ts";
import { kueueCollections } from "./queues/kueueCluster.ts";
import type { Look } from "./queues/lookAt.ts";
import { rewrite } from "./queues/rewrite.ts";

const gpu = "nvidia.com/gpu";
const { namespace, workloads } = madeIn;
const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;

let cluster: HandMadeKueue;

const makeJob = (
  name: string,
  queue: string,
  pods: number,
  annotations: Readonly<Record<string, string>>,
  suspend: boolean,
) =>
  cluster.admin.send("POST", jobs, {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, labels: { "kueue.x-k8s.io/queue-name": queue }, annotations },
    spec: { suspend, parallelism: pods, completions: 100, template: podTemplate(1) },
  });

const stored = z.looseObject({
  metadata: z.looseObject({}),
  spec: z.looseObject({}),
  status: z.looseObject({}).default({}),
});

const change = (path: string, spec: object) =>
  rewrite(cluster.admin, path, stored, (object) => ({ ...object, spec: { ...object.spec, ...spec } }));

const conditionIs = (name: string, type: string, is: RegExp) =>
  until(`${name} has ${type} ${is.source}`, async () => is.test((await cluster.conditions(name))[type] ?? ""));

/** What waits in a queue, once it is so. */
async function waits(queue: string, isSo: (gangs: Look["snapshot"]["queueing"]["gangs"]) => boolean) {
  const gangsOf = () => cluster.watcher.look().snapshot.queueing.gangs.filter((gang) => gang.queue === queue);
  await until(`what waits in ${queue} is seen`, () => isSo(gangsOf()));
  return gangsOf();
}

beforeAll(async () => {
  cluster = await startHandMadeKueue(1, { featureGates: { VisibilityOnDemand: false } });
}, 900_000);

afterAll(async () => await cluster?.stop());

describe("Kueue 0.19", () => {
  it("keeps what it has given quota until an admission check passes, and so long that is why it waits", async () => {
    const check = madeIn.admissionChecks;
    await cluster.make(check, "AdmissionCheck", "nodes-to-come", {
      controllerName: "kueue.x-k8s.io/provisioning-request",
    });
    const active = {
      type: "Active",
      status: "True",
      reason: "Active",
      message: "",
      lastTransitionTime: new Date().toISOString(),
    };
    const withStatus = (made: object) => ({ ...made, status: { conditions: [active] } });
    await rewrite(cluster.admin, `${check}/nodes-to-come`, stored, withStatus, "/status");
    const admissionChecksStrategy = { admissionChecks: [{ name: "nodes-to-come" }] };
    await cluster.makeQueue("checked", 8, { admissionChecksStrategy });
    await cluster.makeWorkload("checked", "checked", 8);
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
    expect(causesOf(cluster.watcher.look().snapshot, "checked")).toEqual(["admission_check"]);
    expect(await cluster.conditions("checked")).not.toHaveProperty("Admitted", expect.stringContaining("True"));

    const state = { name: "nodes-to-come", state: "Ready", message: "", lastTransitionTime: new Date().toISOString() };
    const withCheck = (workload: z.output<typeof stored>) => ({
      ...workload,
      status: { ...workload.status, admissionChecks: [state] },
    });
    await rewrite(cluster.admin, `${workloads}/checked`, stored, withCheck, "/status");
    await conditionIs("checked", "Admitted", /^True/);
    await waits("checked", ([one]) => one?.checks === undefined);
  });

  it("reserves for an elastic job that scales from 4 to 6 only the 2 that it grows by", async () => {
    const annotations = { "kueue.x-k8s.io/elastic-job": "true" };
    await cluster.makeQueue("elastic", 5);
    await makeJob("grows", "elastic", 4, annotations, false);
    await waits("elastic", (gangs) => gangs.some(({ reservedAt }) => reservedAt !== null));
    await change(`${jobs}/grows`, { parallelism: 6 });
    const isGrowth = ({ growth }: { readonly growth?: object }) => growth !== undefined;
    const gangs = await waits("elastic", (found) => found.some(isGrowth));
    expect(gangs.filter(isGrowth)).toMatchObject([
      { kind: "Job", name: "grows", gpus: 2, pods: 2, reservedAt: null, growth: { from: 4, to: 6 } },
    ]);
    expect(cluster.watcher.look().gpusOf("elastic")).toMatchObject({ reserved: 4, pending: 6 });

    // One GPU more is what 6 takes, where 4 + 6 would take 10.
    await change(`${kueueCollections.clusterQueues}/elastic`, queueSpec(6));
    const grown = await waits(
      "elastic",
      (found) => found.length === 1 && found.every((gang) => gang.reservedAt !== null),
    );
    expect(grown).toMatchObject([{ gpus: 6 }]);
    await until("the quota is that of 6 pods", () => cluster.watcher.look().gpusOf("elastic").reserved === 6);
  });

  it("admits a job with the fewest pods that will do, which is what it asks for until then", async () => {
    await cluster.makeQueue("partial", 2);
    await makeJob("partial", "partial", 6, { "kueue.x-k8s.io/job-min-parallelism": "3" }, true);
    const [waiting] = await waits("partial", ([one]) => one !== undefined);
    expect(waiting).toMatchObject({ gpus: 3, pods: 3, most: { pods: 6, gpus: 6 }, never: "above-limit" });
    await change(`${kueueCollections.clusterQueues}/partial`, queueSpec(3));
    const [admitted] = await waits("partial", ([one]) => one !== undefined && one.reservedAt !== null);
    expect(admitted).toMatchObject({ gpus: 3, pods: 3, never: null });
    expect(admitted).not.toHaveProperty("most");
  });

  it("finds work inadmissible that a LimitRange refuses, and Fairlead says so, with the name", async () => {
    await cluster.makeQueue("limited", 8);
    await cluster.admin.send("POST", `/api/v1/namespaces/${namespace}/limitranges`, {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: "small-pods" },
      spec: { limits: [{ type: "Pod", max: { [gpu]: "4" } }] },
    });
    await cluster.makeWorkload("small", "limited", 4);
    await conditionIs("small", "Admitted", /^True/);
    await cluster.makeWorkload("large", "limited", 8);
    await conditionIs("large", "QuotaReserved", /^False/);
    const found = await waits("limited", (gangs) => gangs.some(({ never }) => never === "limit-range"));
    expect(found.find(({ name }) => name === "large")?.reason).toMatch(
      /^LimitRange small-pods allows a pod at most 4 nvidia\.com\/gpu, and it asks for 8; .*LimitRange/,
    );
    expect(found.find(({ name }) => name === "small")).toMatchObject({ never: null });
  });
});
