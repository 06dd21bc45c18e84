import type { IncomingMessage, ServerResponse } from "node:http";
import type { SimNode, World } from "../cluster/world.ts";
import { type ExporterTarget, type FaultBoard, faultsOf, hits } from "../faults.ts";
import { type Reply, sendReply, textReply } from "../reply.ts";
import type { ExporterSpec } from "../scenario.ts";
import { dialects } from "./dialects.ts";
import { garbageBytes, hostilePage } from "./hostile.ts";
import { renderPage } from "./page.ts";

const defaultHostileMegabytes = 8;

/** One node's exporter, asked without a network. */
export interface ExporterServer {
  /** Nobody answers there. */
  isLost(): boolean;
  /** Milliseconds of real time that an answer takes. */
  delayMs(): number;
  /** The answer to a GET of a path without a query. */
  read(path: string): Reply;
}

/** Answers `/metrics` and `/health` for one node's exporter, under the faults that are on. */
export function createExporterServer(
  world: World,
  node: SimNode,
  exporter: ExporterSpec,
  faults: FaultBoard,
): ExporterServer {
  const isHit = (fault: { readonly target: ExporterTarget }): boolean => hits(fault.target, node.spec.name);

  function metrics(): Reply {
    if (faultsOf(faults, "exporter-error").some(isHit)) {
      return textReply(500, "internal server error: failed to collect metrics\n");
    }
    return { code: 200, contentType: dialects[exporter.dialect].contentType, body: page() };
  }

  function page(): string | Buffer {
    if (faultsOf(faults, "exporter-empty").some(isHit)) return "";
    if (faultsOf(faults, "exporter-garbage").some(isHit)) return garbageBytes(node);
    const hostile = faultsOf(faults, "exporter-hostile").find(isHit);
    if (hostile !== undefined) {
      return hostilePage(world, node, hostile.content, hostile.megabytes ?? defaultHostileMegabytes);
    }
    const profilingStuck = faultsOf(faults, "profiling-stuck").some(isHit);
    return renderPage(node, exporter, { time: world.time, profilingStuck });
  }

  return {
    isLost: () => node.lost || faultsOf(faults, "exporter-reset").some(isHit),
    delayMs: () =>
      Math.max(
        0,
        ...faultsOf(faults, "exporter-slow")
          .filter(isHit)
          .map((fault) => fault.delayMs),
      ),
    read(path) {
      if (path === "/metrics") return metrics();
      return path === "/health" ? textReply(200, "OK") : textReply(404, "404 page not found\n");
    },
  };
}

/** Serves an exporter by HTTP. */
export function createExporterHandler(
  server: ExporterServer,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (server.isLost()) request.socket.resetAndDestroy();
    else sendReply(response, server.delayMs(), () => server.read((request.url ?? "/").split("?")[0] ?? "/"));
  };
}
