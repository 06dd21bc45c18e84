import path from "node:path";
import type { z } from "zod";
import { checkValue } from "./checkValue.ts";
import type { ConfigResult } from "./configError.ts";
import { type FileSetting, resolveFiles } from "./fileReferences.ts";
import { type Config, configSchema } from "./schema.ts";
import { parseYaml, readYamlFile } from "./yamlFile.ts";

/** The settings of `configSchema` that name files. */
const fileSettings: readonly FileSetting[] = [
  ["kubernetes", "kubeconfig"],
  ["dcgm", "discovery", "[]", "caFile"],
  ["dcgm", "targets", "[]", "caFile"],
  ["dcgm", "targets", "[]", "auth", "tokenFile"],
  ["dcgm", "targets", "[]", "auth", "passwordFile"],
  ["otlp", "headersFile"],
  ["dcgm", "prometheus", "caFile"],
  ["dcgm", "prometheus", "auth", "tokenFile"],
  ["dcgm", "prometheus", "auth", "passwordFile"],
  ["prices", "file"],
  ["prices", "openCost", "caFile"],
  ["prices", "openCost", "auth", "tokenFile"],
  ["prices", "openCost", "auth", "passwordFile"],
  ["history", "prometheus", "caFile"],
  ["history", "prometheus", "auth", "tokenFile"],
  ["history", "prometheus", "auth", "passwordFile"],
];

/** Reads, checks and completes the configuration file. File names in the result are absolute. */
export async function loadConfig(file: string): Promise<ConfigResult<Config>> {
  const loaded = await loadFile(file, configSchema, fileSettings);
  if (!loaded.ok || loaded.value.ledger === undefined) return loaded;
  // The one file that need not be there yet.
  const ledger = { ...loaded.value.ledger, path: path.resolve(path.dirname(file), loaded.value.ledger.path) };
  return { ok: true, value: { ...loaded.value, ledger } };
}

/** Checks the text of a configuration without looking at the files that it names. */
export function parseConfig(text: string): ConfigResult<Config> {
  const yaml = parseYaml(text);
  return yaml.ok ? checkValue(configSchema, yaml.value) : yaml;
}

/** Reads a YAML file, checks it against a schema, and checks and resolves the files that it names. */
export async function loadFile<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  settings: readonly FileSetting[],
): Promise<ConfigResult<z.output<Schema>>> {
  const yaml = await readYamlFile(file);
  if (!yaml.ok) return yaml;
  const { data, errors } = await resolveFiles(yaml.value, file, settings);
  const checked = checkValue(schema, data);
  if (checked.ok && errors.length === 0) return checked;
  return { ok: false, errors: [...(checked.ok ? [] : checked.errors), ...errors] };
}
