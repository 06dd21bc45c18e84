import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const tools = fileURLToPath(new URL("../tools/", import.meta.url));
const imported = /^(?:import|export) (?!type )[^"';]*? from "(\.[^"]+\.ts)";$/gm;

/** The scripts of test/tools that a test file names, or a module that it imports: what must be there before it can run. */
export function neededServers(testFile: string): readonly string[] {
  const scripts = new Set<string>();
  const seen = new Set<string>();
  const read = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = readFileSync(path, "utf8");
    for (const [script] of text.matchAll(/\binstall-[a-z-]+\.sh(?=")/g)) scripts.add(script);
    for (const [, other = ""] of text.matchAll(imported)) read(resolve(dirname(path), other));
  };
  read(testFile);
  return [...scripts];
}

/** Whether the tests can do without it: then its script says how long a build takes, and heeds the deadline. */
export const isDispensable = (script: string): boolean =>
  /^readonly BUILD_SECONDS=/m.test(readFileSync(`${tools}${script}`, "utf8"));
