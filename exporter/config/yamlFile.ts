import { open } from "node:fs/promises";
import { type Document, isScalar, LineCounter, parseDocument, visit, type YAMLError } from "yaml";
import type { ConfigError, ConfigResult } from "./configError.ts";

/** The largest configuration file in bytes. People write these files, so a larger one is a mistake. */
export const maxFileBytes = 1024 * 1024;

/** The most uses of anchors: more than people write, and fewer than it takes to fill memory. */
const maxAliases = 100;

/** The most syntax errors that are shown; further ones mostly follow from the first. */
const maxSyntaxErrors = 10;

const tooDeep = "is nested too deeply to be read, expected a few levels";

/** Parses YAML 1.2 (and JSON) as data. An empty file is an empty map. */
export function parseYaml(text: string): ConfigResult<unknown> {
  try {
    const lines = new LineCounter();
    const document = parseDocument(text, { uniqueKeys: false, lineCounter: lines });
    if (document.errors.some((error) => error.message.startsWith("Maximum call stack"))) return failure(tooDeep);
    const errors = [...document.errors.map(yamlError), ...repeatedKeys(document, lines)];
    if (errors.length > 0) return { ok: false, errors: errors.slice(0, maxSyntaxErrors) };
    const value: unknown = document.toJS({ maxAliasCount: maxAliases });
    return { ok: true, value: withoutEmpty(value) ?? {} };
  } catch (error) {
    if (error instanceof ReferenceError && error.message.startsWith("Excessive")) {
      return failure(`uses its anchors more than ${maxAliases} times, expected fewer: write the values out`);
    }
    if (error instanceof RangeError) return failure(tooDeep);
    if (error instanceof Error) return failure(`is not valid YAML: ${firstLine(error.message)}`);
    throw error;
  }
}

/** Reads a YAML file of at most 1 MiB. */
export async function readYamlFile(file: string): Promise<ConfigResult<unknown>> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file);
  } catch (error) {
    return failure(openProblem(error));
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return failure("is not a file, expected a YAML file");
    const buffer = Buffer.alloc(Math.min(stat.size, maxFileBytes) + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > maxFileBytes) return failure(`is larger than 1 MiB (${stat.size} bytes), expected a smaller file`);
    return parseYaml(new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, bytesRead)));
  } catch (error) {
    const why = error instanceof Error ? firstLine(error.message) : String(error);
    return failure(`cannot be read as text (${why}), expected UTF-8`);
  } finally {
    await handle.close();
  }
}

/** The value without empty settings: a setting without a value (`kubeconfig:`) counts as absent. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, entry]) => entry !== null);
  return Object.fromEntries(kept.map(([key, entry]) => [key, withoutEmpty(entry)]));
}

function yamlError(error: YAMLError): ConfigError {
  const at = error.linePos?.[0];
  const place = at === undefined ? "" : `line ${at.line}, column ${at.col}: `;
  if (error.code === "MULTIPLE_DOCS")
    return { path: "", message: `${place}a second document begins here, expected one` };
  return { path: "", message: `${place}${firstLine(error.message).replace(/ at line \d+, column \d+:?$/, "")}` };
}

/**
 * Finds keys that occur twice. The parser's own check compares each key with every other, which takes minutes for what fits
 * into a file.
 */
function repeatedKeys(document: Document.Parsed, lines: LineCounter): ConfigError[] {
  const errors: ConfigError[] = [];
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) {
          const { line, col } = lines.linePos(key.range?.[0] ?? 0);
          const shown = JSON.stringify(name.slice(0, 60));
          errors.push({ path: "", message: `line ${line}, column ${col}: ${shown} is given twice, expected once` });
        }
        seen.add(name);
      }
    },
  });
  return errors;
}

function failure(message: string): ConfigResult<never> {
  return { ok: false, errors: [{ path: "", message: `the file ${message}` }] };
}

function openProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT") return "does not exist; write one, or leave the option out to use the defaults";
  if (code === "EACCES") return "cannot be opened: no permission to read it";
  if (code === "EISDIR") return "is not a file, expected a YAML file";
  return `cannot be opened (${String(code)})`;
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? text;
}
