import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import type { Recommendation } from "../../exporter/model/recommendation.ts";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { createKubernetesSource, type KubernetesSource } from "../../exporter/sources/kubernetes/kubernetesSource.ts";
import type { KubernetesState } from "../../exporter/sources/kubernetes/state.ts";
import { leadsToWorse, plansOf, type ReadParts, readObjects } from "../advice/placement/adviseObjects.ts";
import { carryOutSteps, type Hands } from "../advice/placement/carryOutSteps.ts";
import {
  clusterLabel,
  type DrawnCluster,
  drawCluster,
  type NodeObject,
  type PodObject,
  volumeBodies,
} from "../advice/placement/drawnCluster.ts";
import { type ApiServer, startApiServer } from "./apiServer.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { type RealScheduler, startScheduler } from "./realScheduler.ts";

const wantedPlans = 200;
const firstSeed = 7000;
const mostClusters = 1500;

/** Many small clusters of one API server: their namespaces, node labels and zones are their own. */
const drawn: readonly DrawnCluster[] = clustersWithPlans();

/** Clusters for which something is advised, as read from their objects. */
function clustersWithPlans(): readonly DrawnCluster[] {
  const found: DrawnCluster[] = [];
  for (let seed = firstSeed; seed < firstSeed + mostClusters && found.length < wantedPlans + 10; seed++) {
    const one = drawCluster(seed, `c${seed}`);
    if (plansOf(readObjects(one)).length > 0) found.push(one);
  }
  return found;
}

let server: ApiServer;
let admin: Admin;
let source: KubernetesSource;
let scheduler: RealScheduler | undefined;

beforeAll(async () => {
  server = await startApiServer({
    apiServerFlags: ["--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000"],
  });
  admin = createAdmin(server);
  await inParallel(drawn, createObjects);
  const access = async () => ({ headers: { authorization: `Bearer ${server.adminToken}` }, tls: { ca: server.ca } });
  const client = createApiClient({ server: server.url, proxyUrl: null, access }, systemClock);
  source = createKubernetesSource({ client, exporters: [], gpuResources: [], maxAgeSeconds: 90 });
  await source.start();
  const pods = drawn.reduce((sum, one) => sum + one.pods.length, 0);
  await until("all pods are read", () => source.read().podCount === pods);
  await until("volumes are read", () => source.read().known.has("persistentVolumes"));
}, 300_000);

afterAll(async () => {
  await scheduler?.stop();
  await source?.stop();
  await admin?.close();
  await server?.stop();
});

const atOnce = 32;

async function inParallel<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function createObjects({ name, nodes, pods, volumes }: DrawnCluster): Promise<void> {
  await admin.send("POST", "/api/v1/namespaces", { metadata: { name } });
  for (const node of nodes) await createNode(node);
  for (const bodies of volumes.map(volumeBodies)) {
    await admin.send("POST", "/api/v1/persistentvolumes", bodies.volume);
    await admin.send("POST", `/api/v1/namespaces/${name}/persistentvolumeclaims`, bodies.claim);
  }
  for (const pod of pods) await admin.send("POST", `/api/v1/namespaces/${name}/pods`, pod);
}

const withSpec = z.looseObject({ spec: z.looseObject({}) });

/** The API server taints a new node as not ready, which a controller would undo: done here. */
async function createNode(node: NodeObject): Promise<void> {
  const made = withSpec.parse(await admin.send("POST", "/api/v1/nodes", node));
  await admin.send("PUT", `/api/v1/nodes/${node.metadata.name}`, {
    ...made,
    spec: { ...made.spec, taints: node.spec.taints },
  });
}

/** The part of what was read that is one cluster's. */
function partOf(read: KubernetesState, { name }: DrawnCluster): ReadParts {
  const nodes = read.nodes.filter(({ labels }) => labels[clusterLabel] === name);
  return {
    nodes,
    pods: read.pods.filter(({ namespace }) => namespace === name),
    persistentVolumeClaims: read.persistentVolumeClaims.filter(({ namespace }) => namespace === name),
    persistentVolumes: read.persistentVolumes.filter((volume) => volume.name.startsWith(`${name}-`)),
    requestsByNode: read.requestsByNode,
    neighbors: (read.neighbors ?? []).filter(({ namespace }) => namespace === name),
  };
}

const placed = z.looseObject({
  spec: z.looseObject({ nodeName: z.string().optional() }),
  status: z.looseObject({ conditions: z.array(z.looseObject({ message: z.string().optional() })).optional() }),
});

/** Where the real scheduler has put a pod, or why it has not in time. */
async function placeOf(
  namespace: string,
  pod: string,
  seconds: number,
): Promise<{ readonly node: string | null; readonly why: string }> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const { spec, status } = placed.parse(await admin.send("GET", `/api/v1/namespaces/${namespace}/pods/${pod}`));
    if (spec.nodeName !== undefined) return { node: spec.nodeName, why: "" };
    const why = status.conditions?.map(({ message }) => message).join("; ") ?? "";
    if (performance.now() > deadline) return { node: null, why };
    await sleep(100);
  }
}

const patienceSeconds = 30;

/** Carries a plan out on the real servers, as a controller would: for each pod that leaves there is a new one that waits. */
function handsOf({ pods }: DrawnCluster, replaced: Map<string, string>, broken: string[]): Hands {
  return {
    setUnschedulable: async (name, unschedulable) => {
      const path = `/api/v1/nodes/${name}`;
      const { spec, ...rest } = withSpec.parse(await admin.send("GET", path));
      await admin.send("PUT", path, { ...rest, spec: { ...spec, unschedulable } });
    },
    replace: async (namespace, name) => {
      const path = `/api/v1/namespaces/${namespace}/pods`;
      const pod = pods.find(({ metadata }) => metadata.name === name);
      if (pod === undefined) throw new Error(`no pod ${name}`);
      await admin.send("DELETE", `${path}/${name}?gracePeriodSeconds=0`);
      const { nodeName: _, ...spec } = pod.spec;
      const again = `${name}-again`;
      replaced.set(name, again);
      await admin.send("POST", path, { ...pod, metadata: { ...pod.metadata, name: again }, spec });
      const { node, why } = await placeOf(namespace, again, patienceSeconds);
      if (node === null) broken.push(`${name} has no place: ${why}`);
      return node;
    },
  };
}

/** What of a plan did not come true; empty: all did. */
async function brokenPromises(one: DrawnCluster, plan: Recommendation): Promise<readonly string[]> {
  const from = new Map(one.pods.map(({ metadata, spec }) => [metadata.name, spec.nodeName ?? ""] as const));
  const broken: string[] = [];
  const replaced = new Map<string, string>();
  for (const { pod, to } of await carryOutSteps(plan, handsOf(one, replaced, broken)))
    if (to !== null && leadsToWorse(one, from.get(pod) ?? "", to)) broken.push(`${pod} is worse off on ${to}`);
  if (plan.beneficiary.kind === "workload") {
    const { node, why } = await placeOf(one.name, plan.beneficiary.name.split("/")[1] ?? "", patienceSeconds);
    if (node === null) broken.push(`${plan.beneficiary.name} waits on: ${why}`);
  } else {
    const [freed = ""] = / then (\S+) \(/.exec(plan.title)?.slice(1) ?? [];
    for (const { metadata } of one.pods.filter(hasGpus)) {
      const { node } = await placeOf(one.name, replaced.get(metadata.name) ?? metadata.name, 0);
      if (node === freed) broken.push(`${metadata.name} is on ${freed}`);
    }
  }
  return broken.map((what) => `${plan.title}: ${what}`);
}

const hasGpus = ({ spec }: PodObject): boolean => spec.containers[0]?.resources.limits["nvidia.com/gpu"] !== undefined;

it(`a real kube-scheduler places every pod of ${wantedPlans} plans, and each gains what it promised`, async () => {
  const read = source.read();
  const plans = drawn.flatMap((one) =>
    plansOf(partOf(read, one), Date.now() / 1000)
      .slice(0, 1)
      .map((plan) => ({ one, plan })),
  );
  expect(plans.length).toBeGreaterThanOrEqual(wantedPlans);
  // Only now: before, it would have placed what needs no plan.
  scheduler = await startScheduler(server);
  const broken: string[] = [];
  await inParallel(plans, async ({ one, plan }) => {
    broken.push(...(await brokenPromises(one, plan)));
  });
  expect(broken).toEqual([]);
});
