import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { type AlertsConfig, alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import type { ConfigError } from "../../exporter/config/configError.ts";
import { loadFile } from "../../exporter/config/load.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";

/** What `fairlead alerts` was asked. */
export interface WriteAlertsOptions {
  /** `null`: everything at its default. */
  readonly configFile: string | null;
  readonly output: string;
}

/** `fairlead alerts`: writes the rules, or says all that is wrong with the configuration and writes nothing. */
export async function writeAlerts({ configFile, output }: WriteAlertsOptions, io: Io): Promise<ExitCode> {
  const config = configFile === null ? defaultAlerts : await readAlertsConfig(configFile, io);
  if (config === null) return 1;
  const files = Object.entries(ruleFiles(config));
  try {
    for (const [name, text] of files) await replaceFile(path.join(output, name), text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    io.err(`fairlead: ${output} cannot be written: ${why}\nNext step: give a folder that you may write to.\n`);
    return 1;
  }
  for (const [name] of files) io.out(printable(`fairlead: wrote ${path.join(output, name)}\n`));
  io.out(
    printable(
      `Next step: promtool check rules ${path.join(output, "rules")}/*.yaml, then name them in rule_files of Prometheus.\n`,
    ),
  );
  return 0;
}

async function readAlertsConfig(file: string, io: Io): Promise<AlertsConfig | null> {
  const loaded = await loadFile(file, alertsSchema, []);
  if (loaded.ok) return loaded.value;
  io.err(wrong(file, loaded.errors));
  return null;
}

function wrong(file: string, errors: readonly ConfigError[]): string {
  const count = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  const lines = errors.map(({ path: at, message }) => (at === "" ? `  ${message}` : `  ${at}: ${message}`));
  return [
    `fairlead: configuration ${file} has ${count}`,
    ...lines,
    "Nothing was written. Next step: change the file and give the command again.",
    "",
  ].join("\n");
}

/** Readers never see half a file. */
async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const unfinished = `${file}.unfinished`;
  await writeFile(unfinished, text);
  await rename(unfinished, file);
}
