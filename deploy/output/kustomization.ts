import { createPatch } from "rfc6902";
import { z } from "zod";
import type { Files } from "./files.ts";
import type { InstalledObject } from "./installedObject.ts";
import { yamlText } from "./yamlText.ts";

interface Generator {
  readonly name: string;
  readonly namespace: string;
  readonly behavior?: "replace";
  readonly files: readonly string[];
  readonly options?: { readonly labels: Readonly<Record<string, string>> };
}

/** What a kustomization.yaml says. */
export interface Kustomization {
  readonly component?: boolean;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly generators?: readonly Generator[];
  readonly patches?: readonly {
    readonly path: string;
    readonly target: { readonly kind: string; readonly name: string };
  }[];
}

/** A kustomization.yaml, of a component or of what is built by itself. */
export function kustomization(
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

/** A file for each object. */
export function objectFiles(objects: readonly InstalledObject[], firstLine: string): Files {
  return Object.fromEntries(objects.map((object) => [objectFile(object), yamlText(object, firstLine)]));
}

/** What leads from some objects to others: those that are new, and patches of those that change. */
export function componentFiles(
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

/** The ConfigMap of the configuration as what kustomize makes it of: its name then changes with it, and pods start anew. */
export function generatedConfig(
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
