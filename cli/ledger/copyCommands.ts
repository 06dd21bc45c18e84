import type { Command } from "commander";
import { type ExporterFlags, exporterAt } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";
import { withLogin } from "../options.ts";

interface BackupFlags extends ExporterFlags {
  readonly output?: string;
  readonly url?: string;
}

/** Adds `fairlead ledger backup`. */
export function addBackup(ledger: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = ledger
    .command("backup")
    .description("copy a ledger, also while it is written")
    .argument("[file]", "the ledger; or ask a running exporter with --url")
    .argument("[target]", "the copy, - for standard output; an existing file is never replaced")
    .option("-o, --output <file>", "the copy, as an option")
    .option("--url <url>", "copy the ledger of a running exporter");
  withLogin(command).action(async (file: string | undefined, target: string | undefined, flags: BackupFlags) => {
    const from = file ?? (flags.url === undefined ? null : exporterAt(flags.url, flags));
    const to = target ?? flags.output;
    const isClear =
      (file === undefined) !== (flags.url === undefined) && (target === undefined) !== (flags.output === undefined);
    if (from === null || to === undefined || !isClear) {
      io.err(`fairlead: say what is copied, and where to, each in one way\nNext step: ${backupForms}\n`);
      return done(2);
    }
    done(await (await import("./backup.ts")).ledgerBackup({ from, target: to }, io));
  });
}

const backupForms =
  "fairlead ledger backup FILE COPY, or fairlead ledger backup --url URL --output COPY; - is standard output.";

/** Adds `fairlead ledger merge`. */
export function addMerge(ledger: Command, io: Io, done: (code: ExitCode) => void): void {
  ledger
    .command("merge")
    .description("make one ledger of those of several replicas: each hour from the one that covered more of it")
    .argument("<file...>", "ledgers of replicas that watched the same cluster, also while they are written")
    .requiredOption("-o, --output <file>", "the new ledger; an existing file is never replaced")
    .action(async (files: string[], { output }: { output: string }) =>
      done((await import("./merge.ts")).ledgerMerge(files, output, io)),
    );
}

/** Adds `fairlead ledger restore`. */
export function addRestore(ledger: Command, io: Io, done: (code: ExitCode) => void): void {
  ledger
    .command("restore")
    .description("put a copy of a ledger in its place, while no Fairlead writes it")
    .argument("<file>", "where the ledger belongs (ledger.path of the configuration)")
    .option("--from <copy>", "the copy, - for standard input", "-")
    .option("--replace", "keep the ledger that is there under another name, instead of refusing", false)
    .action(async (file: string, flags: { from: string; replace: boolean }) =>
      done(await (await import("./restore.ts")).ledgerRestore({ file, ...flags }, io)),
    );
}
