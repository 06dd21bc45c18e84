/**
 * Waits, before a test file is loaded, until the servers that it needs are there: the first time on a machine that takes
 * minutes, which no test and no hook has, and which says nothing about them.
 */

import { expect } from "vitest";
import { isDispensable, neededServers } from "./neededServers.ts";
import { installed } from "./program.ts";

const { testPath } = expect.getState();
if (testPath === undefined) throw new Error("which test file this is for is not known");
for (const script of neededServers(testPath)) if (!isDispensable(script)) await installed(script);
