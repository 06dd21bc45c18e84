import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import type { Problem } from "../../exporter/model/problem.ts";

/** One file of a dump. */
export interface DumpFile {
  readonly path: string;
  /** Name of the file without folder and ending. */
  readonly stem: string;
  readonly kind: "page" | "objects";
  readonly bytes: Buffer;
  /** When the file was written, seconds since the epoch. */
  readonly modifiedAt: number;
}

export interface DumpFiles {
  readonly files: readonly DumpFile[];
  readonly problems: readonly Problem[];
}

const pageEndings: ReadonlySet<string> = new Set([".prom", ".metrics"]);
const objectEndings: ReadonlySet<string> = new Set([".json", ".yaml", ".yml"]);
/** The most files that are read. It is enough for any dump by hand, and ends the search where a folder was given by mistake. */
const maxFiles = 20_000;
const maxDepth = 6;
const maxFileBytes = 512 * 1024 * 1024;

/** Reads every page and object file below a folder, or one file. `null` when the path does not exist or cannot be read. */
export async function readDumpFiles(path: string): Promise<DumpFiles | null> {
  const problems: Problem[] = [];
  const paths = await listFiles(path, problems);
  if (paths === null) return null;
  const files: DumpFile[] = [];
  for (const file of paths) {
    const ending = extname(file).toLowerCase();
    const kind = pageEndings.has(ending) ? "page" : objectEndings.has(ending) ? "objects" : null;
    if (kind === null) continue;
    try {
      const info = await stat(file);
      if (info.size > maxFileBytes)
        problems.push(skipped(file, `it has ${info.size} bytes; the limit is ${maxFileBytes}`));
      else
        files.push({
          path: file,
          stem: basename(file, extname(file)),
          kind,
          bytes: await readFile(file),
          modifiedAt: info.mtimeMs / 1000,
        });
    } catch (error) {
      problems.push(skipped(file, error instanceof Error ? error.message : String(error)));
    }
  }
  return { files, problems };
}

async function listFiles(path: string, problems: Problem[]): Promise<readonly string[] | null> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
  } catch {
    return null;
  }
  const found: string[] = [];
  await walk(path, 0, found, problems);
  if (found.length >= maxFiles) problems.push(skipped(path, `more than ${maxFiles} files; the rest is left out`));
  return found;
}

async function walk(folder: string, depth: number, found: string[], problems: Problem[]): Promise<void> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (found.length >= maxFiles) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < maxDepth && !entry.name.startsWith("."))
        await walk(path, depth + 1, found, problems);
      else if (entry.isFile()) found.push(path);
    }
  } catch (error) {
    problems.push(skipped(folder, error instanceof Error ? error.message : String(error)));
  }
}

/** The problem of a file that is left out, with the reason. */
export function skipped(path: string, why: string): Problem {
  return {
    source: "inspect",
    code: "file-skipped",
    severity: "warning",
    subject: path,
    message: `${path} is left out: ${why}`,
    nextStep: "Correct or remove the file, and run inspect again.",
  };
}
