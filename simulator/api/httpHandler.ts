import type { IncomingMessage, ServerResponse } from "node:http";
import { type FaultBoard, faultsOf } from "../faults.ts";
import { sendReply } from "../reply.ts";
import type { ApiServer } from "./server.ts";
import type { WatchStream } from "./watch.ts";
import { readBody } from "./write/body.ts";

/** The API server as a request handler. */
export type ApiHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Serves the API by HTTP, as slowly as the faults say. */
export function createApiHandler(api: ApiServer, faults: FaultBoard): ApiHandler {
  return (request, response) => {
    const delayMs = Math.max(0, ...faultsOf(faults, "api-slow").map((fault) => fault.delayMs));
    const { method = "", url: path = "/", headers } = request;
    if (method === "GET") {
      const stream = (timeoutSeconds: number): WatchStream => streamOf(response, timeoutSeconds);
      sendReply(response, delayMs, () => api.read({ path, accept: headers.accept }, stream));
      return;
    }
    const contentType = headers["content-type"] ?? "";
    void readBody(request).then((body) =>
      sendReply(response, delayMs, () => api.write({ method, path, contentType, body })),
    );
  };
}

/** A watch as the body of an answer; the server ends it after some seconds of real time (0: never). */
function streamOf(response: ServerResponse, timeoutSeconds: number): WatchStream {
  return {
    begin() {
      response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
      response.flushHeaders();
      if (timeoutSeconds <= 0) return;
      const timer = setTimeout(() => response.end(), timeoutSeconds * 1000);
      response.on("close", () => clearTimeout(timer));
    },
    write: (text) => void response.write(text),
    end: (text) => void response.end(text),
    destroy: () => void response.destroy(),
    onClose: (callback) => void response.on("close", callback),
  };
}
