import { defineConfig } from "vitest/config";
import { slowestFiles } from "./test/tools/slowestFiles.ts";

const all = "test/node/*.test.ts";
/** It is for clusters in which nothing is installed, and compares what is there at one moment. */
const first = "test/node/laptop.test.ts";

export default defineConfig({
  test: {
    // Against hanging only.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Each file has namespaces, or a node, of its own, and waits most of the time: all go on at once.
    maxWorkers: 5,
    // Of the value sets of the chart: the operations guide takes the longest, and should not wait for them.
    maxConcurrency: 2,
    reporters: ["default", slowestFiles],
    projects: [
      { extends: true, test: { name: "nothing installed", include: [first], sequence: { groupOrder: 0 } } },
      { extends: true, test: { name: "installed", include: [all], exclude: [first], sequence: { groupOrder: 1 } } },
    ],
  },
});
