import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { findLocalQueues } from "../../../exporter/analysis/localQueues/findLocalQueues.ts";
import type { LocalQueues } from "../../../exporter/analysis/localQueues/localQueues.ts";
import type { KueueClusterQueue, KueueLocalQueue, KueueWorkload } from "../../../exporter/model/queues/kueue.ts";
import {
  noQueueObjects,
  type SchedulerSettings,
  unknownSchedulerSettings,
} from "../../../exporter/model/queues/queueObjects.ts";
import { gpuPod, now } from "../../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { admission, clusterQueue, flavor, localQueue, podSet, quota, workload } from "../../queues/kueueRows.ts";
import { modelNode } from "../fairness/constructedCluster.ts";

const gpu = "nvidia.com/gpu";

/** Work of one LocalQueue, which is named as `namespace/name`. */
export interface LocalJob {
  readonly name: string;
  readonly local: string;
  readonly gpus: number;
  readonly priority?: number;
  /** Since it was created; default an hour. */
  readonly ageSeconds?: number;
  readonly parts?: Partial<KueueWorkload>;
}

/** One ClusterQueue `shared` with all GPUs of one node, and its LocalQueues. */
export interface LocalCluster {
  readonly gpus: number;
  /** By `namespace/name`. */
  readonly locals: Readonly<Record<string, Partial<KueueLocalQueue>>>;
  readonly queue?: Partial<KueueClusterQueue>;
  readonly running?: readonly LocalJob[];
  readonly waiting?: readonly LocalJob[];
  readonly settings?: SchedulerSettings["kueue"];
  /** What Kueue's visibility API answered: names of waiting work by ClusterQueue. */
  readonly reported?: Readonly<Record<string, readonly string[]>>;
  /** Of the default, the nominal quota is all GPUs. */
  readonly nominal?: number;
}

/** Kueue's Configuration with admission fair sharing in which only GPUs count. */
export const usageSettings: NonNullable<SchedulerSettings["kueue"]> = {
  fairSharing: false,
  admissionFairSharing: {
    halfLifeSeconds: 604_800,
    samplingIntervalSeconds: 300,
    resourceWeights: { cpu: 0, memory: 0, [gpu]: 1 },
  },
};

/** A ClusterQueue that serves the LocalQueue first that has used least for its weight. */
export const byUsage: Partial<KueueClusterQueue> = { admissionMode: "UsageBasedAdmissionFairSharing" };

/** The status of a LocalQueue by which Kueue compares. */
export const consumed = (gpus: number): Partial<KueueLocalQueue> => ({ consumed: { [gpu]: gpus }, consumedAt: now });

const named = (local: string) => {
  const [namespace = "", name = ""] = local.split("/");
  return { namespace, name };
};

export function analysedLocal(given: LocalCluster): Analysis {
  const {
    gpus: capacity,
    reported = {},
    locals,
    queue = {},
    running = [],
    waiting = [],
    settings = null,
    nominal = capacity,
  } = given;
  const workloads = (jobs: readonly LocalJob[], isRunning: boolean) =>
    jobs.map(({ name, local, gpus, priority = 0, ageSeconds = 3600, parts = {} }) =>
      workload(name, [podSet(1, gpus)], {
        namespace: named(local).namespace,
        localQueue: named(local).name,
        priority,
        createdAt: now - ageSeconds,
        ...(isRunning ? admission("shared", "h100", 1, gpus) : {}),
        ...parts,
      }),
    );
  return analysed(
    snapshotOf({
      nodes: [modelNode("n1", capacity, "H100")],
      pods: running.map(({ name, local, gpus }) =>
        gpuPod(name, "n1", gpus, {
          namespace: named(local).namespace,
          labels: {
            "kueue.x-k8s.io/cluster-queue-name": "shared",
            "kueue.x-k8s.io/local-queue-name": named(local).name,
          },
          annotations: { "kueue.x-k8s.io/workload": name },
        }),
      ),
      queues: {
        ...noQueueObjects,
        kueueResourceFlavors: [flavor("h100")],
        kueueClusterQueues: [clusterQueue("shared", [quota("h100", nominal)], queue)],
        kueueLocalQueues: Object.entries(locals).map(([local, parts]) =>
          localQueue(named(local).name, "shared", { namespace: named(local).namespace, ...parts }),
        ),
        kueueWorkloads: [...workloads(running, true), ...workloads(waiting, false)],
      },
      schedulerSettings: { ...unknownSchedulerSettings, kueue: settings },
      kueuePendingWorkloads: new Map(Object.entries(reported)),
    }),
  );
}

export const localQueuesOf = ({ snapshot, fairness }: Analysis): LocalQueues => findLocalQueues(snapshot, fairness);

/** What is reported about each LocalQueue, as `held/pending/entitled/deviation` by `namespace/name`. */
export function sharesOf(analysis: Analysis): Readonly<Record<string, string>> {
  const round = (amount: number | null) => (amount === null ? "unknown" : String(Math.round(amount * 1e6) / 1e6));
  return Object.fromEntries(
    localQueuesOf(analysis).shares.map(({ namespace, name, allocated, pending, entitled, deviation }) => [
      `${namespace}/${name}`,
      [allocated, pending, entitled, deviation].map(round).join("/"),
    ]),
  );
}

/** The line of a ClusterQueue as `name position positionInLocalQueue`, in the order of the positions. */
export function lineOf(analysis: Analysis, clusterQueueName = "shared"): readonly string[] {
  const { positions } = localQueuesOf(analysis);
  return analysis.snapshot.queueing.gangs
    .flatMap(({ name, queue }, index) => {
      const position = positions.get(index);
      return queue !== clusterQueueName || position === undefined ? [] : [{ name, ...position }];
    })
    .sort((a, b) => (a.inClusterQueue ?? 0) - (b.inClusterQueue ?? 0))
    .map(({ name, inClusterQueue, inLocalQueue }) => `${name} ${inClusterQueue ?? "unknown"} ${inLocalQueue}`);
}
