import type { Auth } from "../../config/prometheusSchema.ts";

/** Reads a file as text; rejects when the file cannot be read. */
export type ReadTextFile = (path: string) => Promise<string>;

/**
 * Texts of small files. They are read repeatedly, so that a rotated secret is picked up, but are kept for a few seconds, so
 * that ten thousand requests do not read one file ten thousand times.
 */
export interface SecretFiles {
  /** Text of the file; rejects when it cannot be read. */
  read(path: string): Promise<string>;
  /** Causes the file to be read again the next time. */
  forget(path: string): void;
}

export function createSecretFiles(readTextFile: ReadTextFile, now: () => number, keepSeconds = 10): SecretFiles {
  const kept = new Map<string, { readonly text: Promise<string>; readonly readAt: number }>();
  return {
    read: (path) => {
      const known = kept.get(path);
      if (known !== undefined && now() - known.readAt < keepSeconds) return known.text;
      const text = readTextFile(path);
      kept.set(path, { text, readAt: now() });
      text.catch(() => kept.delete(path));
      return text;
    },
    forget: (path) => {
      kept.delete(path);
    },
  };
}

/** The file that holds the secret; `null` without credentials. */
export function secretFileOf(auth: Auth): string | null {
  if (auth.kind === "bearer") return auth.tokenFile;
  return auth.kind === "basic" ? auth.passwordFile : null;
}

/** Value of the `authorization` header; `null` without credentials. Rejects when the file is unreadable or empty. */
export async function authorization(auth: Auth, files: SecretFiles): Promise<string | null> {
  const path = secretFileOf(auth);
  if (path === null) return null;
  const secret = (await files.read(path)).replace(/[\r\n]+$/, "");
  if (secret === "" || /[\r\n\0]/.test(secret)) throw new Error("empty or more than one line");
  if (auth.kind !== "basic") return `Bearer ${secret}`;
  return `Basic ${Buffer.from(`${auth.username}:${secret}`, "utf8").toString("base64")}`;
}
