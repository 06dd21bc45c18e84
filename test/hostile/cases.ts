import { commandCases, configCases } from "./commands.ts";
import type { CommandCase, DumpCase } from "./hostileCase.ts";
import { objectCases } from "./objects.ts";
import { pageCases } from "./pages.ts";

/** Every hostile or broken input, by the part of the program that it meets. */
export const dumpTables: Readonly<Record<string, readonly DumpCase[]>> = {
  pages: pageCases,
  objects: objectCases,
};

export const commandTables: Readonly<Record<string, readonly CommandCase[]>> = {
  "configuration files": configCases,
  "command lines": commandCases,
};
