import { existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { parseJson } from "../../kernel/parseJson.ts";

/**
 * The identity of the file at a path, by device and inode, whatever names it has; `null` if there is none. Two names of one
 * file (a symbolic or hard link, a bind mount) have the same identity; a file that has replaced another has a new one.
 */
export function fileIdentity(file: string): string | null {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

/**
 * The name of a file without symbolic links, which SQLite uses for the log next to it. For a file that does not exist yet, the
 * links of its folder are resolved.
 */
export function realName(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // There is no such file yet.
  }
  try {
    return path.join(realpathSync(path.dirname(file)), path.basename(file));
  } catch {
    return file;
  }
}

/** The files that a writer opened under a name, by `fileIdentity`. */
export interface OpenedFiles {
  readonly file: string;
  /** The identity of its write-ahead log (-wal). */
  readonly log: string;
}

const openedFiles = z.object({ file: z.string(), log: z.string() });

const recordOf = (file: string): string => `${file}-opened`;

/** The files that exist now under a name; `null` without a ledger or without a log. */
export function filesAt(name: string): OpenedFiles | null {
  const [file, log] = [fileIdentity(name), fileIdentity(`${name}-wal`)];
  return file === null || log === null ? null : { file, log };
}

/** Records next to the ledger which files the writer has opened, so that the next writer knows whose log it finds there. */
export function noteOpened(name: string, opened: OpenedFiles): void {
  const before = lastOpened(name);
  if (before?.file === opened.file && before.log === opened.log) return;
  writeFileSync(recordOf(name), `${JSON.stringify(opened)}\n`);
}

/** The files that were last opened under this name; `null` if they were not recorded. */
export function lastOpened(name: string): OpenedFiles | null {
  try {
    const parsed = openedFiles.safeParse(parseJson(readFileSync(recordOf(name), "utf8")));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/**
 * Moves the log of `opened` aside if another file has taken that ledger's place: SQLite would apply the log to the new file,
 * which would then be malformed. Only the log that was opened with that ledger is touched. Returns the log's new name; `null`
 * if there was none to move. The log's index (-shm) contains nothing that is not in the log, and is removed.
 */
export function setAsideLog(name: string, opened: OpenedFiles | null): string | null {
  const log = `${name}-wal`;
  const isReplaced = opened !== null && fileIdentity(name) !== opened.file && fileIdentity(log) === opened.log;
  if (!isReplaced) return null;
  rmSync(`${name}-shm`, { force: true });
  if (statSync(log).size === 0) {
    rmSync(log);
    return null;
  }
  const aside = freeName((number) => `${name}.replaced-${number}-wal`);
  renameSync(log, aside);
  return aside;
}

/** The first of these names that no file has; `nameOf` is called with 1, 2, 3 and so on. */
export function freeName(nameOf: (number: number) => string): string {
  for (let number = 1; ; number++) {
    const name = nameOf(number);
    if (!existsSync(name)) return name;
  }
}
