import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";
import type { z } from "zod";
import { isRecord } from "../kernel/parseJson.ts";
import { checkValue } from "./checkValue.ts";
import { type ConfigError, type ConfigResult, formatPath } from "./configError.ts";
import { type Config, configSchema } from "./schema.ts";
import { parseYaml, readYamlFile } from "./yamlFile.ts";

/** The settings of `configSchema` that name files. */
const fileSettings: readonly FileSetting[] = [
  ["kubernetes", "kubeconfig"],
  ["dcgm", "discovery", "[]", "caFile"],
  ...filesOfServer("dcgm", "targets", "[]"),
  ["otlp", "headersFile"],
  ...filesOfServer("dcgm", "prometheus"),
  ["prices", "file"],
  ...filesOfServer("prices", "openCost"),
  ...filesOfServer("history", "prometheus"),
];

function filesOfServer(...place: FileSetting): readonly FileSetting[] {
  return [["caFile"], ["auth", "tokenFile"], ["auth", "passwordFile"]].map((key) => [...place, ...key]);
}

/** Reads and checks the configuration file, and adds defaults. File names in the result are absolute. */
export async function loadConfig(file: string): Promise<ConfigResult<Config>> {
  const loaded = await loadFile(file, configSchema, fileSettings);
  if (!loaded.ok || loaded.value.ledger === undefined) return loaded;
  // The ledger is the only file that need not exist yet.
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

/** The place of a setting that names a file; `[]` stands for every entry of a list. */
type FileSetting = readonly string[];

/** A configuration with absolute file names, and the errors of the files. */
interface ResolvedFiles {
  readonly data: unknown;
  readonly errors: readonly ConfigError[];
}

/**
 * Makes the file names of a configuration absolute, relative to the folder of the file that they are in, and checks that each
 * can be read. The data need not have been checked yet, so that all errors are found at once.
 */
async function resolveFiles(
  data: unknown,
  configFile: string,
  settings: readonly FileSetting[],
): Promise<ResolvedFiles> {
  const copy: unknown = structuredClone(data);
  const errors: ConfigError[] = [];
  for (const setting of settings) {
    for (const { holder, key, place } of findSettings(copy, setting, [])) {
      const written = holder[key];
      if (typeof written !== "string" || written === "") continue;
      const resolved = path.resolve(path.dirname(configFile), written);
      const problem = await fileProblem(written, resolved, configFile);
      if (problem !== null) errors.push({ path: formatPath(place), message: problem });
      holder[key] = resolved;
    }
  }
  return { data: copy, errors };
}

interface Found {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly place: readonly PropertyKey[];
}

function findSettings(value: unknown, setting: FileSetting, place: readonly PropertyKey[]): Found[] {
  const [key, ...rest] = setting;
  if (key === undefined) return [];
  if (key === "[]") {
    return Array.isArray(value) ? value.flatMap((entry, index) => findSettings(entry, rest, [...place, index])) : [];
  }
  if (!isRecord(value) || !Object.hasOwn(value, key)) return [];
  return rest.length === 0
    ? [{ holder: value, key, place: [...place, key] }]
    : findSettings(value[key], rest, [...place, key]);
}

async function fileProblem(written: string, resolved: string, configFile: string): Promise<string | null> {
  try {
    const found = await stat(resolved);
    if (found.isDirectory()) return `${written} is a folder, expected a file`;
    await access(resolved, constants.R_OK);
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EACCES") return `${written} cannot be read: no permission`;
    const looked = path.isAbsolute(written) ? "" : ` (looked in the folder of ${path.basename(configFile)})`;
    return `${written} does not exist${looked}`;
  }
}
