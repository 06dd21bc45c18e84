import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type ApiServer, startApiServer } from "../apiServer.ts";
import { type Admin, createAdmin, until } from "../kubernetesAdmin.ts";
import { createGpuNodes } from "./gpuNodes.ts";
import { type Kai, startKai } from "./kai.ts";
import { type KaiJob, type KaiQueueWanted, nodes, ownerOf, podObject, queueObject } from "./kaiObjects.ts";
import { createPodAnew } from "./kaiPodAnew.ts";
import { livePods } from "./podLifecycle.ts";

/** A cluster with KAI and empty queues. */
export interface KaiCluster {
  readonly server: ApiServer;
  readonly admin: Admin;
  readonly kai: Kai;
  /** Creates a job and its pods, which are made anew when evicted, and waits until so many of them run. */
  runJob(job: KaiJob, running: number): Promise<void>;
  /** How many pods of a job run. */
  running(job: KaiJob): Promise<number>;
  /** Waits until the pods that were evicted are there again: before, the objects may seem to be at rest. */
  allBack(): Promise<void>;
  stop(): Promise<void>;
}

const scheduling = "/apis/scheduling.run.ai";

/** Collections of a cluster with KAI, by the name of the kind. */
export const kaiCollections = {
  queues: `${scheduling}/v2/queues`,
  podGroups: `${scheduling}/v2alpha2/podgroups`,
  bindRequests: `${scheduling}/v1alpha2/bindrequests`,
  schedulingShards: "/apis/kai.scheduler/v1/schedulingshards",
  jobs: "/apis/batch/v1/jobs",
  pyTorchJobs: "/apis/kubeflow.org/v1/pytorchjobs",
  priorityClasses: "/apis/scheduling.k8s.io/v1/priorityclasses",
  nodes: "/api/v1/nodes",
  pods: "/api/v1/pods",
  namespaces: "/api/v1/namespaces",
} as const;

const ROUND_MS = 300;
/** Were an evicted pod back at once, it would take the place that was made for another queue's gang, again and again. */
const ROUNDS_MISSING = 12;

const pod = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  status: z.looseObject({ phase: z.string() }),
});

/** Starts the API server, KAI and 24 GPUs, and creates queues; those with a parent get a namespace `team-QUEUE`. */
export async function startKaiCluster(queues: readonly KaiQueueWanted[]): Promise<KaiCluster> {
  const server = await startApiServer();
  const admin = createAdmin(server);
  const wanted: { readonly job: KaiJob; readonly uid: string }[] = [];
  let kai: Kai | undefined;
  let endPods = async (): Promise<void> => {};
  let ended = false;
  let keeping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    ended = true;
    await keeping;
    await endPods();
    await kai?.stop();
    await admin.close();
    await server.stop();
  };
  const podsOf = async ({ queue }: KaiJob): Promise<ReadonlyMap<string, string>> => {
    const { items } = await admin.send("GET", `/api/v1/namespaces/team-${queue}/pods`);
    return new Map(
      z
        .array(pod)
        .parse(items)
        .map(({ metadata, status }) => [metadata.name, status.phase]),
    );
  };
  const running = async (job: KaiJob): Promise<number> =>
    [...(await podsOf(job))].filter(([name, phase]) => name.startsWith(`${job.name}-`) && phase === "Running").length;
  const keepPods = async (): Promise<void> => {
    const missing = new Map<string, number>();
    while (!ended) {
      for (const { job, uid } of [...wanted]) {
        const there = await podsOf(job);
        for (let index = 0; index < job.pods; index += 1) {
          const name = `${job.name}-${index}`;
          const rounds = there.has(name) ? 0 : (missing.get(name) ?? 0) + 1;
          missing.set(name, rounds);
          if (rounds <= ROUNDS_MISSING) continue;
          await createPodAnew(admin, `team-${job.queue}`, name, podObject(job, index, uid));
        }
      }
      await sleep(ROUND_MS);
    }
  };
  const runJob = async (job: KaiJob, enough: number): Promise<void> => {
    const { path, body } = ownerOf(job);
    const { metadata } = await admin.send("POST", path, body);
    for (let index = 0; index < job.pods; index += 1) {
      await admin.send("POST", `/api/v1/namespaces/team-${job.queue}/pods`, podObject(job, index, metadata.uid));
    }
    wanted.push({ job, uid: metadata.uid });
    await until(`${enough} pods of ${job.name} run`, async () => (await running(job)) === enough).catch(
      async (error) => {
        const there = JSON.stringify([...(await podsOf(job))]);
        throw new Error(`${error}; there are ${there}\n${await kai?.logTail()}`);
      },
    );
  };
  try {
    await createGpuNodes(admin, nodes);
    kai = await startKai(server, admin);
    endPods = livePods(admin);
    await admin.send("POST", kaiCollections.schedulingShards, {
      apiVersion: "kai.scheduler/v1",
      kind: "SchedulingShard",
      metadata: { name: "default" },
      spec: { partitionLabelValue: "" },
    });
    for (const queue of queues) {
      await admin.send("POST", kaiCollections.queues, queueObject(queue));
      if (queue.parent === undefined) continue;
      await admin.send("POST", kaiCollections.namespaces, { metadata: { name: `team-${queue.name}` } });
    }
    keeping = keepPods();
    const allBack = (): Promise<void> =>
      until("all pods that were evicted are there again", async () => {
        const there = await Promise.all(
          wanted.map(async ({ job }) => {
            return [...(await podsOf(job)).keys()].filter((name) => name.startsWith(`${job.name}-`)).length >= job.pods;
          }),
        );
        return !there.includes(false);
      });
    return { server, admin, kai, runJob, running, allBack, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
