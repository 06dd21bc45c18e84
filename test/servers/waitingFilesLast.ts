import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { neededServers } from "./neededServers.ts";

const obtain = fileURLToPath(new URL("../tools/obtain-servers.sh", import.meta.url));

/**
 * Starts to obtain the servers that are not there yet and that these test files need, and lets the files wait their turn:
 * first those that need none of them, then each after the last that it needs.
 */
export class WaitingFilesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const missing = execFileSync("bash", [obtain, "--missing"], { encoding: "utf8" }).split("\n").filter(Boolean);
    const needed = new Map(
      sorted.map((file) => [file, neededServers(file.moduleId).map((script) => missing.indexOf(nameOf(script)))]),
    );
    const turn = (file: TestSpecification): number => Math.max(-1, ...(needed.get(file) ?? []));
    const wanted = new Set([...needed.values()].flat());
    startToObtain(missing.filter((_, place) => wanted.has(place)));
    return sorted.toSorted((a, b) => turn(a) - turn(b));
  }
}

const nameOf = (script: string): string => script.replace(/^install-(.*)\.sh$/, "$1");

/** Beside the tests, at low priority; what is not done when they end is left for the next time. */
function startToObtain(names: readonly string[]): void {
  if (names.length === 0) return;
  const child = spawn("nice", ["bash", obtain, ...names], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  child.stdout.pipe(process.stderr, { end: false });
  child.unref();
  process.once("exit", () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
  });
}
