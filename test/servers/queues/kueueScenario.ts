import { z } from "zod";
import { type ApiServer, startApiServer } from "../apiServer.ts";
import { type Admin, createAdmin, until } from "../kubernetesAdmin.ts";
import { busyGpus } from "./busyGpus.ts";
import { startPods } from "./jobPods.ts";
import { type Kueue, startKueue } from "./kueue.ts";
import { conditionsOf, kueueCollections } from "./kueueCluster.ts";
import { workloadsOf } from "./kueueWorkloads.ts";
import { type Look, watchCluster } from "./lookAt.ts";
import { rewrite } from "./rewrite.ts";
import { sampleValues } from "./samples.ts";
import {
  admits,
  areServed,
  build,
  clear,
  jobObject,
  make,
  relabel,
  removeAll,
  type Scenario,
  type ScenarioJob,
} from "./scenarioObjects.ts";

/** A Workload that Kueue has preempted. */
export interface Preempted {
  readonly queue: string;
  readonly job: string;
  readonly reason: string;
}

/** A real API server and a real Kueue, without fair sharing as it comes, on which one scenario follows the other. */
export interface ScenarioCluster {
  readonly admin: Admin;
  /** Clears away what was there, and makes this. */
  setUp(scenario: Scenario): Promise<void>;
  /** Changes fields of a ClusterQueue's spec. */
  change(queue: string, spec: object): Promise<void>;
  submit(queue: string, job: ScenarioJob): Promise<void>;
  /** Takes back a job that waits, as its owner does. */
  withdraw(queue: string, job: string): Promise<void>;
  /** Submits a job, and runs its pods on these nodes as soon as it is admitted. */
  run(queue: string, job: ScenarioJob, nodes: readonly string[]): Promise<void>;
  /** Waits until a condition of a job's Workload begins with this; what it says then. */
  comes(job: string, type: string, is: string): Promise<void>;
  /** Kueue does not look at the queue's waiting work until `release`: its namespace is not selected. */
  hold(queue: string): Promise<void>;
  release(queue: string): Promise<void>;
  /** Puts a queue on hold and submits a job to it; resolves when Kueue has said that the job is held back. */
  submitOnHold(queue: string, job: ScenarioJob): Promise<void>;
  /** Releases a queue that is on hold while Kueue does nothing: what Fairlead sees just before Kueue acts. */
  justBefore(queue: string): Promise<Look>;
  /** Lets Kueue try anew, three times, to admit what waits in a queue. */
  tryAgain(queue: string): Promise<void>;
  look(): Promise<Look>;
  preempted(): Promise<readonly Preempted[]>;
  /** Waits until a ClusterQueue has reserved so many GPUs, by flavor: Kueue writes that a little after it has done it. */
  reserves(queue: string, gpus: Readonly<Record<string, number>>): Promise<void>;
  stop(): Promise<void>;
}

/** What Kueue says about work whose namespace its queue does not select. */
const onHold = "namespace doesn't match ClusterQueue selector";
const attempts = 3;
/** Kueue answers within a second on a machine that is idle. */
const patienceSeconds = 60;

const specified = z.looseObject({ spec: z.looseObject({}) });
const reservations = z.looseObject({
  status: z.looseObject({
    flavorsReservation: z.array(
      z.looseObject({ name: z.string(), resources: z.array(z.looseObject({ total: z.string() })) }),
    ),
  }),
});

/** Starts both; `priorityClasses`: values of WorkloadPriorityClasses. */
export async function startScenarioCluster(
  priorityClasses: Readonly<Record<string, number>>,
): Promise<ScenarioCluster> {
  const server = await startApiServer();
  const admin = createAdmin(server);
  let kueue: Kueue | undefined;
  const stop = async (): Promise<void> => {
    kueue?.resume();
    await kueue?.stop();
    await admin.close();
    await server.stop();
  };
  try {
    kueue = await startKueue(server, admin, { fairSharing: undefined, featureGates: { VisibilityOnDemand: false } });
    await areServed(admin);
    for (const [name, value] of Object.entries(priorityClasses))
      await make(admin, kueueCollections.workloadPriorityClasses, "WorkloadPriorityClass", name, { value });
    return clusterOf(server, admin, kueue, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

function clusterOf(server: ApiServer, admin: Admin, kueue: Kueue, stop: ScenarioCluster["stop"]): ScenarioCluster {
  const look = async (): Promise<Look> => {
    const watcher = await watchCluster(server, undefined, busyGpus);
    try {
      // Owners are read one by one, after the pods.
      await until("the Jobs are read", () => watcher.look().snapshot.workloads.every(({ job }) => job !== null));
      return watcher.look();
    } finally {
      await watcher.stop();
    }
  };
  const submit: ScenarioCluster["submit"] = async (queue, job) => {
    await admin.send("POST", `/apis/batch/v1/namespaces/${queue}/jobs`, jobObject(job));
  };
  const comes: ScenarioCluster["comes"] = async (job, type, is) => {
    let last: Readonly<Record<string, string>> = {};
    const reached = async (): Promise<boolean> => {
      last = await conditionsOf(admin, job);
      return last[type]?.startsWith(is) === true;
    };
    await until(`${job}: ${type} ${is}`, reached, patienceSeconds).catch(async (error) => {
      throw new Error(`${error}; it has ${JSON.stringify(last)}\n${await kueue.logTail()}`);
    });
  };
  const hold = (queue: string): Promise<void> => relabel(admin, queue, {});
  const release = (queue: string): Promise<void> => relabel(admin, queue, admits);
  const tried = async (): Promise<number> =>
    [...sampleValues(await kueue.metricsPage(), "kueue_admission_attempts_total", "result").values()].reduce(
      (sum, count) => sum + count,
      0,
    );
  return {
    admin,
    submit,
    comes,
    hold,
    release,
    look,
    stop,
    setUp: async (scenario) => {
      await clear(admin);
      await build(admin, scenario);
    },
    change: (queue, changed) =>
      rewrite(admin, `${kueueCollections.clusterQueues}/${queue}`, specified, ({ spec, ...rest }) => ({
        ...rest,
        spec: { ...spec, ...changed },
      })),
    withdraw: async (queue, job) => {
      await admin.send("DELETE", `/apis/batch/v1/namespaces/${queue}/jobs/${job}?propagationPolicy=Background`);
      await removeAll(admin, kueueCollections.workloads, (owners) => owners.includes(job));
      await until(`the Workload of ${job} is gone`, async () => !("QuotaReserved" in (await conditionsOf(admin, job))));
    },
    run: async (queue, job, nodes) => {
      await submit(queue, job);
      await comes(job.name, "Admitted", "True");
      await startPods(admin, queue, job.name, nodes);
    },
    submitOnHold: async (queue, job) => {
      await hold(queue);
      await submit(queue, job);
      await until(`Kueue holds ${job.name} back`, () => isHeldBack(admin, job.name), patienceSeconds);
    },
    justBefore: async (queue) => {
      kueue.pause();
      try {
        await release(queue);
        return await look();
      } finally {
        kueue.resume();
      }
    },
    tryAgain: async (queue) => {
      for (let round = 0; round < attempts; round++) {
        await hold(queue);
        const before = await tried();
        await release(queue);
        await until(`Kueue tries ${queue} again`, async () => (await tried()) > before, patienceSeconds);
      }
    },
    preempted: async () => {
      return (await workloadsOf(admin)).flatMap(({ metadata, status }) =>
        status.conditions
          .filter((one) => one.type === "Preempted" && one.status === "True")
          .map(({ reason }) => ({ queue: metadata.namespace, job: metadata.ownerReferences[0]?.name ?? "", reason })),
      );
    },
    reserves: async (queue, gpus) => {
      let last = "";
      const wanted = textOf(Object.entries(gpus));
      const reached = async (): Promise<boolean> => {
        const { status } = reservations.parse(await admin.send("GET", `${kueueCollections.clusterQueues}/${queue}`));
        last = textOf(status.flavorsReservation.map((one) => [one.name, Number(one.resources[0]?.total)]));
        return last === wanted;
      };
      await until(`${queue} reserves ${wanted}`, reached, patienceSeconds).catch((error) => {
        throw new Error(`${error}; it reserves ${last}`);
      });
    },
  };
}

/** Kueue has looked at a job since its queue is on hold. */
async function isHeldBack(admin: Admin, job: string): Promise<boolean> {
  return (await workloadsOf(admin))
    .filter(({ metadata }) => metadata.ownerReferences[0]?.name === job)
    .flatMap(({ status }) => status.conditions)
    .some(({ type, status, message }) => type === "QuotaReserved" && status === "False" && message.includes(onHold));
}

const textOf = (gpus: readonly (readonly [flavor: string, gpus: number])[]): string =>
  gpus
    .map(([flavor, amount]) => `${flavor}: ${amount}`)
    .sort()
    .join(", ");
