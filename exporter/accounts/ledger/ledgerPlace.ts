import { readFileSync, statfsSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Problem } from "../../model/problem.ts";
import { busyMilliseconds } from "./ledgerFile.ts";
import { ledgerProblem } from "./ledgerProblem.ts";
import { fileIdentity, lastOpened } from "./openedFile.ts";
import { sqliteProblem } from "./sqliteError.ts";

/** The mounts of this process: https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html. */
const mountTable = "/proc/self/mountinfo";

/**
 * The reason why a file cannot be a ledger because of its names; `null` if there is none. The write-ahead log and the writer's
 * lock are next to the name that is opened: with a second hard link, or where the file alone is mounted, another process would
 * have a log and a lock of its own.
 */
export function nameRefusal(file: string, mounts: () => string = readMounts): Problem | null {
  const links = linksOf(file);
  if (links > 1) return ledgerProblem("ledger-linked", file, `has ${links} names (hard links)`);
  if (isMountPoint(file, mounts()))
    return ledgerProblem("ledger-linked", file, "is a mount of one file, not of its folder");
  return null;
}

/**
 * The problem that a file may be open elsewhere: it was not opened under this name before, and a process has it open under
 * another name. `null` if it is not open. It is found by the locks that SQLite holds on the file itself, which the kernel keeps
 * by inode, whatever name they were taken under.
 */
export function openElsewhere(file: string): Problem | null {
  const identity = fileIdentity(file);
  if (identity === null || lastOpened(file)?.file === identity) return null;
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(file, { timeout: busyMilliseconds });
    db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
    return null;
  } catch (error) {
    const problem = sqliteProblem(error, file, "cannot be taken over");
    if (problem.code !== "ledger-locked") return problem;
    return ledgerProblem("ledger-locked", file, "is open in another process, which may write it under another name");
  } finally {
    db?.close();
  }
}

function linksOf(file: string): number {
  try {
    return statSync(file).nlink;
  } catch {
    return 0;
  }
}

function isMountPoint(file: string, mounts: string): boolean {
  return mounts.split("\n").some((line) => plainPath(line.split(" ")[4] ?? "") === file);
}

/** The path without the kernel's escapes of blanks and backslashes. */
function plainPath(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function readMounts(): string {
  try {
    return readFileSync(mountTable, "utf8");
  } catch {
    // This is not Linux: such mounts do not exist here.
    return "";
  }
}

/**
 * Numbers of network file systems in statfs(2) (linux/magic.h), which SQLite cannot distinguish from a disk: a write-ahead log
 * on them opens, and is damaged when a second machine mounts it (https://www.sqlite.org/wal.html). Where such a file system
 * cannot lock or share memory at all, and on those that have no number of their own (FUSE), SQLite's own answer refuses the
 * ledger.
 */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB"],
  [0xff534d42, "CIFS"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
]);

/** The name of a network file system by its number; `null` for all others. The number may come with a sign. */
function networkFileSystem(type: number): string | null {
  return networkFileSystems.get(type >>> 0) ?? null;
}

/** The problem that a ledger is in a folder on a network file system; `null` if it is not. */
export function networkRefusal(
  file: string,
  statfs: (folder: string) => { readonly type: number } = statfsSync,
): Problem | null {
  let name: string | null = null;
  try {
    name = networkFileSystem(statfs(path.dirname(file)).type);
  } catch {
    // SQLite itself notices later what cannot be found out here.
  }
  return name === null
    ? null
    : ledgerProblem(
        "ledger-no-wal",
        file,
        `lies on ${name}, a network file system, which cannot hold a write-ahead log`,
      );
}
