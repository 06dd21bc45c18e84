import { createPatch } from "rfc6902";
import { z } from "zod";
import type { OptionalRight } from "../../exporter/sources/kubernetes/rights.ts";
import { below, type Files } from "./files.ts";
import type { InstalledObject } from "./installedObject.ts";
import type { GivenValues, Render } from "./staticFiles.ts";
import { yamlText } from "./yamlText.ts";

/**
 * The optional rights of the base. Workloads' autoscalers exist in every cluster: without this right, Fairlead never recommends
 * to stop serving work.
 */
const baseRights: Record<OptionalRight, boolean> = {
  autoscalers: true,
  dynamicResourceAllocation: false,
  kueue: false,
  kai: false,
  volcano: false,
  coscheduling: false,
  karpenter: false,
  volumes: false,
  workloads: false,
  monitors: false,
};

/** The values of the base, which work in every cluster. */
export const baseValues = {
  prometheus: { monitor: { enabled: false }, rules: { enabled: false } },
  dashboards: { enabled: false },
  rbac: { optional: baseRights },
} satisfies GivenValues;

const right = (name: OptionalRight) => ({ ...baseValues, rbac: { optional: { ...baseRights, [name]: true } } });

/** The components that can be added to the base: each is equivalent to some values of the Helm chart. */
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
  coscheduling: right("coscheduling"),
  karpenter: right("karpenter"),
  volumes: right("volumes"),
  workloads: right("workloads"),
  monitors: right("monitors"),
} satisfies Readonly<Record<string, GivenValues>>;

export type ComponentName = keyof typeof components;

/** The overlays that people install: the base with some components. */
export const overlays = {
  "prometheus-operator": ["prometheus-operator"],
  "plain-annotations": ["plain-annotations"],
  "grafana-sidecar": ["grafana-sidecar"],
  "kube-prometheus-stack": ["prometheus-operator", "grafana-sidecar"],
} satisfies Readonly<Record<string, readonly ComponentName[]>>;

/** The namespace, in which only pods without privileges may run. */
export const namespaceObject: InstalledObject = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name: "fairlead",
    labels: { "app.kubernetes.io/part-of": "fairlead", "pod-security.kubernetes.io/enforce": "restricted" },
  },
};

/** The base, the components and the overlays for kustomize. */
export function kustomizeFiles(render: Render, firstLine: string): Files {
  const objectsOf = (given: GivenValues): readonly InstalledObject[] => render(given).map(withoutChecksum);
  const base = objectsOf(baseValues);
  const componentFolders = Object.entries<GivenValues>(components).map(([name, given]) => {
    // A patch of an object that does not exist has no effect, so this component also changes the review where there is one.
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

interface Generator {
  readonly name: string;
  readonly namespace: string;
  readonly behavior?: "replace";
  readonly files: readonly string[];
  readonly options?: { readonly labels: Readonly<Record<string, string>> };
}

/** The content of a kustomization.yaml. */
interface Kustomization {
  readonly component?: boolean;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly generators?: readonly Generator[];
  readonly patches?: readonly {
    readonly path: string;
    readonly target: { readonly kind: string; readonly name: string };
  }[];
}

/** The text of a kustomization.yaml, of a component or of a folder that is built by itself. */
function kustomization(
  { component = false, resources = [], components = [], generators = [], patches = [] }: Kustomization,
  firstLine: string,
): string {
  return yamlText(
    {
      apiVersion: component ? "kustomize.config.k8s.io/v1alpha1" : "kustomize.config.k8s.io/v1beta1",
      kind: component ? "Component" : "Kustomization",
      ...(resources.length === 0 ? {} : { resources }),
      ...(components.length === 0 ? {} : { components }),
      ...(generators.length === 0 ? {} : { configMapGenerator: generators }),
      ...(patches.length === 0 ? {} : { patches }),
    },
    firstLine,
  );
}

/** The files of objects, one for each. */
function objectFiles(objects: readonly InstalledObject[], firstLine: string): Files {
  return Object.fromEntries(objects.map((object) => [objectFile(object), yamlText(object, firstLine)]));
}

/** The files that turn some objects into others: those that are new, and patches of those that change. */
function componentFiles(
  before: readonly InstalledObject[],
  after: readonly InstalledObject[],
  firstLine: string,
): Files {
  const old = new Map(before.map((object) => [identity(object), object]));
  const config = generatedConfig(after, old);
  const added = objectFiles(
    after.filter((object) => !old.has(identity(object)) && !config.isOf(object)),
    firstLine,
  );
  const patches = after.flatMap((object) => {
    const operations = config.isOf(object) ? [] : createPatch(old.get(identity(object)) ?? object, object);
    return operations.length === 0 ? [] : [{ object, operations }];
  });
  return {
    ...added,
    ...config.files,
    ...Object.fromEntries(
      patches.map(({ object, operations }) => [`patch-${objectFile(object)}`, yamlText(operations, firstLine)]),
    ),
    "kustomization.yaml": kustomization(
      {
        component: true,
        resources: Object.keys(added),
        generators: config.generators,
        patches: patches.map(({ object }) => ({
          path: `patch-${objectFile(object)}`,
          target: { kind: object.kind, name: object.metadata.name },
        })),
      },
      firstLine,
    ),
  };
}

const configMapSchema = z.object({
  kind: z.literal("ConfigMap"),
  metadata: z.object({ name: z.string(), namespace: z.string(), labels: z.record(z.string(), z.string()) }),
  data: z.record(z.string(), z.string()),
});

/**
 * The ConfigMap of the configuration as a generator of kustomize: its name then changes with its content, and pods are
 * restarted.
 */
function generatedConfig(
  objects: readonly InstalledObject[],
  before: ReadonlyMap<string, InstalledObject> | null,
): {
  readonly generators: readonly Generator[];
  readonly files: Files;
  readonly isOf: (object: InstalledObject) => boolean;
} {
  const isOf = ({ kind, metadata }: InstalledObject): boolean =>
    kind === "ConfigMap" && metadata.name.endsWith("-config");
  const found = objects.find(isOf);
  const unchanged =
    found === undefined || (before !== null && JSON.stringify(before.get(identity(found))) === JSON.stringify(found));
  if (unchanged) return { generators: [], files: {}, isOf };
  const { metadata, data } = configMapSchema.parse(found);
  const { name, namespace, labels } = metadata;
  const files = Object.keys(data);
  const generator =
    before === null
      ? { name, namespace, files, options: { labels } }
      : { name, namespace, behavior: "replace" as const, files };
  return { generators: [generator], files: data, isOf };
}

const identity = ({ kind, metadata }: InstalledObject): string =>
  `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
const objectFile = ({ kind, metadata }: InstalledObject): string => `${kind.toLowerCase()}-${metadata.name}.yaml`;

/** The object without the digest of the configuration, which kustomize's suffix of the ConfigMap's name replaces. */
function withoutChecksum(object: InstalledObject): InstalledObject {
  return JSON.parse(JSON.stringify(object), (name, part: unknown) => (name === "checksum/config" ? undefined : part));
}
