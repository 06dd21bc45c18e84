import { defineConfig } from "vitest/config";
import { slowestFiles } from "./test/tools/slowestFiles.ts";

export default defineConfig({
  test: {
    // Against hanging only.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxConcurrency: 3,
    reporters: ["default", slowestFiles],
    projects: [
      {
        extends: true,
        // Each has namespaces of its own on the node, and waits most of the time.
        test: { name: "beside", include: ["test/node/*.test.ts"], maxWorkers: 4, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        // These need all GPUs, or end the kubelet or the node.
        test: { name: "alone", include: ["test/node/alone/*.test.ts"], maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
