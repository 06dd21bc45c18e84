import type { Command } from "commander";
import type { ExitCode, Io } from "../io.ts";
import { outputOption, wholeNumber } from "../options.ts";
import type { CaptureFlags } from "./captureCommand.ts";
import type { NowFlags } from "./nowCommand.ts";

const deadlines = { now: 30, capture: 300 } as const;

/** Adds `fairlead now` and `fairlead capture`. */
export function addCapture(program: Command, io: Io, done: (code: ExitCode) => void): void {
  withClusterOptions(
    program
      .command("now")
      .description("print who holds the GPUs of a cluster at this moment; nothing needs to be installed in it"),
    deadlines.now,
  )
    .addOption(outputOption("a table for people, or one JSON document", ["table", "json"]))
    .action(async (flags: NowFlags) => {
      const { nowCommand } = await import("./nowCommand.ts");
      done(await nowCommand(flags, io));
    });
  withClusterOptions(
    program
      .command("capture")
      .description("write a dump of a cluster for inspect; Secrets and ConfigMaps are never read")
      .argument("<dir>", "folder that is empty or not there yet"),
    deadlines.capture,
  )
    .option("--redact", "replace names of namespaces, pods, users, nodes and values of labels", false)
    .action(async (folder: string, flags: CaptureFlags) => {
      const { captureCommand } = await import("./captureCommand.ts");
      done(await captureCommand(folder, flags, io));
    });
}

function withClusterOptions(command: Command, deadline: number): Command {
  return command
    .option("--kubeconfig <file>", "kubeconfig file; default: KUBECONFIG, else ~/.kube/config")
    .option("--context <name>", "context of the kubeconfig; default: its current one")
    .option("--config.file <file>", "configuration file (YAML), for team rules and where exporters run")
    .option(
      "--deadline <seconds>",
      "time for all that is read; what has not come by then is missing",
      wholeNumber(1, 9999, "of seconds from 1 to 9999"),
      deadline,
    );
}
