import { realpathSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Which file is at a path, by device and inode, whatever names it has; `null` if there is none. Two names of one file (a
 * symbolic or hard link, a bind mount) have the same, a file that was put in another's place has another.
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
 * The name of a file without symbolic links, which is the one that SQLite gives to the log beside it; of a file that is still to
 * be made, the folder's.
 */
export function realName(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // Nothing there yet.
  }
  try {
    return path.join(realpathSync(path.dirname(file)), path.basename(file));
  } catch {
    return file;
  }
}
