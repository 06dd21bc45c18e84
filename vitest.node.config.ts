import { defineConfig } from "vitest/config";
import { slowestFiles } from "./test/tools/slowestFiles.ts";

export default defineConfig({
  test: {
    include: ["test/node/*.test.ts"],
    // Against hanging only.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Each file has namespaces, or a node, of its own, and waits most of the time: all go on at once.
    maxWorkers: 5,
    maxConcurrency: 3,
    reporters: ["default", slowestFiles],
  },
});
