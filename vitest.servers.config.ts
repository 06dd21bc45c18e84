import { defineConfig } from "vitest/config";
import { WaitingFilesLast } from "./test/servers/waitingFilesLast.ts";

export default defineConfig({
  test: {
    include: ["test/servers/**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // Much of a test's time is waiting for servers: one worker for each core, where vitest would leave one idle.
    maxWorkers: "100%",
    setupFiles: ["test/servers/awaitServers.ts"],
    sequence: { sequencer: WaitingFilesLast },
  },
});
