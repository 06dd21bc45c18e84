import { type ApiServer, startApiServer } from "../apiServer.ts";
import { type Admin, type AdminObject, createAdmin, until } from "../kubernetesAdmin.ts";
import { createGpuNodes } from "./gpuNodes.ts";
import { type Kueue, startKueue } from "./kueue.ts";
import { conditionsOf, kueueCollections } from "./kueueCluster.ts";
import { type Watcher, watchCluster } from "./lookAt.ts";

const gpu = "nvidia.com/gpu";
const apiVersion = "kueue.x-k8s.io/v1beta2";
const kueueApi = `/apis/${apiVersion}`;
const namespace = "research";

/** Where objects of the one namespace are made. */
export const madeIn = {
  namespace,
  workloads: `${kueueApi}/namespaces/${namespace}/workloads`,
  localQueues: `${kueueApi}/namespaces/${namespace}/localqueues`,
  admissionChecks: `${kueueApi}/admissionchecks`,
} as const;

/** A real Kueue over H100 nodes of one flavor, `h100`, and one namespace in which a test makes queues and work by hand. */
export interface HandMadeKueue {
  readonly server: ApiServer;
  readonly admin: Admin;
  readonly watcher: Watcher;
  /** Makes an object of Kueue's API group. */
  make(path: string, kind: string, name: string, spec: object): Promise<AdminObject>;
  /** A ClusterQueue that is sure of so many GPUs, and a LocalQueue of it, by default of the same name. */
  makeQueue(name: string, gpus: number, more?: object, local?: string): Promise<void>;
  /** A Workload without a job, of one pod. */
  makeWorkload(name: string, queueName: string, gpus: number, more?: object): Promise<AdminObject>;
  conditions(name: string): ReturnType<typeof conditionsOf>;
  isAdmitted(name: string): Promise<boolean>;
  /** Waits until Kueue has admitted it. */
  comes(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** The specification of a ClusterQueue that is sure of so many GPUs. */
export const queueSpec = (gpus: number, more: object = {}): object => ({
  namespaceSelector: {},
  resourceGroups: [
    { coveredResources: [gpu], flavors: [{ name: "h100", resources: [{ name: gpu, nominalQuota: String(gpus) }] }] },
  ],
  ...more,
});

/** The template of a pod that asks for so many GPUs. */
export function podTemplate(gpus: number): object {
  const resources = { requests: { [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } };
  return { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", resources }] } };
}

/** Starts it with so many nodes of 8 GPUs. `settings` are of Kueue's Configuration; `before` is there before anybody watches. */
export async function startHandMadeKueue(
  nodes: number,
  settings: object,
  before: (kueue: Omit<HandMadeKueue, "watcher" | "stop">) => Promise<void> = async () => {},
): Promise<HandMadeKueue> {
  const server = await startApiServer();
  const admin = createAdmin(server);
  let [kueue, watcher]: [Kueue | undefined, Watcher | undefined] = [undefined, undefined];
  const stop = async (): Promise<void> => {
    await watcher?.stop();
    await kueue?.stop();
    await admin.close();
    await server.stop();
  };
  const make: HandMadeKueue["make"] = (path, kind, name, spec) =>
    admin.send("POST", path, { apiVersion, kind, metadata: { name }, spec });
  const conditions: HandMadeKueue["conditions"] = (name) => conditionsOf(admin, name);
  const isAdmitted = async (name: string): Promise<boolean> =>
    (await conditions(name)).Admitted?.startsWith("True") ?? false;
  const made = {
    server,
    admin,
    make,
    conditions,
    isAdmitted,
    makeQueue: async (name: string, gpus: number, more: object = {}, local = name) => {
      await make(kueueCollections.clusterQueues, "ClusterQueue", name, queueSpec(gpus, more));
      await make(madeIn.localQueues, "LocalQueue", local, { clusterQueue: name });
    },
    makeWorkload: (name: string, queueName: string, gpus: number, more: object = {}) =>
      make(madeIn.workloads, "Workload", name, {
        queueName,
        podSets: [{ name: "main", count: 1, template: podTemplate(gpus) }],
        ...more,
      }),
    comes: (name: string) => until(`${name} is admitted`, () => isAdmitted(name)),
  };
  try {
    kueue = await startKueue(server, admin, settings);
    await createGpuNodes(
      admin,
      Array.from({ length: nodes }, (_, i) => ({ name: `node-${i}`, product: "NVIDIA-H100-80GB-HBM3", gpus: 8 })),
    );
    await admin.send("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    await make(`${kueueApi}/resourceflavors`, "ResourceFlavor", "h100", {});
    await before(made);
    watcher = await watchCluster(server);
    return { ...made, watcher, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
