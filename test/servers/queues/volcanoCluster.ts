import { z } from "zod";
import { type ApiServer, startApiServer } from "../apiServer.ts";
import { type Admin, createAdmin, until } from "../kubernetesAdmin.ts";
import { createGpuNodes } from "./gpuNodes.ts";
import { livePods } from "./podLifecycle.ts";
import { startVolcano, type Volcano, type VolcanoPlugin } from "./volcano.ts";
import { jobObject, nodes, queueObject, type VolcanoJob } from "./volcanoObjects.ts";

/** A cluster with Volcano and empty queues. */
export interface VolcanoCluster {
  readonly server: ApiServer;
  readonly admin: Admin;
  readonly volcano: Volcano;
  /** Creates a job and waits until so many of its pods run. */
  runJob(job: VolcanoJob, running: number): Promise<void>;
  /** Gives a queue another spec. */
  setQueue(name: string, spec: object): Promise<void>;
  /** Names of the pods of a namespace by phase. */
  podsOf(namespace: string): Promise<ReadonlyMap<string, string>>;
  stop(): Promise<void>;
}

const scheduling = "/apis/scheduling.volcano.sh/v1beta1";

/** Collections of a cluster with Volcano, by the name of the kind. */
export const volcanoCollections = {
  queues: `${scheduling}/queues`,
  podGroups: `${scheduling}/podgroups`,
  jobs: "/apis/batch.volcano.sh/v1alpha1/jobs",
  nodes: "/api/v1/nodes",
  pods: "/api/v1/pods",
  namespaces: "/api/v1/namespaces",
} as const;

const pod = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  status: z.looseObject({ phase: z.string() }),
});

/** Starts the API server, Volcano and 24 GPUs, and creates queues, each with a namespace `team-QUEUE`. */
export async function startVolcanoCluster(
  plugin: VolcanoPlugin,
  queues: Readonly<Record<string, object>>,
): Promise<VolcanoCluster> {
  const server = await startApiServer();
  const admin = createAdmin(server);
  let volcano: Volcano | undefined;
  let endPods = async (): Promise<void> => {};
  const stop = async (): Promise<void> => {
    await endPods();
    await volcano?.stop();
    await admin.close();
    await server.stop();
  };
  const podsOf = async (namespace: string): Promise<ReadonlyMap<string, string>> => {
    const { items } = await admin.send("GET", `/api/v1/namespaces/${namespace}/pods`);
    return new Map(
      z
        .array(pod)
        .parse(items)
        .map(({ metadata, status }) => [metadata.name, status.phase]),
    );
  };
  const runJob = async (job: VolcanoJob, running: number): Promise<void> => {
    const namespace = `team-${job.queue}`;
    await admin.send("POST", `/apis/batch.volcano.sh/v1alpha1/namespaces/${namespace}/jobs`, jobObject(job));
    let last: ReadonlyMap<string, string> = new Map();
    const enough = async (): Promise<boolean> => {
      last = await podsOf(namespace);
      const runs = [...last].filter(([name, phase]) => name.startsWith(`${job.name}-`) && phase === "Running");
      return runs.length === running;
    };
    await until(`${running} pods of ${job.name} run`, enough).catch(async (error) => {
      throw new Error(`${error}; there are ${JSON.stringify([...last])}\n${await volcano?.logTail()}`);
    });
  };
  const setQueue = async (name: string, spec: object): Promise<void> => {
    const path = `${volcanoCollections.queues}/${name}`;
    const { metadata } = await admin.send("GET", path);
    await admin.send("PUT", path, { ...queueObject(name, { parent: "root", ...spec }), metadata });
  };
  try {
    await createGpuNodes(admin, nodes);
    volcano = await startVolcano(server, admin, plugin);
    endPods = livePods(admin);
    for (const [name, spec] of Object.entries(queues)) {
      await admin.send("POST", volcanoCollections.queues, queueObject(name, spec));
      await admin.send("POST", volcanoCollections.namespaces, { metadata: { name: `team-${name}` } });
    }
    return { server, admin, volcano, runJob, setQueue, podsOf, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
