import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import path from "node:path";
import { type ConfigError, formatPath } from "./configError.ts";

/** Where a setting that names a file can are; `[]` is every entry of a list. */
export type FileSetting = readonly string[];

/** A configuration with absolute file names, and what is wrong with the files. */
export interface ResolvedFiles {
  readonly data: unknown;
  readonly errors: readonly ConfigError[];
}

/**
 * Makes the file names of a configuration absolute, relative to the folder of the file that they are in, and checks
 * that each can be read. Works on data that has not been checked yet, so that all errors are found in one go.
 */
export async function resolveFiles(
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
  if (!isMap(value) || !Object.hasOwn(value, key)) return [];
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

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
