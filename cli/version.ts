import { readFileSync } from "node:fs";

/** Version of Fairlead, from the nearest package.json above this file (sources and `dist/` lie at different depths). */
export function readVersion(): string {
  for (const path of ["../package.json", "../../package.json"]) {
    try {
      const parsed: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
      if (typeof parsed === "object" && parsed !== null && "version" in parsed) return String(parsed.version);
    } catch {
      // The other depth is tried next.
    }
  }
  return "unknown";
}
