import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { smallTraceFolder } from "./openb/smallTrace.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = smallTraceFolder();

/** Runs the command; with `broken`, a file of the exporter is read with one text replaced by another. */
function run(broken: { readonly file: string; readonly from: string; readonly to: string } | null): string {
  const hook = join(folder, "break.mjs");
  writeFileSync(
    hook,
    `import { registerHooks } from "node:module";
const broken = ${JSON.stringify(broken)};
registerHooks({
  load(url, context, next) {
    const found = next(url, context);
    if (broken === null || !url.endsWith(broken.file)) return found;
    const source = String(found.source);
    if (!source.includes(broken.from)) throw new Error("nothing to break in " + url);
    return { ...found, source: source.replace(broken.from, broken.to) };
  },
});
`,
  );
  const args = ["--import", hook, "bench/backtest/main.ts", "openb", folder, "--print", "--seeds", "2", "--every", "1"];
  return execFileSync(process.execPath, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

describe("npm run backtest", () => {
  it("prints the same bytes twice, and others when the engine of the exporter is broken", () => {
    const sound = run(null);
    expect(sound).toMatch(/^digest [0-9a-f]{16}\n/);
    expect(run(null)).toBe(sound);
    const blind = {
      file: "/exporter/analysis/blocked/findBlocked.ts",
      from: "return found.work.length === 0 ? nothingBlocked",
      to: "return true ? nothingBlocked",
    };
    expect(run(blind)).not.toBe(sound);
    const stingy = {
      file: "/exporter/advice/assess.ts",
      from: "const notWorth = isObserving ? null",
      to: 'const notWorth = !isObserving ? "nothing is ever worth it"',
    };
    expect(run(stingy)).not.toBe(sound);
  });
});
