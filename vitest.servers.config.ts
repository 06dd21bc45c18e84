import { defineConfig } from "vitest/config";
import { WaitingFilesLast } from "./test/servers/waitingFilesLast.ts";
import { slowestFiles } from "./test/tools/slowestFiles.ts";

export default defineConfig({
  test: {
    include: ["test/servers/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Much of a test's time is waiting for servers: one worker for each core, where vitest would leave one idle.
    maxWorkers: "100%",
    reporters: ["default", slowestFiles],
    setupFiles: ["test/servers/awaitServers.ts"],
    sequence: { sequencer: WaitingFilesLast },
  },
});
