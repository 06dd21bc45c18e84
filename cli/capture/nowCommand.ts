import { analyseFiles } from "../inspect/analyseDump.ts";
import { showMoment } from "../inspect/inspect.ts";
import type { ExitCode, Io } from "../io.ts";
import { type ClusterFlags, captureOf } from "./captureOf.ts";

/** Flags of `fairlead now`. */
export interface NowFlags extends ClusterFlags {
  readonly output: "table" | "json";
}

const rightsNeeded =
  "ask for the right to list nodes and pods in all namespaces; docs/now.md has the rights that are needed.";

/** `fairlead now`: prints what a cluster's GPUs do at this moment, from one sample that is not kept. */
export async function nowCommand(flags: NowFlags, io: Io): Promise<ExitCode> {
  const captured = await captureOf(flags, io);
  if (captured === null) return 1;
  const moment = await analyseFiles(captured.files, captured.config, captured.now);
  // The commands that the table names need a dump, because this sample is not kept.
  const code = showMoment(
    moment,
    flags.output,
    { ...io, terminal: { ...io.terminal, source: " --dump=DIR" } },
    rightsNeeded,
  );
  if (flags.output === "table") io.err("To look closer, keep a sample for these commands: fairlead capture DIR\n");
  return code;
}
