import { z } from "zod";
import { type Admin, until } from "../kubernetesAdmin.ts";
import { rewrite } from "./rewrite.ts";

const job = z.looseObject({
  metadata: z.looseObject({ uid: z.string() }),
  spec: z.looseObject({
    suspend: z.boolean().optional(),
    parallelism: z.number(),
    template: z.looseObject({
      metadata: z.looseObject({ labels: z.record(z.string(), z.string()).default({}) }),
      spec: z.looseObject({}),
    }),
  }),
  status: z.looseObject({}),
});

/** Does what the job controller, the scheduler and kubelet do for an admitted Job; pods without a node stay pending. */
export async function startPods(
  admin: Admin,
  namespace: string,
  name: string,
  nodeNames: readonly string[],
): Promise<void> {
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`;
  const read = async (): Promise<z.output<typeof job>> => job.parse(await admin.send("GET", path));
  await until(`${name} is not suspended`, async () => (await read()).spec.suspend === false);
  const { metadata, spec } = await read();
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const owner = { apiVersion: "batch/v1", kind: "Job", name, uid: metadata.uid, controller: true };
  for (let index = 0; index < spec.parallelism; index += 1) {
    const nodeName = nodeNames[index];
    const pod = await admin.send("POST", pods, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...spec.template.metadata, name: `${name}-${index}`, ownerReferences: [owner] },
      spec: { ...spec.template.spec, ...(nodeName === undefined ? {} : { nodeName }) },
    });
    if (nodeName !== undefined) await run(admin, `${pods}/${name}-${index}`, pod);
  }
  const startTime = new Date().toISOString();
  const started = { active: spec.parallelism, ready: nodeNames.length, startTime };
  const withStatus = (stored: z.output<typeof job>) => ({ ...stored, status: { ...stored.status, ...started } });
  await rewrite(admin, path, job, withStatus, "/status");
}

/** Marks a bound pod as running and ready, as kubelet does. */
export async function run(admin: Admin, path: string, pod: object): Promise<void> {
  await admin.send("PUT", `${path}/status`, { ...pod, status: runningStatus(new Date().toISOString()) });
}

function runningStatus(now: string) {
  const conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: now,
  }));
  return { phase: "Running", startTime: now, conditions };
}

/** As `run`, for a pod of one container named `main`, whose own status says that it runs. */
export async function runContainer(admin: Admin, path: string, pod: object): Promise<void> {
  const now = new Date().toISOString();
  const state = { running: { startedAt: now } };
  const main = { name: "main", image: "none", imageID: "", ready: true, restartCount: 0, started: true, state };
  await admin.send("PUT", `${path}/status`, { ...pod, status: { ...runningStatus(now), containerStatuses: [main] } });
}

/** Does what the job controller does for a Job that is suspended: its pods go, and it is no longer active. */
export async function stopPods(admin: Admin, namespace: string, name: string): Promise<void> {
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`;
  const read = async (): Promise<z.output<typeof job>> => job.parse(await admin.send("GET", path));
  await until(`${name} is suspended`, async () => (await read()).spec.suspend === true);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  for (const pod of await admin.names(pods)) {
    if (pod.startsWith(`${name}-`)) await admin.send("DELETE", `${pods}/${pod}?gracePeriodSeconds=0`);
  }
  const now = new Date().toISOString();
  const suspended = {
    type: "Suspended",
    status: "True",
    reason: "JobSuspended",
    message: "Job suspended",
    lastTransitionTime: now,
  };
  const status = { active: 0, ready: 0, conditions: [suspended] };
  await rewrite(admin, path, job, (stored) => ({ ...stored, status }), "/status");
}
