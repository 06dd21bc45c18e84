import { isRecord } from "../../exporter/kernel/parseJson.ts";

/** Fields that may hold passwords and tokens, and that no answer is made of, wherever they are in an object. */
const secretFields: ReadonlySet<string> = new Set([
  "args",
  "arguments",
  "command",
  "data",
  "entrypoint",
  "env",
  "envFrom",
  "envVars",
  "hadoopConf",
  "kubectl.kubernetes.io/last-applied-configuration",
  "rayStartParams",
  "runtimeEnvYAML",
  "sparkConf",
  "stringData",
]);

/** A copy without what may hold secrets. Of the managed fields, only the times are kept, which show how old the object is. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !secretFields.has(name));
  return Object.fromEntries(
    kept.map(([name, of]) => [name, name === "managedFields" ? timesOf(of) : withoutSecrets(of)]),
  );
}

function timesOf(managedFields: unknown): unknown {
  if (!Array.isArray(managedFields)) return [];
  return managedFields.flatMap((entry: unknown) => (isRecord(entry) && "time" in entry ? [{ time: entry.time }] : []));
}
