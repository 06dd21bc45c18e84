import { z } from "zod";
import { type Admin, until } from "../kubernetesAdmin.ts";
import { run } from "./jobPods.ts";
import { rewrite } from "./rewrite.ts";

const job = z.looseObject({
  metadata: z.looseObject({ uid: z.string() }),
  spec: z.looseObject({
    suspend: z.boolean().optional(),
    template: z.looseObject({ metadata: z.looseObject({}).default({}), spec: z.looseObject({}) }),
  }),
});
const pod = z.looseObject({
  spec: z.looseObject({ schedulingGates: z.array(z.looseObject({ name: z.string() })).default([]) }),
});

const jobPath = (namespace: string, name: string): string => `/apis/batch/v1/namespaces/${namespace}/jobs/${name}`;

/** Asks for another number of pods of a running Job, as its owner does. */
export async function scaleJob(admin: Admin, namespace: string, name: string, pods: number): Promise<void> {
  await rewrite(admin, jobPath(namespace, name), job, ({ spec, ...rest }) => ({
    ...rest,
    spec: { ...spec, parallelism: pods, completions: pods },
  }));
}

/** Creates the pods with these indices as the job controller does: an elastic job's have a gate, which Kueue takes away. */
export async function createGatedPods(
  admin: Admin,
  namespace: string,
  name: string,
  indices: readonly number[],
): Promise<void> {
  const read = async (): Promise<z.output<typeof job>> => job.parse(await admin.send("GET", jobPath(namespace, name)));
  await until(`${name} is not suspended`, async () => (await read()).spec.suspend === false);
  const { metadata, spec } = await read();
  const ownerReferences = [{ apiVersion: "batch/v1", kind: "Job", name, uid: metadata.uid, controller: true }];
  for (const index of indices)
    await admin.send("POST", `/api/v1/namespaces/${namespace}/pods`, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...spec.template.metadata, name: `${name}-${index}`, ownerReferences },
      spec: spec.template.spec,
    });
}

/** Gates that a pod still has. */
export async function gatesOf(admin: Admin, namespace: string, name: string): Promise<readonly string[]> {
  const { spec } = pod.parse(await admin.send("GET", `/api/v1/namespaces/${namespace}/pods/${name}`));
  return spec.schedulingGates.map((gate) => gate.name);
}

/** Binds and runs these pods, as the scheduler and kubelet do, once Kueue has taken their gates away. */
export async function runUngatedPods(
  admin: Admin,
  namespace: string,
  name: string,
  indices: readonly number[],
  node: string,
): Promise<void> {
  for (const index of indices) {
    const own = `${name}-${index}`;
    const path = `/api/v1/namespaces/${namespace}/pods/${own}`;
    await until(`${own} has no gate`, async () => (await gatesOf(admin, namespace, own)).length === 0);
    const target = { apiVersion: "v1", kind: "Node", name: node };
    await admin.send("POST", `${path}/binding`, {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: own },
      target,
    });
    await run(admin, path, await admin.send("GET", path));
  }
}
