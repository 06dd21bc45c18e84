import { analyse, analysisSettings } from "../../exporter/analysis/analyse.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { priceProblems } from "../../exporter/analysis/prices/priceProblems.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { join } from "../../exporter/join/join.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import type { ObjectKind } from "../../exporter/model/cluster.ts";
import type { ExitCode, Io } from "../io.ts";
import { pricesWithoutServer } from "../prices.ts";
import { readConfig } from "../readConfig.ts";
import { missingKinds } from "./missingKinds.ts";
import { readDump } from "./readDump.ts";
import { type DumpFiles, readDumpFiles } from "./readFiles.ts";

/** Where a captured dump is, and how it is read. */
export interface DumpOptions {
  readonly paths: readonly string[];
  /** The moment of the dump: RFC 3339 or seconds since the epoch; `null` takes the dump's own time. */
  readonly at: string | null;
  readonly configFile: string | null;
}

/** The answers of a dump's moment. */
export interface ReadMoment {
  readonly ok: true;
  readonly analysis: Analysis;
  readonly config: Config;
  /** Kinds that the dump has, including kinds without any object. */
  readonly known: ReadonlySet<ObjectKind>;
}

/** The answers of a dump's moment; else what was wrong has been said, and the command ends with `code`. */
export type DumpMoment = ReadMoment | { readonly ok: false; readonly code: ExitCode };

/** The next step that says how to take a dump. */
export const howToTakeADump =
  "take a dump as docs/inspect.md says: kubectl get KIND -A -o json for each kind, curl NODE:9400/metrics for each GPU node.";

/** Reads a dump, joins and analyses it as one cycle would. */
export async function analyseDump(options: DumpOptions, io: Io): Promise<DumpMoment> {
  const at = options.at === null ? null : parseTime(options.at);
  if (at === undefined) {
    io.err(
      `fairlead: --at: found ${JSON.stringify(options.at)}, expected a time such as 2026-11-20T14:00:00Z or seconds since 1970\nNext step: leave --at out to take the time from the dump.\n`,
    );
    return { ok: false, code: 2 };
  }
  const config = options.configFile === null ? defaultConfig : await readConfig(options.configFile, io);
  if (config === null) return { ok: false, code: 1 };
  const files = [];
  const problems = [];
  for (const path of options.paths) {
    const read = await readDumpFiles(path);
    if (read === null) {
      io.err(
        `fairlead: ${path} does not exist or cannot be read\nNext step: give a folder with *.prom pages and kubectl get -o json|yaml files.\n`,
      );
      return { ok: false, code: 1 };
    }
    files.push(...read.files);
    problems.push(...read.problems);
  }
  if (files.length === 0) {
    io.err(`fairlead: no *.prom, *.json or *.yaml file in ${options.paths.join(", ")}\n`);
    io.err(`Next step: ${howToTakeADump}\n`);
    return { ok: false, code: 1 };
  }
  return await analyseFiles({ files, problems }, config, at);
}

/**
 * Analyses files that were read already, or that were never written. `at`: seconds since the epoch; `null` takes the dump's own
 * time.
 */
export async function analyseFiles(files: DumpFiles, config: Config, at: number | null): Promise<ReadMoment> {
  const dump = readDump(files, config, at);
  const prices = await pricesWithoutServer(config.prices);
  const { snapshot } = join({ ...dump.state, prices }, emptyMemory, config, dump.at);
  const analysis = analyse(snapshot, analysisSettings(config));
  const found = [...snapshot.problems, ...missingKinds(dump.state), ...priceProblems(snapshot, analysis.prices)];
  return {
    ok: true,
    analysis: { ...analysis, snapshot: { ...snapshot, problems: found } },
    config,
    known: dump.state.known,
  };
}

/** The seconds since the epoch; `undefined` for text that is no time. */
function parseTime(text: string): number | undefined {
  if (/^\d{9,11}(\.\d+)?$/.test(text)) return Number(text);
  if (!/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/.test(text)) return undefined;
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : text.length > 10 ? `${text}Z` : text;
  const milliseconds = Date.parse(zoned.replace(" ", "T"));
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}
