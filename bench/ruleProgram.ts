/** The programs that can scrape a fleet and evaluate rules over it: contenders of the exporter's cycle. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A program that scrapes by a configuration of Prometheus, and answers its instant queries. */
export interface RuleProgram {
  /** What stands before the name of each of its contenders; empty for the one that the goals speak of. */
  readonly prefix: string;
  readonly command: string;
  /** Its arguments, by the file of its configuration, the folder of its data, and the address that it listens on. */
  readonly args: (configuration: string, folder: string, address: string) => readonly string[];
}

const prometheusArgs: RuleProgram["args"] = (configuration, folder, address) => [
  `--config.file=${configuration}`,
  `--storage.tsdb.path=${join(folder, "data")}`,
  `--web.listen-address=${address}`,
  "--web.enable-lifecycle",
  "--log.level=error",
];

/** The Prometheus of the distribution, which the goals are set against; `null` where none is installed. */
export function installedPrometheus(): RuleProgram | null {
  if (spawnSync("prometheus", ["--version"]).error !== undefined) return null;
  return { prefix: "", command: "prometheus", args: prometheusArgs };
}

/** A Prometheus 3, which the tests build at the first time; `null` where it cannot be built. */
export function builtPrometheus(): RuleProgram | null {
  const install = fileURLToPath(new URL("../test/tools/install-otel-collector.sh", import.meta.url));
  const folder = lastLineOf(install);
  return folder === null
    ? null
    : { prefix: "Prometheus 3: ", command: join(folder, "prometheus"), args: prometheusArgs };
}

/**
 * VictoriaMetrics, which vmalert asks for the expression of each of its rules: what vmalert spends itself is not counted. `null`
 * where it is not installed.
 */
export function victoriaMetrics(): RuleProgram | null {
  if (spawnSync("victoria-metrics", ["--version"]).error !== undefined) return null;
  return {
    prefix: "VictoriaMetrics, as vmalert asks: ",
    command: "victoria-metrics",
    args: (configuration, folder, address) => [
      `-promscrape.config=${configuration}`,
      `-storageDataPath=${join(folder, "data")}`,
      `-httpListenAddr=${address}`,
      // The defaults hide what is younger than 30 s, keep answers, and refuse as many series and a page of 100,000 pods.
      "-search.latencyOffset=0s",
      "-search.disableCache",
      "-search.maxUniqueTimeseries=1000000",
      "-promscrape.maxScrapeSize=256MB",
      "-loggerLevel=ERROR",
    ],
  };
}

/**
 * The last line that a script prints which installs something: where it is. `null` where the script failed, and has said why on
 * standard error.
 */
export function lastLineOf(script: string): string | null {
  const { status, stdout } = spawnSync("bash", [script], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return status === 0 ? (stdout.trim().split("\n").at(-1) ?? null) : null;
}
