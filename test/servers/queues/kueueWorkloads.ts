import { z } from "zod";
import type { Admin } from "../kubernetesAdmin.ts";
import { kueueCollections } from "./kueueCluster.ts";
import { rewrite } from "./rewrite.ts";

const workload = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
    ownerReferences: z.array(z.looseObject({ name: z.string() })).default([]),
  }),
  spec: z.looseObject({ podSets: z.array(z.looseObject({ count: z.number() })) }),
  status: z
    .looseObject({
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }))
        .default([]),
      admission: z.looseObject({ podSetAssignments: z.array(z.looseObject({ count: z.number() })) }).optional(),
      admissionChecks: z.array(z.looseObject({ name: z.string(), state: z.string() })).default([]),
    })
    .default({ conditions: [], admissionChecks: [] }),
});

/** All Workloads. */
export async function workloadsOf(admin: Admin): Promise<readonly z.output<typeof workload>[]> {
  return z.array(workload).parse((await admin.send("GET", kueueCollections.workloads)).items);
}

/** A Workload of an elastic job. */
interface Slice {
  readonly pods: number;
  /** Whether it takes the place of another one. */
  readonly replaces: boolean;
  /** What has become of it: the last of its conditions that is true. */
  readonly is: string;
}

/** The Workloads of an elastic job, the smallest first. */
export async function slicesOf(admin: Admin, job: string): Promise<readonly Slice[]> {
  return (await workloadsOf(admin))
    .filter(({ metadata }) => metadata.ownerReferences[0]?.name === job)
    .map(({ metadata, spec, status }) => ({
      pods: spec.podSets[0]?.count ?? 0,
      replaces: "kueue.x-k8s.io/workload-slice-replacement-for" in metadata.annotations,
      is:
        ["Finished", "Admitted", "QuotaReserved"]
          .flatMap((type) => status.conditions.filter((one) => one.type === type && one.status === "True"))
          .map(({ type, reason }) => `${type}: ${reason}`)[0] ?? "waits",
    }))
    .sort((a, b) => a.pods - b.pods);
}

/** Pods for which the work of a namespace is admitted. */
export async function admittedPods(admin: Admin, namespace: string): Promise<readonly number[]> {
  return (await workloadsOf(admin))
    .filter(({ metadata }) => metadata.namespace === namespace)
    .flatMap(({ status }) => status.admission?.podSetAssignments.map(({ count }) => count) ?? []);
}

/** AdmissionChecks of all work, and what has come of them. */
export async function checksOf(admin: Admin): Promise<readonly (readonly [name: string, state: string])[]> {
  return (await workloadsOf(admin)).flatMap(({ status }) =>
    status.admissionChecks.map(({ name, state }) => [name, state] as const),
  );
}

/** Answers an AdmissionCheck of all work, as its controller would. */
export async function answerCheck(admin: Admin, name: string, state: string, message: string): Promise<void> {
  const admissionChecks = [{ name, state, message, lastTransitionTime: new Date().toISOString() }];
  for (const { metadata } of await workloadsOf(admin)) {
    const path = `/apis/kueue.x-k8s.io/v1beta2/namespaces/${metadata.namespace}/workloads/${metadata.name}`;
    const answered = ({ status, ...rest }: z.output<typeof workload>) => ({
      ...rest,
      status: { ...status, admissionChecks },
    });
    await rewrite(admin, path, workload, answered, "/status");
  }
}
