import path from "node:path";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { readSettings, writeFiles } from "../generatedFiles.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";

/** Options of `fairlead alerts`. */
export interface WriteAlertsOptions {
  /** Path of the configuration of the alerts; `null`: everything is at its default. */
  readonly configFile: string | null;
  readonly output: string;
}

/** `fairlead alerts`: writes the rules, or says all that is wrong with the configuration and writes nothing. */
export async function writeAlerts({ configFile, output }: WriteAlertsOptions, io: Io): Promise<ExitCode> {
  const config = configFile === null ? defaultAlerts : await readSettings(configFile, alertsSchema, io);
  if (config === null || !(await writeFiles(ruleFiles(config), output, io))) return 1;
  io.out(
    printable(
      `Next step: promtool check rules ${path.join(output, "rules")}/*.yaml, then name them in rule_files of Prometheus.\n`,
    ),
  );
  return 0;
}
