import { z } from "zod";
import { type ApiServer, type ApiServerOptions, startApiServer } from "../apiServer.ts";
import { type Admin, createAdmin, until } from "../kubernetesAdmin.ts";
import { comeToRest } from "./comeToRest.ts";
import { createGpuNodes } from "./gpuNodes.ts";
import { startPods, stopPods } from "./jobPods.ts";
import { type Kueue, startKueue } from "./kueue.ts";
import { type ComesTo, jobObject, jobs, nodes, setUp, workloads } from "./kueueObjects.ts";

/** A cluster with Kueue whose objects have come to rest. */
export interface KueueCluster {
  readonly server: ApiServer;
  readonly admin: Admin;
  readonly kueue: Kueue;
  stop(): Promise<void>;
}

const kueueApi = "/apis/kueue.x-k8s.io";

/** Collections of a cluster with Kueue, by the name of the kind. */
export const kueueCollections = {
  clusterQueues: `${kueueApi}/v1beta2/clusterqueues`,
  localQueues: `${kueueApi}/v1beta2/localqueues`,
  cohorts: `${kueueApi}/v1beta2/cohorts`,
  resourceFlavors: `${kueueApi}/v1beta2/resourceflavors`,
  workloads: `${kueueApi}/v1beta2/workloads`,
  workloadPriorityClasses: `${kueueApi}/v1beta2/workloadpriorityclasses`,
  "clusterQueues.v1beta1": `${kueueApi}/v1beta1/clusterqueues`,
  "localQueues.v1beta1": `${kueueApi}/v1beta1/localqueues`,
  "cohorts.v1beta1": `${kueueApi}/v1beta1/cohorts`,
  "workloads.v1beta1": `${kueueApi}/v1beta1/workloads`,
  jobs: "/apis/batch/v1/jobs",
  nodes: "/api/v1/nodes",
  pods: "/api/v1/pods",
  namespaces: "/api/v1/namespaces",
} as const;

const condition = z.looseObject({ type: z.string(), status: z.string(), reason: z.string() });
const workload = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    ownerReferences: z.array(z.looseObject({ name: z.string() })).optional(),
  }),
  status: z.looseObject({ conditions: z.array(condition).optional() }).optional(),
});

/** Conditions of the workload of a job (or of one made without a job), by type: `True: reason` or `False: reason`. */
export async function conditionsOf(admin: Admin, name: string): Promise<Readonly<Record<string, string>>> {
  const { items } = await admin.send("GET", kueueCollections.workloads);
  const found = z
    .array(workload)
    .parse(items)
    .find(({ metadata }) => metadata.name === name || metadata.ownerReferences?.[0]?.name === name);
  return Object.fromEntries((found?.status?.conditions ?? []).map((is) => [is.type, `${is.status}: ${is.reason}`]));
}

/**
 * Starts the API server, Kueue and the scenario of kueueObjects.ts, one job after the other. Admitted jobs get pods, as
 * the job controller, the scheduler and kubelet would make them; an evicted one loses them.
 *
 * Kueue 0.19 distinguishes why a workload waits only behind a feature gate (`tieredReasons`); without it, which is the
 * default, the reason of `QuotaReserved` is always `Pending`.
 */
export async function startKueueCluster(
  options: ApiServerOptions & {
    readonly tieredReasons?: boolean;
    /** Called once the queues are there, before the first job. */
    readonly beforeJobs?: (server: ApiServer) => Promise<void>;
  } = {},
): Promise<KueueCluster> {
  const tiered = options.tieredReasons ?? false;
  const server = await startApiServer(options);
  const admin = createAdmin(server);
  let kueue: Kueue | undefined;
  const stop = async (): Promise<void> => {
    await kueue?.stop();
    await admin.close();
    await server.stop();
  };
  try {
    kueue = await startKueue(server, admin, {
      featureGates: { VisibilityOnDemand: false, UnadmittedWorkloadsObservability: tiered },
      waitForPodsReady: { timeout: "1h", blockAdmission: false },
      admissionFairSharing: {
        usageHalfLifeTime: "1h",
        usageSamplingInterval: "2s",
        resourceWeights: { "nvidia.com/gpu": 1, cpu: 0 },
      },
    });
    await createGpuNodes(admin, nodes);
    for (const { path, body } of setUp) await admin.send("POST", path, body);
    await options.beforeJobs?.(server);
    for (const { path, body, name, comesTo } of workloads) {
      await admin.send("POST", path, body);
      await comes(admin, name, comesTo);
    }
    for (const job of jobs) {
      await admin.send("POST", `/apis/batch/v1/namespaces/${job.namespace}/jobs`, jobObject(job));
      if (job.evicts !== undefined) {
        await comes(admin, job.evicts.name, ["Evicted", "True: Preempted"]);
        await stopPods(admin, job.evicts.namespace, job.evicts.name);
        await comes(admin, job.evicts.name, ["QuotaReserved", reasonIn(tiered, "False: WaitingForQuota")]);
      }
      await comes(admin, job.name, [job.comesTo[0], reasonIn(tiered, job.comesTo[1])]);
      if (job.runsOn.length > 0) await startPods(admin, job.namespace, job.name, job.runsOn);
    }
    await comeToRest(admin, [kueueCollections.clusterQueues, kueueCollections.cohorts, kueueCollections.workloads]);
    return { server, admin, kueue, stop };
  } catch (error) {
    const log = await kueue?.logTail();
    await stop();
    throw new Error(`${error}\n${log ?? ""}`);
  }
}

function reasonIn(tiered: boolean, is: string): string {
  return tiered ? is : is.replace(/^False: .*/, "False: Pending");
}

async function comes(admin: Admin, name: string, [type, is]: ComesTo): Promise<void> {
  let last: Readonly<Record<string, string>> = {};
  const reached = async (): Promise<boolean> => {
    last = await conditionsOf(admin, name);
    return last[type] === is;
  };
  await until(`${name}: ${type} ${is}`, reached).catch((error) => {
    throw new Error(`${error}; it has ${JSON.stringify(last)}`);
  });
}
