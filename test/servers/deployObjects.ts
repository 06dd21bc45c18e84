import { parse } from "yaml";
import { z } from "zod";
import { type InstalledObject, installedObjectSchema } from "../../deploy/output/installedObject.ts";

/** What says an object from others. */
export const identity = ({ kind, metadata }: InstalledObject): string =>
  `${kind} ${metadata.namespace ?? "-"}/${metadata.name}`;

/** Objects by what they are, with texts in ConfigMaps as what they say: two that are equal do the same. */
export function byIdentity(objects: readonly InstalledObject[]): Readonly<Record<string, unknown>> {
  const entries = objects.map((object) => [identity(object), meaningOf(object)] as const);
  const names = entries.map(([name]) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`there are two of ${twice.join(" and ")}`);
  return Object.fromEntries(entries);
}

const configMapSchema = z.looseObject({ kind: z.literal("ConfigMap"), data: z.record(z.string(), z.string()) });

function meaningOf(object: InstalledObject): unknown {
  const configMap = configMapSchema.safeParse(object);
  if (!configMap.success) return object;
  const data = Object.entries(configMap.data.data).map(([name, text]) => [name, textMeaning(name, text)]);
  return { ...object, data: Object.fromEntries(data) };
}

function textMeaning(name: string, text: string): unknown {
  if (name.endsWith(".json")) return JSON.parse(text);
  return name.endsWith(".yaml") ? parse(text) : text;
}

/** The text of Fairlead's configuration in a ConfigMap among objects. */
export function configIn(objects: readonly InstalledObject[]): string {
  const texts = objects.flatMap((object) => configMapSchema.safeParse(object).data?.data["fairlead.yaml"] ?? []);
  const [text] = texts;
  if (text === undefined || texts.length > 1) throw new Error(`there are ${texts.length} configurations`);
  return text;
}

/** What only Helm, or only something that Helm does not know, says about an object. */
const unshared = {
  labels: ["helm.sh/chart", "app.kubernetes.io/managed-by"],
  annotations: ["checksum/config"],
};

/**
 * Objects as both Helm and kustomize make them: without what only one of them says, names of generated ConfigMaps without
 * their digest, rules of a role in order.
 */
export function sharedByIdentity(objects: readonly InstalledObject[]): Readonly<Record<string, unknown>> {
  const generated = objects.flatMap(({ kind, metadata: { name } }) =>
    kind === "ConfigMap" && digest.test(name) ? [name] : [],
  );
  const plain: unknown = JSON.parse(JSON.stringify(objects), (key, part: unknown) => {
    if (typeof part === "string") return generated.includes(part) ? part.replace(digest, "") : part;
    if (key === "labels" || key === "annotations") return without(part, unshared[key]);
    return key === "rules" && Array.isArray(part) ? sorted(part) : part;
  });
  return byIdentity(z.array(installedObjectSchema).parse(plain));
}

/** The end of a name that kustomize generates: ten of these letters, so chosen that they form no word. */
const digest = /-[bcdfghkmt2456789]{10}$/;

function without(part: unknown, names: readonly string[]): unknown {
  if (typeof part !== "object" || part === null) return part;
  const left = Object.entries(part).filter(([name]) => !names.includes(name));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function sorted(rules: readonly unknown[]): readonly unknown[] {
  return [...rules].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}
