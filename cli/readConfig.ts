import { formatConfigErrors } from "../exporter/config/configError.ts";
import { loadConfig } from "../exporter/config/load.ts";
import type { Config } from "../exporter/config/schema.ts";
import type { ExitCode, Io } from "./io.ts";
import { hasGoodPrices } from "./prices.ts";
import { printable } from "./printable.ts";

/** Reads a configuration file; `null` after its errors have been shown. */
export async function readConfig(file: string, io: Io): Promise<Config | null> {
  const loaded = await loadConfig(file);
  if (loaded.ok) return (await hasGoodPrices(loaded.value, file, io)) ? loaded.value : null;
  io.err(formatConfigErrors(file, loaded.errors));
  return null;
}

/** `fairlead check-config`: says that a file is good, and what it comes to, or all that is wrong with it. */
export async function checkConfig(file: string, io: Io): Promise<ExitCode> {
  const config = await readConfig(file, io);
  if (config === null) return 1;
  const sources =
    config.dcgm.discovery.length === 0
      ? "no discovery"
      : `discovery in ${new Set(config.dcgm.discovery.flatMap((d) => d.namespaces)).size} namespaces`;
  const server = config.dcgm.prometheus === undefined ? "" : "a Prometheus server, ";
  const say = (text: string): void => io.out(printable(text));
  say(`fairlead: configuration ${file} is valid\n`);
  say(
    `  cluster ${config.cluster}, a cycle every ${config.interval} s, ${sources}, ${config.dcgm.targets.length} listed targets, ${server}${config.teams.length} team rules\n`,
  );
  for (const warning of teamWarnings(config)) say(`Warning: ${warning}\n`);
  say(`Next step: fairlead serve --config.file ${file}\n`);
  return 0;
}

/** Warnings about rules by which whoever sends work to a queue decides who is billed for it. */
function teamWarnings({ teams }: Config): readonly string[] {
  return teams.flatMap((rule, i) =>
    rule.from === "queue" && rule.allowed === undefined
      ? [
          `teams[${i}] takes the queue for the team: KAI and Volcano let any namespace send work to any queue, and its team is billed. Name what counts in teams[${i}].allowed, or put a rule about namespaces before it.`,
        ]
      : [],
  );
}
