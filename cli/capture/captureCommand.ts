import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import { shellQuote } from "../../exporter/kernel/shellQuote.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import type { DumpFiles } from "../inspect/readFiles.ts";
import type { ExitCode, Io } from "../io.ts";
import { refuse } from "../showProblem.ts";
import { readVersion } from "../version.ts";
import { type ClusterFlags, captureOf } from "./captureOf.ts";

/** Flags of `fairlead capture`. */
export interface CaptureFlags extends ClusterFlags {
  readonly redact: boolean;
}

/** `fairlead capture`: writes a dump that `fairlead inspect` reads, into a new or empty folder that only its owner may read. */
export async function captureCommand(folder: string, flags: CaptureFlags, io: Io): Promise<ExitCode> {
  const refused = await prepareFolder(folder);
  if (refused !== null) return refuse(refused, "name a folder that does not exist yet, or an empty one.", io);
  const captured = await captureOf(flags, io);
  if (captured === null) return 1;
  const { files, problems } = flags.redact
    ? (await import("./redact/redactDump.ts")).redactDump(captured.files, captured.config)
    : captured.files;
  try {
    for (const file of files) await write(folder, file.path, file.bytes);
    await write(folder, "about.txt", about({ files, problems }, captured.now, flags.redact));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refuse(message, "name another folder, with space for the dump.", io);
  }
  for (const { message, nextStep } of captured.files.problems)
    io.err(`fairlead: missing: ${message}\nNext step: ${nextStep}\n`);
  const command = `fairlead inspect ${shellQuote(folder)}`;
  io.err(`fairlead: wrote ${files.length} files to ${folder}\nNext step: ${command}\n`);
  return 0;
}

/** Makes the folder; returns why it cannot be used, or `null` where it can be. */
async function prepareFolder(folder: string): Promise<string | null> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return (await readdir(folder)).length === 0 ? null : `${folder} is not empty`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function write(folder: string, name: string, content: Uint8Array | string): Promise<void> {
  await writeFile(path.join(folder, name), content, { mode: 0o600, flag: "wx" });
}

/** The text for readers of the dump. Messages of the API server name users and namespaces: a redacted dump has none of them. */
function about({ files, problems }: DumpFiles, now: number, isRedacted: boolean): string {
  const named = (problem: Problem): string =>
    isRedacted
      ? `${problem.code}${problem.source === "kubernetes" ? ` ${problem.subject ?? ""}` : ""}`
      : problem.message;
  return [
    `Taken at ${isoTime(now)} by fairlead ${readVersion()} capture${isRedacted ? " --redact" : ""}.`,
    `${files.length} files, for fairlead inspect. Secrets and ConfigMaps, environments and arguments of containers are not read.`,
    ...(isRedacted ? ["Names are replaced, and only what fairlead inspect reads is kept."] : []),
    ...problems.map((problem) => `Missing: ${named(problem)}`),
    "",
  ].join("\n");
}
