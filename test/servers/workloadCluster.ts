import { z } from "zod";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { Memory } from "../../exporter/join/memory.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { createKubernetesSource } from "../../exporter/sources/kubernetes/kubernetesSource.ts";
import { analysed, defaultSettings, joined } from "../join/outcomes.ts";
import { startApiServer } from "./apiServer.ts";
import { startControllerManager } from "./controllerManager.ts";
import { type Admin, createAdmin, until } from "./kubernetesAdmin.ts";
import { createGpuNodes } from "./queues/gpuNodes.ts";
import { runContainer } from "./queues/jobPods.ts";
import { livePods } from "./queues/podLifecycle.ts";
import { rewrite } from "./queues/rewrite.ts";
import { startScheduler } from "./realScheduler.ts";
import { startWorkloadController, workloadKinds } from "./workloadControllers.ts";

/** A cluster of one node of 4 GPUs, with the controllers of LeaderWorkerSets and JobSets and all that these need. */
export interface WorkloadCluster {
  readonly admin: Admin;
  /** The pods with GPUs that are read, but for the one that `occupy` makes. */
  read(): readonly Pod[];
  /** One cycle now. */
  cycle(): Analysis;
  /** Lets another pod have one GPU, unless one has it; `leave` removes it. */
  occupy(): Promise<void>;
  leave(): Promise<void>;
  /** Whether the node takes no more pods. */
  cordon(isClosed: boolean): Promise<void>;
  stop(): Promise<void>;
}

const controllers = ["job-controller", "statefulset-controller", "garbage-collector-controller"];
const pods = "/api/v1/namespaces/default/pods";
const other = "other";
const aNode = z.looseObject({ spec: z.looseObject({}) });

/** Starts the cluster. `assets`: what `install-workload-controllers.sh` printed. */
export async function startWorkloadCluster(assets: string): Promise<WorkloadCluster> {
  const server = await startApiServer();
  const admin = createAdmin(server);
  const stops: (() => Promise<void>)[] = [() => server.stop(), () => admin.close()];
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each();
  };
  const also = <Started extends { stop(): Promise<void> }>(started: Started): Started => {
    stops.push(() => started.stop());
    return started;
  };
  try {
    await createGpuNodes(admin, [{ name: "four", product: "NVIDIA-H100-80GB-HBM3", gpus: 4 }]);
    for (const kind of Object.values(workloadKinds)) also(await startWorkloadController(server, admin, assets, kind));
    also(await startControllerManager(server, controllers));
    also(await startScheduler(server));
    stops.push(livePods(admin, runContainer));
    const access = async () => ({ headers: { authorization: `Bearer ${server.adminToken}` }, tls: { ca: server.ca } });
    const client = createApiClient({ server: server.url, proxyUrl: null, access }, systemClock);
    const source = also(createKubernetesSource({ client, exporters: [], gpuResources: [], maxAgeSeconds: 90 }));
    await source.start();
    const all = (): readonly Pod[] => source.read().pods;
    const hasOther = (): boolean => all().some(({ name }) => name === other);
    let memory: Memory | undefined;
    return {
      admin,
      stop,
      read: () => all().filter(({ name }) => name !== other),
      cycle: () => {
        const found = joined(source.read(), defaultSettings, memory, Date.now() / 1000);
        memory = found.memory;
        return analysed(found.snapshot);
      },
      occupy: async () => {
        if (hasOther()) return;
        const resources = { limits: { "nvidia.com/gpu": "1" } };
        await admin.send("POST", pods, {
          metadata: { name: other },
          spec: { nodeName: "four", containers: [{ name: "main", image: "none", resources }] },
        });
        await until("the other pod is read", hasOther);
      },
      leave: async () => {
        await admin.send("DELETE", `${pods}/${other}?gracePeriodSeconds=0`);
        await until("the other pod is gone", () => !hasOther());
      },
      cordon: (isClosed) =>
        rewrite(admin, "/api/v1/nodes/four", aNode, ({ spec, ...rest }) => ({
          ...rest,
          spec: { ...spec, unschedulable: isClosed },
        })),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
