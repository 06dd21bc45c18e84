import { analyse } from "../../exporter/analysis/analyse.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { join } from "../../exporter/join/join.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import { buildDocument } from "../../exporter/publish/document/buildDocument.ts";
import { overview } from "../../exporter/publish/terminal/overview.ts";
import type { ExitCode, Io } from "../io.ts";
import { readConfig } from "../readConfig.ts";
import { readDump } from "./readDump.ts";
import { readDumpFiles } from "./readFiles.ts";

/** Options of `fairlead inspect`. */
export interface InspectOptions {
  readonly paths: readonly string[];
  readonly output: "table" | "json";
  /** RFC 3339 or seconds since the epoch; `null` takes the dump's own time. */
  readonly at: string | null;
  readonly configFile: string | null;
}

/** Says of a captured dump what `serve` would say of the cluster at that moment. */
export async function inspect(options: InspectOptions, io: Io): Promise<ExitCode> {
  const at = options.at === null ? null : parseTime(options.at);
  if (at === undefined) {
    io.err(
      `fairlead: --at: found ${JSON.stringify(options.at)}, expected a time such as 2026-11-20T14:00:00Z or seconds since 1970\nNext step: leave --at out to take the time from the dump.\n`,
    );
    return 2;
  }
  const config = options.configFile === null ? defaultConfig : await readConfig(options.configFile, io);
  if (config === null) return 1;
  const files = [];
  const problems = [];
  for (const path of options.paths) {
    const read = await readDumpFiles(path);
    if (read === null) {
      io.err(
        `fairlead: ${path} does not exist or cannot be read\nNext step: give a folder with *.prom pages and kubectl get -o json|yaml files.\n`,
      );
      return 1;
    }
    files.push(...read.files);
    problems.push(...read.problems);
  }
  if (files.length === 0) {
    io.err(`fairlead: no *.prom, *.json or *.yaml file in ${options.paths.join(", ")}\n`);
    io.err(
      "Next step: curl -s NODE:9400/metrics > NODE.prom; kubectl get nodes,pods,namespaces -A -o json > objects.json\n",
    );
    return 1;
  }
  return report({ files, problems }, config, at, options.output, io);
}

function report(
  files: Parameters<typeof readDump>[0],
  config: Config,
  at: number | null,
  output: "table" | "json",
  io: Io,
): ExitCode {
  const dump = readDump(files, config, at);
  const { snapshot } = join(dump.state, emptyMemory, config, dump.at);
  const analysis = analyse(snapshot, {
    idleBatchSeconds: config.idle.batchSeconds,
    idleServingSeconds: config.idle.servingSeconds,
  });
  io.out(output === "json" ? `${JSON.stringify(buildDocument(analysis), null, 2)}\n` : `${overview(analysis)}\n`);
  return 0;
}

/** `undefined` for text that is no time. */
function parseTime(text: string): number | undefined {
  if (/^\d{9,11}(\.\d+)?$/.test(text)) return Number(text);
  if (!/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(text)) return undefined;
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : text.length > 10 ? `${text}Z` : text;
  const milliseconds = Date.parse(zoned.replace(" ", "T"));
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}
