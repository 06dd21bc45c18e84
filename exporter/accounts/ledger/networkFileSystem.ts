import { statfsSync } from "node:fs";
import path from "node:path";
import type { Problem } from "../../model/problem.ts";
import { ledgerProblem } from "./ledgerProblem.ts";

/**
 * Numbers of network file systems in statfs(2) (linux/magic.h), which SQLite cannot distinguish from a disk: a write-ahead log on them
 * opens, and is damaged when a second machine mounts it (https://www.sqlite.org/wal.html). Where such a file system cannot lock or
 * share memory at all, and on those that have no number of their own (FUSE), SQLite's own answer refuses the ledger.
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
export function networkFileSystem(type: number): string | null {
  return networkFileSystems.get(type >>> 0) ?? null;
}

/** Why a ledger cannot lie in its folder, if that is on a network file system. */
export function networkRefusal(
  file: string,
  statfs: (folder: string) => { readonly type: number } = statfsSync,
): Problem | null {
  let name: string | null = null;
  try {
    name = networkFileSystem(statfs(path.dirname(file)).type);
  } catch {
    // SQLite itself finds out what cannot be known here.
  }
  return name === null
    ? null
    : ledgerProblem(
        "ledger-no-wal",
        file,
        `lies on ${name}, a network file system, which cannot hold a write-ahead log`,
      );
}
