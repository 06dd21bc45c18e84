import { parentPort, workerData } from "node:worker_threads";
import { runWriter } from "./writer.ts";
import type { WriterRequest, WriterSettings } from "./writerMessages.ts";

// The thread that owns the ledger's one writing connection.
const port = parentPort;
if (port === null) throw new Error("the ledger's writer runs in a thread of its own");
const settings: WriterSettings = workerData;
const writer = runWriter(settings, (report) => port.postMessage(report));
port.on("message", (request: WriterRequest) => {
  writer.handle(request);
  if (request.kind === "close") port.close();
});
