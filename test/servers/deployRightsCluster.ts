import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { type ApiServer, servingNativeGangs, startApiServer } from "./apiServer.ts";
import {
  type AccessObject,
  account,
  collectionOf,
  createOwnedPods,
  groupOf,
  looselyWatched,
  looseOwners,
  type Rule,
  shippedObjects,
  workNamespace,
} from "./deployRightsObjects.ts";
import { type Admin, crdObject, createAdmin, until } from "./kubernetesAdmin.ts";
import { installed } from "./program.ts";
import { createGpuNodes } from "./queues/gpuNodes.ts";
import { createDefinitions } from "./queues/resourceDefinitions.ts";

/** A request that Fairlead made, as the API server's audit log has it. */
export interface AuditedRequest {
  readonly verb: string;
  /** `pods`, `jobs.batch`, `pods/log`; empty for paths that are no resource, such as discovery. */
  readonly resource: string;
  readonly status: number;
}

/** A real API server with every kind that Fairlead reads, and with the rights of an installation. */
export interface RightsCluster {
  readonly server: ApiServer;
  readonly admin: Admin;
  /** The objects of the installation that have to do with rights. */
  readonly shipped: readonly AccessObject[];
  /** A token of a ServiceAccount. */
  tokenOf(serviceAccount: { readonly namespace: string; readonly name: string }): Promise<string>;
  /** Gives the roles only those rules, and parts of rules, that are to stay. Resolves when the API server has received of it. */
  keepRights(stays: (verb: string, group: string, resource: string) => boolean): Promise<void>;
  /** What Fairlead has asked for up to now. */
  audited(): Promise<readonly AuditedRequest[]>;
  stop(): Promise<void>;
}

/** GPUs of the one node. */
export const gpus = 64;

const definitionSources = [
  ["install-kueue.sh", "crds"],
  ["install-kai.sh", "crds"],
  ["install-volcano.sh", "crds"],
  ["install-workload-crds.sh", "crds"],
  ["install-operator-crds.sh", "karpenter"],
  ["install-operator-crds.sh", "coscheduling"],
] as const;

const auditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "Metadata", users: [`system:serviceaccount:${account.namespace}:${account.name}`] },
    { level: "None" },
  ],
};

const auditEvent = z.looseObject({
  verb: z.string(),
  userAgent: z.string().optional(),
  objectRef: z
    .looseObject({
      apiGroup: z.string().optional(),
      resource: z.string().optional(),
      subresource: z.string().optional(),
    })
    .optional(),
  responseStatus: z.looseObject({ code: z.number() }).optional(),
});

/** Starts the server, with all definitions, one node, pods with owners of every kind, and the installation's rights. */
export async function startRightsCluster(): Promise<RightsCluster> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-rights-"));
  const [policyFile, auditFile] = [join(folder, "policy.json"), join(folder, "audit.log")];
  await writeFile(policyFile, JSON.stringify(auditPolicy));
  const server = await startApiServer({
    apiServerFlags: [...servingNativeGangs, `--audit-policy-file=${policyFile}`, `--audit-log-path=${auditFile}`],
  });
  const admin = createAdmin(server);
  const stop = async (): Promise<void> => {
    await admin.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    for (const [script, definitions] of definitionSources) {
      await createDefinitions(admin, join(await installed(script), definitions));
    }
    await Promise.all(
      [...looseOwners, ...looselyWatched].map(({ apiVersion, kind, plural }) =>
        defineLoosely(admin, apiVersion, kind, plural),
      ),
    );
    await admin.send("POST", "/api/v1/namespaces", { metadata: { name: workNamespace } });
    await createGpuNodes(admin, [{ name: "node-a", product: "NVIDIA-H100-80GB-HBM3", gpus }]);
    await createOwnedPods(admin);
    const shipped = await shippedObjects();
    for (const object of shipped) await admin.send("POST", collectionOf(object), object);
    return {
      server,
      admin,
      shipped,
      stop,
      tokenOf: ({ namespace, name }) => tokenOf(admin, namespace, name),
      keepRights: (stays) => keepRights(admin, shipped, stays),
      audited: async () => (await readFile(auditFile, "utf8")).split("\n").flatMap(requestOf),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function defineLoosely(admin: Admin, apiVersion: string, kind: string, plural: string): Promise<void> {
  const group = groupOf(apiVersion);
  // Asked for of every group below k8s.io.
  const annotations = { "api-approved.kubernetes.io": "unapproved, for a test" };
  const object = {
    ...crdObject(group, kind, plural, apiVersion.split("/")[1]),
    metadata: { name: `${plural}.${group}`, annotations },
  };
  await admin.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", object);
  await until(`${plural} are served`, () =>
    admin.names(`/apis/${apiVersion}/${plural}`).then(
      () => true,
      () => false,
    ),
  );
}

const tokenAnswer = z.looseObject({ status: z.looseObject({ token: z.string() }) });

async function tokenOf(admin: Admin, namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  return tokenAnswer.parse(await admin.send("POST", path, body)).status.token;
}

async function keepRights(
  admin: Admin,
  shipped: readonly AccessObject[],
  stays: (verb: string, group: string, resource: string) => boolean,
): Promise<void> {
  for (const role of shipped) {
    if (role.rules === undefined) continue;
    const rules = role.rules.flatMap((rule) => splitRule(rule).filter(staysOf(stays)));
    await admin.send("PUT", `${collectionOf(role)}/${role.metadata.name}`, { ...role, rules });
  }
}

const staysOf =
  (stays: (verb: string, group: string, resource: string) => boolean) =>
  ({ verbs: [verb = ""], apiGroups: [group = ""], resources: [resource = ""] }: Rule): boolean =>
    stays(verb, group, resource);

/** A rule as rules of one verb on one resource each. */
export function splitRule(rule: Rule): readonly Rule[] {
  return rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.map((verb) => ({ ...rule, apiGroups: [group], resources: [resource], verbs: [verb] })),
    ),
  );
}

/** kubectl says who it is, too: only Fairlead's own requests count. */
function requestOf(line: string): readonly AuditedRequest[] {
  if (line === "") return [];
  const { verb, userAgent, objectRef, responseStatus } = auditEvent.parse(JSON.parse(line));
  if (userAgent !== "fairlead") return [];
  const { resource, apiGroup, subresource } = objectRef ?? {};
  const name = `${resource ?? ""}${subresource === undefined ? "" : `/${subresource}`}`;
  const group = apiGroup === undefined || apiGroup === "" ? "" : `.${apiGroup}`;
  return [{ verb, resource: `${name}${group}`, status: responseStatus?.code ?? 0 }];
}
