import express from "express";
import { openWebConfig } from "../../config/webConfig.ts";
import { type StartResult, startServer } from "../http/server.ts";
import type { Finished } from "./finished.ts";
import { probes } from "./probes.ts";

/** Whoever probes is one machine's kubelet, or few more. */
const maxConnections = 100;

/** Answers the probes, and nothing else, on an address of their own: no other client takes their place there. */
export function startProbeServer(listenAddress: string, finished: Finished): Promise<StartResult> {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use((_request, response, next) => {
    response.set({ Connection: "close", "Cache-Control": "no-store" });
    next();
  });
  app.use(probes(finished));
  app.use((_request, response) => {
    response.status(404).type("text/plain").send("Only /livez and /readyz are here.\n");
  });
  const flag = "--health-probe-bind-address";
  return startServer({ handler: app, listenAddress, web: openWebConfig, maxConnections, flag, onProblem: () => {} });
}
