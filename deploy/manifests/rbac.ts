import type {
  IClusterRole,
  IClusterRoleBinding,
  IPolicyRule,
  IRole,
  IRoleBinding,
} from "kubernetes-models/rbac.authorization.k8s.io/v1";
import type { OptionalRight } from "../../exporter/sources/kubernetes/rights.ts";
import { type ConfigMapRead, configMapReads, type Read, readsOfSources } from "../rights/reads.ts";
import { all, type Expression, expression, value, valueBlock } from "../template/expression.ts";
import { type Optional, optional, spread, type Template } from "../template/template.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { fullname, isOn, labels, namespace, nameWith, serviceAccountName } from "./names.ts";

const isCreated = value("rbac.create", ({ rbac }) => rbac.create);
const group = "rbac.authorization.k8s.io";
const account = { kind: "ServiceAccount", name: serviceAccountName, namespace };
// Roles of two releases in two namespaces must not be one object.
const clusterName = fullname;

function ruleOf({
  group: apiGroup,
  resources,
  verbs,
  right,
}: Read): Template<IPolicyRule> | Optional<Template<IPolicyRule>> {
  const rule: Template<IPolicyRule> = { apiGroups: [apiGroup], resources, verbs };
  return right === null ? rule : optional(isGiven(right, apiGroup), rule);
}

/** The API group by which a cluster shows that it has volumes: they are in the core group themselves. */
const storageGroup = "storage.k8s.io";

/** Whether an optional right is given for an API group. */
export function isGiven(right: OptionalRight, apiGroup: string): Expression<boolean> {
  return isOn(
    value(`rbac.optional.${right}`, ({ rbac }) => rbac.optional[right]),
    apiGroup === "" ? storageGroup : apiGroup,
  );
}

/** What Fairlead may read in the whole cluster: what its sources read, and nothing else. */
export const clusterRole: Manifest = manifest<IClusterRole>(
  "clusterrole.yaml",
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: clusterName, labels },
    rules: [...readsOfSources().map(ruleOf), spread(valueBlock("rbac.extraRules", ({ rbac }) => rbac.extraRules))],
  },
  isCreated,
);

export const clusterRoleBinding: Manifest = manifest<IClusterRoleBinding>(
  "clusterrolebinding.yaml",
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: clusterName, labels },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: clusterName },
    subjects: [account],
  },
  isCreated,
);

/** Roles for the ConfigMaps that the configuration names: each by its name, in its namespace. */
export const configMapRoles: readonly Manifest[] = configMapReads.flatMap(rolesOf);

function rolesOf({ suffix, path, defaults }: ConfigMapRead): readonly Manifest[] {
  const place = { name: nameWith(suffix), namespace: configText([...path, "namespace"], defaults.namespace), labels };
  const when = all(isCreated, isConfigured(path));
  return [
    manifest<IRole>(
      `role-${suffix}.yaml`,
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: place,
        rules: [
          {
            apiGroups: [""],
            resources: ["configmaps"],
            resourceNames: [configText([...path, "name"], defaults.name)],
            verbs: ["get"],
          },
        ],
      },
      when,
    ),
    manifest<IRoleBinding>(
      `rolebinding-${suffix}.yaml`,
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: place,
        roleRef: { apiGroup: group, kind: "Role", name: nameWith(suffix) },
        subjects: [account],
      },
      when,
    ),
  ];
}

function quoted(path: readonly string[]): string {
  return path.map((part) => JSON.stringify(part)).join(" ");
}

function found(config: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, part) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, part)
        ? Object.getOwnPropertyDescriptor(at, part)?.value
        : undefined,
    config,
  );
}

/** Whether the configuration has something at a place, be it an empty map. */
function isConfigured(path: readonly string[]): Expression<boolean> {
  return expression(
    "scalar",
    `ne (dig ${quoted(path)} "absent" (default (dict) .Values.config) | toString) "absent"`,
    ({ values }) => found(values.config, path) !== undefined,
  );
}

function configText(path: readonly string[], fallback: string): Expression<string> {
  return expression(
    "scalar",
    `dig ${quoted(path)} ${JSON.stringify(fallback)} (default (dict) .Values.config)`,
    ({ values }) => String(found(values.config, path) ?? fallback),
  );
}
