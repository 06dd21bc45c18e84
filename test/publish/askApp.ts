import { expect } from "vitest";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { createApp } from "../../exporter/publish/http/app.ts";
import type { Outputs } from "../../exporter/publish/http/outputs.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import { at, health } from "./moment.ts";

/** What the HTTP server of a Fairlead without a cycle answers to one request; `outputs` are what it has beside the pages. */
export async function askApp(
  path: string,
  outputs: Partial<Outputs>,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const started = await startServer({
    handler: createApp({
      cluster: health().cluster,
      latest: () => null,
      health: () => health(),
      explain: () => null,
      now: () => at,
      limits: { teams: 1000, series: 50_000 },
      processMetrics: async () => "",
      telemetryPath: "/metrics",
      users: {},
      ...outputs,
    }),
    listenAddress: "127.0.0.1:0",
    web: openWebConfig,
    onProblem: (message) => expect.fail(message),
  });
  if (!started.ok) throw new Error(started.error);
  try {
    const response = await fetch(`${started.server.url}${path}`);
    return { status: response.status, body: await response.json() };
  } finally {
    await started.server.close();
  }
}
