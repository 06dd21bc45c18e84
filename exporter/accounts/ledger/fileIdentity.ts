import { realpathSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Which file is at a path, by device and inode, whatever names it has; `null` if there is none. Two names of one file (a
 * symbolic or hard link, a bind mount) have the same identity; a file that has replaced another has a new one.
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
 * The name of a file without symbolic links, which SQLite uses for the log next to it; for a file that does not exist yet,
 * that of its folder.
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
