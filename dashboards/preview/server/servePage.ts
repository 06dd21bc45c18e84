import { once } from "node:events";
import { createServer } from "node:http";
import { answerBoard, type BoardSources } from "../../../cli/demo/boards/answerBoard.ts";

export interface ServedPage {
  readonly url: string;
  close(): Promise<void>;
}

const html =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Dashboard</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/build/main.css">' +
  // Parts that scroll, or that the browser considers to be out of view, are painted apart: in a picture of a whole dashboard
  // they may be blank.
  '<style>body{margin:0}[role="grid"]{overflow:hidden!important;content-visibility:visible!important;contain:none!important}</style></head><body><div id="root"></div><script type="module" src="/build/main.js"></script></body></html>';

/** Serves the page on the loopback device. */
export async function servePage(sources: BoardSources): Promise<ServedPage> {
  const server = createServer((request, response) => {
    if (new URL(request.url ?? "/", "http://localhost").pathname !== "/") void answerBoard(request, response, sources);
    else response.writeHead(200, { "content-type": "text/html" }).end(html);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
