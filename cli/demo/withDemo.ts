import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import type { ExporterAddress } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";
import { refuse } from "../showProblem.ts";
import { defaultSeed, startDemo } from "./startDemo.ts";

/** Starts the demo's cluster and exporter for one question, on a free port of the loopback address. */
export async function withDemo(io: Io, ask: (exporter: ExporterAddress) => Promise<ExitCode>): Promise<ExitCode> {
  const started = await startDemo({ traceDir: null, scenario: null, seed: defaultSeed }, io);
  if (started === null) return 1;
  const { cluster } = started;
  try {
    const server = await startServer({
      handler: cluster.stack.app,
      listenAddress: "127.0.0.1:0",
      web: openWebConfig,
      onProblem: () => {},
    });
    if (!server.ok) return refuse(server.error, server.nextStep, io);
    const { url, close } = server.server;
    try {
      return await ask({ url, username: null, passwordFile: null, caFile: null });
    } finally {
      await close();
    }
  } finally {
    await cluster.stop();
  }
}
