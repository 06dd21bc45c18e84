import type { OptionalRight } from "../../exporter/sources/kubernetes/rights.ts";
import { below, type Files } from "./files.ts";
import type { InstalledObject } from "./installedObject.ts";
import { componentFiles, generatedConfig, kustomization, objectFiles } from "./kustomization.ts";
import type { GivenValues, Render } from "./staticFiles.ts";

/** Autoscalers of workloads are in every cluster: without this right no serving work is advised to be stopped. */
const baseRights: Record<OptionalRight, boolean> = {
  autoscalers: true,
  dynamicResourceAllocation: false,
  kueue: false,
  kai: false,
  volcano: false,
  karpenter: false,
  volumes: false,
  workloads: false,
};

/** Values of the base: what every cluster can take. */
export const baseValues = {
  prometheus: { monitor: { enabled: false }, rules: { enabled: false } },
  dashboards: { enabled: false },
  rbac: { optional: baseRights },
} satisfies GivenValues;

const right = (name: OptionalRight) => ({ ...baseValues, rbac: { optional: { ...baseRights, [name]: true } } });

/** What can be added to the base: each is the same as some values of the Helm chart. */
export const components = {
  "prometheus-operator": {
    ...baseValues,
    prometheus: { monitor: { enabled: true }, rules: { enabled: true } },
  },
  "plain-annotations": { ...baseValues, prometheusScrape: true },
  "grafana-sidecar": { ...baseValues, dashboards: { enabled: true } },
  "high-availability": { ...baseValues, replicas: 2 },
  review: { ...baseValues, review: { enabled: true } },
  "dynamic-resource-allocation": right("dynamicResourceAllocation"),
  kueue: right("kueue"),
  kai: right("kai"),
  volcano: right("volcano"),
  karpenter: right("karpenter"),
  volumes: right("volumes"),
  workloads: right("workloads"),
} satisfies Readonly<Record<string, GivenValues>>;

export type ComponentName = keyof typeof components;

/** What people install: the base with some components. */
export const overlays = {
  "prometheus-operator": ["prometheus-operator"],
  "plain-annotations": ["plain-annotations"],
  "grafana-sidecar": ["grafana-sidecar"],
  "kube-prometheus-stack": ["prometheus-operator", "grafana-sidecar"],
} satisfies Readonly<Record<string, readonly ComponentName[]>>;

/** The namespace, in which only pods may run that ask for no privilege. */
export const namespaceObject: InstalledObject = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name: "fairlead",
    labels: { "app.kubernetes.io/part-of": "fairlead", "pod-security.kubernetes.io/enforce": "restricted" },
  },
};

/** Kustomize's base, components and overlays. */
export function kustomizeFiles(render: Render, firstLine: string): Files {
  const objectsOf = (given: GivenValues): readonly InstalledObject[] => render(given).map(withoutChecksum);
  const base = objectsOf(baseValues);
  const componentFolders = Object.entries<GivenValues>(components).map(([name, given]) => {
    // Patches of what is not there do nothing: so more replicas also change the review, where there is one.
    const isOfReplicas = name === "high-availability";
    const { review } = isOfReplicas ? components.review : { review: {} };
    const before = objectsOf({ ...baseValues, review });
    const about = isOfReplicas ? `${firstLine}\n List it after the component review, which it changes.` : firstLine;
    return below(`components/${name}`, componentFiles(before, objectsOf({ review, ...given }), about));
  });
  const overlayFolders = Object.entries<readonly ComponentName[]>(overlays).map(([name, added]) =>
    below(`overlays/${name}`, {
      "kustomization.yaml": kustomization(
        { resources: ["../../base"], components: added.map((one) => `../../components/${one}`) },
        firstLine,
      ),
    }),
  );
  return Object.assign({}, below("base", baseFiles(base, firstLine)), ...componentFolders, ...overlayFolders);
}

function baseFiles(objects: readonly InstalledObject[], firstLine: string): Files {
  const config = generatedConfig(objects, null);
  const files = objectFiles([namespaceObject, ...objects.filter((object) => !config.isOf(object))], firstLine);
  return {
    ...files,
    ...config.files,
    "kustomization.yaml": kustomization({ resources: Object.keys(files), generators: config.generators }, firstLine),
  };
}

/** The digest of the configuration: kustomize's own suffix of the ConfigMap's name does its work. */
function withoutChecksum(object: InstalledObject): InstalledObject {
  return JSON.parse(JSON.stringify(object), (name, part: unknown) => (name === "checksum/config" ? undefined : part));
}
