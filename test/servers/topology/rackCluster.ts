import { z } from "zod";
import { once } from "../../../exporter/kernel/once.ts";
import { type ApiServer, startApiServer } from "../apiServer.ts";
import { type Admin, createAdmin, until } from "../kubernetesAdmin.ts";
import { podTemplate } from "../queues/handMadeKueue.ts";
import { run } from "../queues/jobPods.ts";
import { type Kueue, startKueue } from "../queues/kueue.ts";
import {
  api,
  forAll,
  gpusPerNode,
  levels,
  makeNodes,
  makeQueues,
  namespace,
  nodesPerRack,
  queue,
  racks,
  sentinel,
  sentinelGpus,
} from "./rackObjects.ts";
import { type TopologyAssignment, topologyAssignment } from "./topologyAssignment.ts";

/** Pods that start together, all of one size. */
export interface GangShape {
  readonly pods: number;
  readonly gpusPerPod: number;
  /** The level within whose domain they must be, or should be. */
  readonly required?: string;
  readonly preferred?: string;
}

/** A gang that Kueue has admitted: the nodes of its pods, one entry for each pod. */
export interface AdmittedGang {
  readonly name: string;
  readonly nodes: readonly string[];
}

/** What has become of gangs that were submitted together. */
export interface Outcome {
  readonly admitted: readonly AdmittedGang[];
  /** Of those that wait: what Kueue says about one of them. */
  readonly waits: string | null;
}

/** A real Kueue with TopologyAwareScheduling over 33 racks of 18 nodes of 4 GPUs. */
export interface RackCluster {
  readonly server: ApiServer;
  readonly admin: Admin;
  readonly kueue: Kueue;
  /** Makes exactly these single-GPU pods run, by their nodes, and waits until Kueue has seen it. */
  scatter(nodes: readonly string[]): Promise<void>;
  /** Makes gangs of one shape wait in the queue and resolves when each is either admitted or found not to fit. */
  submit(shape: GangShape, gangs: number): Promise<Outcome>;
  /** What has become of what was submitted. */
  outcome(): Promise<Outcome>;
  /** Removes all gangs. */
  withdraw(): Promise<void>;
  /** Names of the single-GPU pods that run. */
  podNames(): readonly string[];
  /** Moves a single-GPU pod to another node: it is removed, as by an eviction, and one like it runs there. */
  movePod(name: string, node: string): Promise<void>;
  stop(): Promise<void>;
}

const pods = `/api/v1/namespaces/${namespace}/pods`;
const workloads = `/apis/${api}/namespaces/${namespace}/workloads`;
const replicaSets = `/apis/apps/v1/namespaces/${namespace}/replicasets`;
const gpu = "nvidia.com/gpu";

const replicaSet = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name: "notebooks" },
  spec: {
    selector: { matchLabels: { app: "notebooks" } },
    template: { metadata: { labels: { app: "notebooks" } }, spec: { containers: [{ name: "main", image: "none" }] } },
  },
};

const workload = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ queueName: z.string() }),
  status: z
    .looseObject({
      conditions: z.array(z.looseObject({ type: z.string(), status: z.string(), message: z.string() })).default([]),
      admission: z
        .looseObject({
          podSetAssignments: z.array(z.looseObject({ topologyAssignment: topologyAssignment.optional() })),
        })
        .optional(),
    })
    .default({ conditions: [] }),
});
type Workload = z.output<typeof workload>;

const conditionOf = (of: Workload, type: string) => of.status.conditions.find((one) => one.type === type);
const isAdmitted = (one: Workload): boolean => conditionOf(one, "Admitted")?.status === "True";
const isRefused = (one: Workload): boolean => conditionOf(one, "QuotaReserved")?.status === "False";

/** Starts the API server, Kueue, the nodes and one queue whose quota is beyond what the nodes have. */
export async function startRackCluster(): Promise<RackCluster> {
  const server = await startApiServer();
  const admin = createAdmin(server);
  let kueue: Kueue | undefined;
  const stop = async (): Promise<void> => {
    await kueue?.stop();
    await admin.close();
    await server.stop();
  };
  try {
    await makeNodes(admin);
    kueue = await startKueue(server, admin, { featureGates: { VisibilityOnDemand: false } });
    await makeQueues(admin);
  } catch (error) {
    const log = await kueue?.logTail();
    await stop();
    throw new Error(`${error}\n${log ?? ""}`);
  }
  const steps = createSteps(admin, kueue);
  try {
    await comesToKnow(steps);
  } catch (error) {
    const log = await kueue.logTail();
    await stop();
    throw new Error(`${error}\n${log}`);
  }
  return { server, admin, kueue, ...steps, stop };
}

/** Waits until Kueue has read all nodes: a gang that takes all of them fits. */
async function comesToKnow({ submit, outcome, withdraw }: Steps): Promise<void> {
  await submit({ pods: racks * nodesPerRack, gpusPerPod: gpusPerNode, preferred: levels.rack }, 1);
  await until("Kueue knows all nodes", async () => (await outcome()).admitted.length === 1);
  await withdraw();
}

type Steps = Omit<RackCluster, "server" | "admin" | "kueue" | "stop">;

function createSteps(admin: Admin, kueue: Kueue): Steps {
  /** Names of the running single-GPU pods, by their nodes. */
  let running = new Map<string, string[]>();
  let [made, seen] = [0, 0];

  const list = async (): Promise<readonly Workload[]> =>
    z.array(workload).parse((await admin.send("GET", workloads)).items);
  const ofQueue = async (): Promise<readonly Workload[]> =>
    (await list()).filter(({ spec }) => spec.queueName === queue);

  const makeWorkload = (name: string, queueName: string, { pods: count, gpusPerPod, required, preferred }: GangShape) =>
    admin.send("POST", workloads, {
      apiVersion: api,
      kind: "Workload",
      metadata: { name },
      spec: {
        queueName,
        podSets: [{ name: "main", count, template: podTemplate(gpusPerPod), topologyRequest: { required, preferred } }],
      },
    });

  /** The ReplicaSet of all single-GPU pods: it would make them again. No controller acts on it. */
  const ownerOf = once(async () => {
    const { metadata } = await admin.send("POST", replicaSets, replicaSet);
    return { apiVersion: "apps/v1", kind: "ReplicaSet", name: metadata.name, uid: metadata.uid, controller: true };
  });

  const startPod = async (node: string, gpus: number): Promise<string> => {
    made += 1;
    const name = `pod-${made}`;
    const resources = { requests: { [gpu]: String(gpus) }, limits: { [gpu]: String(gpus) } };
    const pod = await admin.send("POST", pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, ownerReferences: [await ownerOf()] },
      spec: { nodeName: node, containers: [{ name: "main", image: "none", resources }] },
    });
    await run(admin, `${pods}/${name}`, pod);
    return name;
  };

  const remove = (path: string) => admin.send("DELETE", `${path}?gracePeriodSeconds=0`);

  /**
   * Kueue works off what happens to pods in its order. So it has seen all of it when it no longer admits what the last
   * pod, on a node of its own, leaves no room for.
   */
  const isSeen = async (): Promise<void> => {
    seen += 1;
    await startPod(sentinel, 1);
    const asks = { pods: 1, gpusPerPod: sentinelGpus - seen + 1, required: levels.node };
    await until("Kueue has seen the pods", async () => {
      await makeWorkload(sentinel, sentinel, asks);
      let found: Workload | undefined;
      await until("Kueue has decided on the sentinel", async () => {
        found = (await list()).find(({ metadata }) => metadata.name === sentinel);
        return found !== undefined && (isAdmitted(found) || isRefused(found));
      });
      await remove(`${workloads}/${sentinel}`);
      return found !== undefined && isRefused(found);
    });
  };

  const outcome = async (): Promise<Outcome> => {
    const all = await ofQueue();
    const waits = all.find((one) => !isAdmitted(one) && isRefused(one));
    return {
      admitted: all.filter(isAdmitted).map((one) => ({
        name: one.metadata.name,
        nodes: (one.status.admission?.podSetAssignments ?? []).flatMap(({ topologyAssignment: of }) => nodesOf(of)),
      })),
      waits: waits === undefined ? null : (conditionOf(waits, "QuotaReserved")?.message ?? null),
    };
  };

  return {
    outcome,
    scatter: async (nodes) => {
      const before = running;
      running = new Map();
      const starting: string[] = [];
      for (const node of nodes) {
        const left = before.get(node)?.pop();
        if (left === undefined) starting.push(node);
        else running.set(node, [...(running.get(node) ?? []), left]);
      }
      await forAll([...before.values()].flat(), (name) => remove(`${pods}/${name}`));
      await forAll(starting, async (node) => {
        const name = await startPod(node, 1);
        running.set(node, [...(running.get(node) ?? []), name]);
      });
      await isSeen();
    },
    submit: async (shape, gangs) => {
      await forAll([...Array(gangs).keys()], (gang) => makeWorkload(`gang-${gang}`, queue, shape));
      await until("Kueue has decided on each gang", async () => {
        const page = await kueue.metricsPage();
        const pending = (status: string): number =>
          Number(
            new RegExp(`^kueue_pending_workloads\\{cluster_queue="${queue}",.*status="${status}"\\} (\\d+)$`, "m").exec(
              page,
            )?.[1],
          );
        if (pending("active") !== 0) return false;
        const all = await ofQueue();
        // Kueue counts a gang that does not fit a moment before it says so.
        const isSaid = pending("inadmissible") === 0 || all.some((one) => !isAdmitted(one) && isRefused(one));
        return isSaid && all.filter(isAdmitted).length + pending("inadmissible") === gangs;
      });
      return await outcome();
    },
    withdraw: async () => {
      await admin.send("DELETE", workloads);
      await until("the gangs are gone", async () => (await list()).length === 0);
    },
    podNames: () => [...running.values()].flat(),
    movePod: async (name, node) => {
      await remove(`${pods}/${name}`);
      running = new Map([...running].map(([at, names]) => [at, names.filter((one) => one !== name)]));
      running.set(node, [...(running.get(node) ?? []), await startPod(node, 1)]);
    },
  };
}

function nodesOf(assignment: TopologyAssignment | undefined): readonly string[] {
  return (assignment ?? []).flatMap(({ values, pods: count }) => Array<string>(count).fill(values.at(-1) ?? ""));
}
