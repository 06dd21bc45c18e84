import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/servers/**", "node_modules/**", "dist/**"],
    // Much of a test's time is waiting for servers: one worker for each core, where vitest would leave one idle.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
