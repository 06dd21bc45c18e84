import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, loadavg, totalmem } from "node:os";

/** The machine on which numbers were measured. */
export interface Machine {
  readonly cores: number;
  readonly cpuModel: string;
  readonly memoryGiB: number;
  readonly node: string;
  readonly kernel: string;
  readonly packages: Readonly<Record<string, string>>;
}

/** Numbers that are measured above this load average are not recorded: the same code was twice as slow under load 5. */
export const maxLoad = 1.5;

const namedPackages = ["undici", "prom-client", "@kubernetes/client-node", "express", "zod"] as const;

/** Describes this machine and the versions that matter. */
export function describeMachine(): Machine {
  const all = cpus();
  return {
    cores: all.length,
    cpuModel: all[0]?.model.trim() ?? "unknown",
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    kernel: readFileSync("/proc/sys/kernel/osrelease", "utf8").trim(),
    packages: Object.fromEntries(namedPackages.map((name) => [name, installedVersion(name)])),
  };
}

/** The load average of the last minute. */
export function loadNow(): number {
  return loadavg()[0] ?? 0;
}

/** The CPU seconds for which all cores of the machine together were busy since it started. */
export function busySeconds(): number {
  const line = readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? "";
  const [user = 0, nice = 0, system = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system) / clockTicksPerSecond;
}

/** `USER_HZ`: it is 100 on every current Linux. */
export const clockTicksPerSecond = 100;

function installedVersion(name: string): string {
  // Some packages do not export their package.json.
  const require = createRequire(import.meta.url);
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const found: unknown = JSON.parse(readFileSync(`${folder}/${name}/package.json`, "utf8"));
      if (typeof found === "object" && found !== null && "version" in found) return String(found.version);
    } catch {
      // The package is not in this folder.
    }
  }
  return "not installed";
}
