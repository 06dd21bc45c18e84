import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import type { z } from "zod";
import type { ConfigError } from "../exporter/config/configError.ts";
import { loadFile } from "../exporter/config/load.ts";
import type { Io } from "./io.ts";
import { printable } from "./printable.ts";

/** Reads the settings in a file; `null` after all that is wrong with them has been said. */
export async function readSettings<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  io: Io,
): Promise<z.output<Schema> | null> {
  const loaded = await loadFile(file, schema, []);
  if (loaded.ok) return loaded.value;
  io.err(wrong(file, loaded.errors));
  return null;
}

/** Writes files below a folder and names them, or says why it cannot; returns whether it could. */
export async function writeFiles(files: Readonly<Record<string, string>>, output: string, io: Io): Promise<boolean> {
  const all = Object.entries(files);
  try {
    for (const [name, text] of all) await replaceFile(path.join(output, name), text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    io.err(`fairlead: ${output} cannot be written: ${why}\nNext step: give a folder that you may write to.\n`);
    return false;
  }
  for (const [name] of all) io.out(printable(`fairlead: wrote ${path.join(output, name)}\n`));
  return true;
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

/** Replaces a file at once, so that readers never see half of it. */
async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const unfinished = `${file}.unfinished`;
  await writeFile(unfinished, text);
  await rename(unfinished, file);
}
