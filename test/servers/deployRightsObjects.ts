import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type OwnerSample, ownerSamples } from "./adviceOwners.ts";
import type { Admin, AdminObject } from "./kubernetesAdmin.ts";
import { gpuPodObject } from "./kubernetesAdmin.ts";
import { yamlDocuments } from "./queues/resourceDefinitions.ts";

/** The namespace and the ServiceAccount that Fairlead is installed with. */
export const account = { namespace: "fairlead", name: "fairlead" } as const;

const rule = z.strictObject({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
  verbs: z.array(z.string()),
});
const accessObject = z.looseObject({
  apiVersion: z.string(),
  kind: z.enum(["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"]),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  rules: z.array(rule).optional(),
});

/** What decides what Fairlead may do: the objects of an installation that have to do with rights. */
export type AccessObject = z.infer<typeof accessObject>;
/** One rule of a role. */
export type Rule = z.infer<typeof rule>;

const repository = fileURLToPath(new URL("../../", import.meta.url));

/** What an installation applies, as far as it has to do with rights; everything else is left out. */
export async function shippedObjects(): Promise<readonly AccessObject[]> {
  const documents = await yamlDocuments(join(repository, "deploy/dist/fairlead.yaml"));
  return documents.flatMap((document) => {
    const kind = z.looseObject({ kind: accessObject.shape.kind }).safeParse(document);
    return kind.success ? [accessObject.parse(document)] : [];
  });
}

/** The shipped ClusterRole with all rights. */
export async function shippedClusterRole(): Promise<AccessObject & { readonly rules: readonly Rule[] }> {
  const role = (await shippedObjects()).find(({ kind }) => kind === "ClusterRole");
  if (role?.rules === undefined) throw new Error("deploy/dist/fairlead.yaml has no ClusterRole");
  return { ...role, rules: role.rules };
}

const plurals: Readonly<Record<AccessObject["kind"], string>> = {
  Namespace: "namespaces",
  ServiceAccount: "serviceaccounts",
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
};

/** Path of the collection that an object is in. */
export function collectionOf({ apiVersion, kind, metadata: { namespace } }: AccessObject): string {
  const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${base}/${namespace === undefined ? "" : `namespaces/${namespace}/`}${plurals[kind]}`;
}

const gpu = "nvidia.com/gpu";
const template = {
  metadata: { labels: { app: "work" } },
  spec: { containers: [{ name: "main", image: "none", resources: { limits: { [gpu]: "1" } } }] },
};
const selected = { selector: { matchLabels: { app: "work" } }, template };
const once = { template: { ...template, spec: { ...template.spec, restartPolicy: "Never" } } };

/** Kinds whose definitions no Go module of a fit size has: any content is taken. */
export const looseOwners = [
  { apiVersion: "ray.io/v1", kind: "RayService", plural: "rayservices", spec: {} },
  { apiVersion: "kubeflow.org/v1", kind: "Notebook", plural: "notebooks", spec: {} },
  { apiVersion: "serving.kserve.io/v1", kind: "InferenceService", plural: "inferenceservices", spec: {} },
  { apiVersion: "workload.codeflare.dev/v1", kind: "AppWrapper", plural: "appwrappers", spec: {} },
  { apiVersion: "sparkoperator.k8s.io/v1", kind: "SparkApplication", plural: "sparkapplications", spec: {} },
  { apiVersion: "keda.sh/v1alpha1", kind: "ScaledJob", plural: "scaledjobs", spec: {} },
  { apiVersion: "serving.kserve.io/v1", kind: "LLMInferenceService", plural: "llminferenceservices", spec: {} },
  { apiVersion: "serving.knative.dev/v1", kind: "Service", plural: "services", spec: {} },
  { apiVersion: "serving.knative.dev/v1", kind: "Configuration", plural: "configurations", spec: {} },
  { apiVersion: "serving.knative.dev/v1", kind: "Revision", plural: "revisions", spec: {} },
  { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", plural: "rollouts", spec: {} },
  { apiVersion: "apps.nvidia.com/v1alpha1", kind: "NIMService", plural: "nimservices", spec: {} },
  { apiVersion: "machinelearning.seldon.io/v1", kind: "SeldonDeployment", plural: "seldondeployments", spec: {} },
  { apiVersion: "nvidia.com/v1alpha1", kind: "DynamoGraphDeployment", plural: "dynamographdeployments", spec: {} },
  {
    apiVersion: "nvidia.com/v1alpha1",
    kind: "DynamoComponentDeployment",
    plural: "dynamocomponentdeployments",
    spec: {},
  },
] as const satisfies readonly OwnerSample[];

/** The same of kinds that are watched, and own nothing. */
export const looselyWatched = [
  { apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", plural: "scaledobjects" },
  { apiVersion: "autoscaling.k8s.io/v1", kind: "VerticalPodAutoscaler", plural: "verticalpodautoscalers" },
] as const;

const builtIn: readonly OwnerSample[] = [
  { apiVersion: "v1", kind: "Pod", plural: "pods", spec: template.spec },
  {
    apiVersion: "v1",
    kind: "ReplicationController",
    plural: "replicationcontrollers",
    spec: { selector: { app: "work" }, template },
  },
  { apiVersion: "apps/v1", kind: "DaemonSet", plural: "daemonsets", spec: selected },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    plural: "cronjobs",
    spec: { schedule: "0 0 * * *", jobTemplate: { spec: once } },
  },
];

/** One object of each kind that may own pods and that Fairlead knows. */
export const ownersOfAllKinds: readonly OwnerSample[] = [
  ...builtIn,
  ...ownerSamples.filter(({ kind }) => looseOwners.every((loose) => loose.kind !== kind)),
  ...looseOwners,
];

/** Where the pods and their owners are. */
export const workNamespace = "work";
/** The name of the Deployment that every chain of owners ends in. */
export const topName = "top";

/** Makes a Deployment, an object of every kind that it controls, and for each a pod with one GPU which that controls. */
export async function createOwnedPods(admin: Admin): Promise<void> {
  const deployment = ownerSamples.find(({ kind }) => kind === "Deployment");
  if (deployment === undefined) throw new Error("there is no sample of a Deployment");
  const top = await createOwner(admin, deployment, topName, []);
  const above = [refTo(deployment, top)];
  for (const sample of ownersOfAllKinds) {
    const name = ownerName(sample);
    const owner = await createOwner(admin, sample, name, above);
    const pod = gpuPodObject(`pod-of-${name}`, 1, { metadata: { ownerReferences: [refTo(sample, owner)] } });
    await admin.send("POST", `/api/v1/namespaces/${workNamespace}/pods`, pod);
  }
}

/** What the object of a kind is called. */
export function ownerName({ apiVersion, kind }: OwnerSample): string {
  return `${kind} ${groupOf(apiVersion)}`.trim().toLowerCase().replaceAll(/[ .]/g, "-");
}

/** The API group of an `apiVersion`; empty for the core group. */
export function groupOf(apiVersion: string): string {
  const [group = "", version] = apiVersion.split("/");
  return version === undefined ? "" : group;
}

async function createOwner(
  admin: Admin,
  { apiVersion, kind, plural, spec }: OwnerSample,
  name: string,
  ownerReferences: readonly object[],
): Promise<AdminObject> {
  const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const object = { apiVersion, kind, metadata: { name, ownerReferences }, spec };
  return await admin.send("POST", `${base}/namespaces/${workNamespace}/${plural}`, object);
}

function refTo({ apiVersion, kind }: OwnerSample, { metadata: { name, uid } }: AdminObject): object {
  return { apiVersion, kind, name, uid, controller: true };
}
