/**
 * Sends the bytes of a file as the answer to every request, which is the least that an HTTP server of Node can do. Argument:
 * the file.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const body = readFileSync(process.argv[2] ?? "");
const server = createServer((_request, response) => {
  response.writeHead(200, {
    "Content-Type": "text/plain; version=0.0.4; charset=utf-8",
    "Content-Length": body.length,
  });
  response.end(body);
});
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.(`http://127.0.0.1:${address.port}`);
});
process.on("disconnect", () => process.exit(0));
