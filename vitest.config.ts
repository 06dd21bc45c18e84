import { defineConfig } from "vitest/config";
import { slowestFiles } from "./test/tools/slowestFiles.ts";

const all = "test/**/*.test.ts";
const elsewhere = ["test/servers/**", "test/node/**", "node_modules/**", "dist/**"];
/** Whole clusters with servers and browsers: each file has a process of its own. All others share one for each core. */
const ownProcess = ["test/e2e/**"];

export default defineConfig({
  test: {
    // Much of a test's time is waiting for servers: one worker for each core, where vitest would leave one idle.
    maxWorkers: "100%",
    // Against hanging only: a busy machine with one core is many times as slow as an idle one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    reporters: ["default", slowestFiles],
    projects: [
      {
        extends: true,
        test: { name: "units", include: [all], exclude: [...elsewhere, ...ownProcess], isolate: false },
      },
      {
        extends: true,
        test: { name: "processes", include: ownProcess.map((folder) => `${folder}/*.test.ts`), exclude: elsewhere },
      },
    ],
  },
});
