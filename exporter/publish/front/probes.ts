import express, { type RequestHandler, Router } from "express";
import { openWebConfig } from "../../config/webConfig.ts";
import { isDead } from "../health.ts";
import { type StartResult, startServer } from "../http/server.ts";
import type { Finished } from "./finished.ts";

/**
 * Serves `/livez` and `/readyz`. They report only the state of the process, and are open, because the kubelet cannot
 * authenticate.
 */
export function probes(finished: Pick<Finished, "probe" | "now">): Router {
  const router = Router({ strict: false });
  router.get("/livez", livez(finished));
  router.get("/readyz", readyz(finished));
  return router;
}

function livez({ probe, now }: Pick<Finished, "probe" | "now">): RequestHandler {
  return (_request, response) => {
    const state = probe();
    const dead = isDead(state, now());
    const last = state.lastCycleAt === null ? "since the start" : `for ${Math.round(now() - state.lastCycleAt)} s`;
    response.status(dead ? 503 : 200).type("text/plain");
    response.send(
      dead ? `No cycle has been completed ${last}; the process should be restarted. See its log.\n` : "ok\n",
    );
  };
}

function readyz({ probe }: Pick<Finished, "probe">): RequestHandler {
  return (_request, response) => {
    const { missing } = probe();
    response.status(missing.length === 0 ? 200 : 503).type("text/plain");
    response.send(missing.length === 0 ? "ok\n" : `not ready:\n${missing.map((line) => `- ${line}\n`).join("")}`);
  };
}

/** The most connections: probes come from one machine's kubelet, and from few others. */
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
