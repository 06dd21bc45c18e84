/**
 * Which functions are hot? Runs bench/cycle.ts under the CPU profiler and prints self time by folder and by function.
 * `node bench/profile.ts [--nodes=1000] [--samples=7] [--out=FILE]`
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** The parts of a `.cpuprofile` that are used (Chrome DevTools Protocol, Profiler.Profile). */
interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const { values } = parseArgs({
  options: {
    nodes: { type: "string", default: "1000" },
    samples: { type: "string", default: "7" },
    out: { type: "string" },
  },
});
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "fairlead-profile-"));
const ran = spawnSync(
  process.execPath,
  [
    "--expose-gc",
    "--cpu-prof",
    `--cpu-prof-dir=${folder}`,
    join(root, "bench/cycle.ts"),
    `--nodes=${values.nodes}`,
    `--samples=${values.samples}`,
    "--any-load",
  ],
  { stdio: ["ignore", "ignore", "inherit"] },
);
if (ran.status !== 0) process.exit(ran.status ?? 1);
// The processes of the fleet are started without the profiler's flag, so there is one file.
const [file] = readdirSync(folder);
const profile: CpuProfile = JSON.parse(readFileSync(join(folder, file ?? ""), "utf8"));
rmSync(folder, { recursive: true });

const byId = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
const folders = new Map<string, number>();
const functions = new Map<string, number>();
let total = 0;
for (const [index, id] of profile.samples.entries()) {
  const frame = byId.get(id);
  const micros = profile.timeDeltas[index] ?? 0;
  if (frame === undefined || frame.functionName === "(idle)") continue;
  total += micros;
  const folder = folderOf(frame.url, frame.functionName);
  const place = frame.url.startsWith("file://") ? `${shortPath(frame.url)}:${frame.lineNumber + 1}` : frame.url;
  const name = `${frame.functionName === "" ? "(anonymous)" : frame.functionName} ${place}`.trim();
  folders.set(folder, (folders.get(folder) ?? 0) + micros);
  functions.set(name, (functions.get(name) ?? 0) + micros);
}
const table = (title: string, times: ReadonlyMap<string, number>, most: number): string => {
  const rows = [...times].toSorted(([, a], [, b]) => b - a).slice(0, most);
  const lines = rows.map(([name, micros]) => `| ${((micros / total) * 100).toFixed(1)} % | ${name} |`);
  return `| self time | ${title} |\n|---|---|\n${lines.join("\n")}\n`;
};
const text = `${table("folder", folders, 16)}\n${table("function", functions, 30)}`;
if (values.out === undefined) process.stdout.write(text);
else writeFileSync(values.out, text);

function shortPath(url: string): string {
  const path = fileURLToPath(url);
  return path.startsWith(root) ? path.slice(root.length) : path;
}

/** The folder or package of a function: `exporter/join`, `npm undici`, `node`, `(garbage collector)`. */
function folderOf(url: string, functionName: string): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "V8 and native code";
  if (url.startsWith("node:")) return "node";
  if (!url.startsWith("file:")) return url.split(":", 1)[0] ?? url;
  const path = shortPath(url);
  const npm = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
  if (npm !== null) return `npm ${npm[1]}`;
  const parts = path.split("/");
  return parts.slice(0, Math.min(parts.length - 1, parts[1] === "sources" ? 3 : 2)).join("/");
}
