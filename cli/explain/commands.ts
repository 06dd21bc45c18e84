import { Argument, type Command } from "commander";
import { type ExplainedKind, explainedKinds } from "../../exporter/publish/explain/kinds.ts";
import { askSource, type SourceFlags, withSourceOptions } from "../answerSource.ts";
import type { ExitCode, Io } from "../io.ts";
import { outputOption } from "../options.ts";

/** Adds `fairlead explain`. */
export function addExplain(program: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = program
    .command("explain")
    .description("say how the numbers of one team, queue, workload, pod or node came about")
    .addArgument(new Argument("<kind>", "what to explain").choices(explainedKinds))
    .argument("<name>", "its name; a pod is NAMESPACE/NAME, and a LocalQueue may be");
  withSourceOptions(command, "explain")
    .addOption(outputOption("for people, or one JSON document", ["table", "json"]))
    .action(async (kind: ExplainedKind, name: string, flags: ExplainFlags) => {
      const { explainCommand } = await import("./explainCommand.ts");
      const { output } = flags;
      done(await askSource(flags, io, (source, at) => explainCommand({ ...source, kind, name, output }, at)));
    });
}

interface ExplainFlags extends SourceFlags {
  readonly output: "table" | "json";
}
