import type { Io } from "../io.ts";

/** The description of `--at` in the help of every command that reads a dump. */
export const atOfDump = "the moment of the dump; default: the newest time in the status of its nodes and pods";

/** Whether a moment is given without a dump. If so, that is reported: a running exporter answers about the present. */
export function isAtWithoutDump(
  { at, dump }: { readonly at: string | null; readonly dump: readonly string[] },
  io: Io,
) {
  if (at === null || dump.length > 0) return false;
  io.err(
    "fairlead: --at is the moment of a dump, and there is no --dump\nNext step: add --dump DIR, or leave --at out to ask the running exporter for now.\n",
  );
  return true;
}
