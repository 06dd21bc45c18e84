import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findLocalQueues } from "../../exporter/analysis/localQueues/findLocalQueues.ts";
import { type Admin, until } from "./kubernetesAdmin.ts";
import { freePort } from "./program.ts";
import { type HandMadeKueue, madeIn, startHandMadeKueue } from "./queues/handMadeKueue.ts";

const group = "visibility.kueue.x-k8s.io";
/** As Kueue's manifests do, with a Service that is a name for the loopback address; whoever asks through the API server may read it. */
async function serveVisibility(admin: Admin, port: number): Promise<void> {
  const service = { namespace: "kueue-system", name: "visibility-server" };
  await admin.send("POST", `/api/v1/namespaces/${service.namespace}/services`, {
    metadata: { name: service.name },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  await admin.send("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
    metadata: { name: `v1beta2.${group}` },
    spec: {
      group,
      version: "v1beta2",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
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

let cluster: HandMadeKueue;

beforeAll(async () => {
  const bindPort = await freePort();
  const settings = {
    featureGates: { VisibilityOnDemand: true },
    visibilityServer: { bindAddress: "127.0.0.1", bindPort },
    admissionFairSharing: { usageHalfLifeTime: "1h", usageSamplingInterval: "1s" },
  };
  cluster = await startHandMadeKueue(1, settings, async ({ admin, make, makeQueue, makeWorkload, comes }) => {
    const byUsage = { admissionScope: { admissionMode: "UsageBasedAdmissionFairSharing" } };
    for (const [queue, more] of [["one-line", {}] as const, ["by-usage", byUsage] as const]) {
      await makeQueue(queue, 4, more, `${queue}-a`);
      await make(madeIn.localQueues, "LocalQueue", `${queue}-b`, { clusterQueue: queue });
      await makeWorkload(`${queue}-runs`, `${queue}-a`, 4);
      await comes(`${queue}-runs`);
      await makeWorkload(`${queue}-a-first`, `${queue}-a`, 4);
      // The API server's times are whole seconds: of work of the same second neither came first.
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await makeWorkload(`${queue}-a-urgent`, `${queue}-a`, 4, { priority: 50 });
      await makeWorkload(`${queue}-b-last`, `${queue}-b`, 4);
    }
    await serveVisibility(admin, bindPort);
  });
}, 900_000);

afterAll(async () => await cluster?.stop());

describe("Kueue 0.19 with its visibility API", () => {
  const linesOf = () => {
    const { snapshot, fairness } = cluster.watcher.look();
    const reported = findLocalQueues(snapshot, fairness);
    const computed = findLocalQueues({ ...snapshot, kueuePendingWorkloads: new Map() }, fairness);
    const names = (lines: ReadonlyMap<string, readonly number[] | null>, queue: string) =>
      lines.get(queue)?.map((index) => snapshot.queueing.gangs[index]?.name) ?? null;
    return { reported, names: (queue: string) => [names(reported.lines, queue), names(computed.lines, queue)] };
  };

  it("gives the order that our own rule computes where priority and age decide", async () => {
    await until("Kueue was asked", () => linesOf().reported.reportedByKueue.has("one-line"));
    const line = ["one-line-a-urgent", "one-line-a-first", "one-line-b-last"];
    expect(linesOf().names("one-line")).toEqual([line, line]);
  });

  it("gives the order where usage decides, which no object says without Kueue's Configuration", async () => {
    await until("Kueue was asked", () => linesOf().reported.reportedByKueue.has("by-usage"));
    const line = ["by-usage-b-last", "by-usage-a-urgent", "by-usage-a-first"];
    expect(linesOf().names("by-usage")).toEqual([line, null]);
  });
});
