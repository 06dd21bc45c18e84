import { z } from "zod";
import { type Admin, until } from "../kubernetesAdmin.ts";
import { createGpuNodes, type GpuNode } from "./gpuNodes.ts";
import { kueueCollections } from "./kueueCluster.ts";
import { rewrite } from "./rewrite.ts";

/** A ClusterQueue of the one cohort; its work comes from LocalQueue `main` of the namespace of its name. */
export interface ScenarioQueue {
  /** Nominal GPUs by flavor, in the order in which the queue tries them. */
  readonly quotas: Readonly<Record<string, number>>;
  /** `preemption.reclaimWithinCohort`; default: Never, as in Kueue. */
  readonly reclaim?: "Never" | "LowerPriority" | "Any";
  /** AdmissionChecks that its work must pass. */
  readonly checks?: readonly string[];
}

/** A small cluster, before any work is in it. */
export interface Scenario {
  readonly nodes: readonly GpuNode[];
  /** Node labels by flavor. */
  readonly flavors: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly queues: Readonly<Record<string, ScenarioQueue>>;
  /** AdmissionChecks that are in force, although no controller works on them. */
  readonly checks?: readonly string[];
}

/** A Job whose pods are alike. */
export interface ScenarioJob {
  readonly name: string;
  readonly pods: number;
  readonly gpus: number;
  readonly priorityClass?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const gpu = "nvidia.com/gpu";
const apiVersion = "kueue.x-k8s.io/v1beta2";
const cohortName = "all";
const admissionChecks = `/apis/${apiVersion}/admissionchecks`;

/** Labels of the namespaces from which the queues take work. */
export const admits = { "scenario/admits": "yes" };

const named = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    ownerReferences: z.array(z.looseObject({ name: z.string() })).default([]),
  }),
});
const labelled = z.looseObject({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()).default({}) }) });

/** Creates a cluster-wide or namespaced object of Kueue. */
export const make = (admin: Admin, path: string, kind: string, name: string, body: object) =>
  admin.send("POST", path, { apiVersion, kind, metadata: { name }, ...body });

/** Makes what a scenario begins with. */
export async function build(admin: Admin, { nodes, flavors, queues, checks = [] }: Scenario): Promise<void> {
  await createGpuNodes(admin, nodes);
  for (const [name, nodeLabels] of Object.entries(flavors))
    await make(admin, kueueCollections.resourceFlavors, "ResourceFlavor", name, { spec: { nodeLabels } });
  for (const name of checks) await createCheck(admin, name);
  const namespaces = await admin.names("/api/v1/namespaces");
  for (const [name, queue] of Object.entries(queues)) {
    if (!namespaces.includes(name)) await admin.send("POST", "/api/v1/namespaces", { metadata: { name } });
    await relabel(admin, name, admits);
    await make(admin, kueueCollections.clusterQueues, "ClusterQueue", name, { spec: queueSpec(queue) });
    const localQueues = `/apis/${apiVersion}/namespaces/${name}/localqueues`;
    await make(admin, localQueues, "LocalQueue", "main", { spec: { clusterQueue: name } });
  }
}

const queueSpec = ({ quotas, reclaim = "Never", checks = [] }: ScenarioQueue): object => ({
  cohortName,
  namespaceSelector: { matchLabels: admits },
  preemption: { reclaimWithinCohort: reclaim },
  ...(checks.length === 0 ? {} : { admissionChecksStrategy: { admissionChecks: checks.map((name) => ({ name })) } }),
  resourceGroups: [
    {
      coveredResources: [gpu],
      flavors: Object.entries(quotas).map(([name, gpus]) => ({
        name,
        resources: [{ name: gpu, nominalQuota: String(gpus) }],
      })),
    },
  ],
});

/** Its controller would say that it is in force, and then answer for each Workload. */
async function createCheck(admin: Admin, name: string): Promise<void> {
  await make(admin, admissionChecks, "AdmissionCheck", name, {
    spec: { controllerName: "example.com/no" },
  });
  const active = { type: "Active", status: "True", reason: "Active", message: "" };
  const conditions = [{ ...active, lastTransitionTime: new Date().toISOString() }];
  const path = `${admissionChecks}/${name}`;
  await rewrite(admin, path, z.looseObject({}), (object) => ({ ...object, status: { conditions } }), "/status");
}

/** Gives a namespace these labels, of those that decide from where queues take work. */
export async function relabel(
  admin: Admin,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}`;
  const { metadata, ...rest } = labelled.parse(await admin.send("GET", path));
  const kept = Object.entries(metadata.labels).filter(([name]) => !(name in admits));
  await admin.send("PUT", path, {
    ...rest,
    metadata: { ...metadata, labels: { ...Object.fromEntries(kept), ...labels } },
  });
}

/** What a scenario is made of, in the order in which it can be cleared away. */
const scenarioCollections = [
  [kueueCollections.jobs],
  [kueueCollections.pods, kueueCollections.workloads],
  [kueueCollections.localQueues, kueueCollections.clusterQueues],
  [admissionChecks, kueueCollections.resourceFlavors, kueueCollections.nodes],
];

/** Waits until the API server, whose definitions of Kueue's kinds are new, answers for all of them. */
export async function areServed(admin: Admin): Promise<void> {
  for (const collection of scenarioCollections.flat())
    await until(`${collection} is served`, () =>
      admin.names(collection).then(
        () => true,
        () => false,
      ),
    );
}

/** Clears everything away. What holds others back from being gone comes first: Kueue lets go of a queue when it has no work any more. */
export async function clear(admin: Admin): Promise<void> {
  for (const together of scenarioCollections) {
    for (const collection of together) await removeAll(admin, collection);
    for (const collection of together)
      await until(`${collection} is empty`, async () => (await admin.names(collection)).length === 0);
  }
}

/** Deletes the objects of a collection, or those with such owners, which the garbage collector would find. */
export async function removeAll(
  admin: Admin,
  collection: string,
  isMeant: (owners: readonly string[]) => boolean = () => true,
): Promise<void> {
  const { items = [] } = await admin.send("GET", collection);
  const [plural = ""] = collection.split("/").slice(-1);
  const root = collection.slice(0, -plural.length);
  for (const { metadata } of z.array(named).parse(items)) {
    if (!isMeant(metadata.ownerReferences.map(({ name }) => name))) continue;
    const within = metadata.namespace === undefined ? root : `${root}namespaces/${metadata.namespace}/`;
    const path = `${within}${plural}/${metadata.name}?gracePeriodSeconds=0&propagationPolicy=Background`;
    await admin.send("DELETE", path).catch((error) => {
      if (!String(error).includes("answered 404")) throw error; // Kueue was faster
    });
  }
}

/** The suspended Job of `main`. */
export function jobObject({ name, pods, gpus, priorityClass, annotations = {} }: ScenarioJob): object {
  const resources = { requests: { [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } };
  const queue = { "kueue.x-k8s.io/queue-name": "main" };
  const priority = priorityClass === undefined ? {} : { "kueue.x-k8s.io/priority-class": priorityClass };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, labels: { ...queue, ...priority }, annotations },
    spec: {
      suspend: true,
      parallelism: pods,
      completions: pods,
      completionMode: "Indexed",
      template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", resources }] } },
    },
  };
}
