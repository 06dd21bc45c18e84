import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import path from "node:path";
import { buffer } from "node:stream/consumers";

/** Where the page and what it shows come from. */
export interface PageSources {
  /** Folder of the preview. */
  readonly root: string;
  /** Folder of the bundle. */
  readonly build: string;
  /** Folder of the dashboards' JSON. */
  readonly dashboards: string;
  /** Address of the Prometheus that is asked. */
  readonly prometheus: string;
}

export interface ServedPage {
  readonly url: string;
  close(): Promise<void>;
}

const html =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Dashboard</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/build/main.css">' +
  // Parts that scroll, or are thought to be out of sight, are painted apart: in a picture of a whole dashboard they may be blank.
  '<style>body{margin:0}[role="grid"]{overflow:hidden!important;content-visibility:visible!important;contain:none!important}</style></head><body><div id="root"></div><script type="module" src="/build/main.js"></script></body></html>';

const kinds: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".woff": "font/woff",
};

/** Fonts as Grafana's styles ask for them, and the packages that have them. */
function fontFile(root: string, pathname: string): string | null {
  const monospaced = path.join(root, "node_modules/@fontsource/roboto-mono/files/roboto-mono-latin-400-normal.woff2");
  if (pathname.startsWith("/public/fonts/roboto/")) return monospaced;
  const weights: Readonly<Record<string, number>> = { Regular: 400, Medium: 500 };
  const [, family, weight = ""] = /^\/public\/fonts\/[\w-]+\/(Inter|RobotoMono)-(\w+)\.woff2$/.exec(pathname) ?? [];
  if (family === undefined || weights[weight] === undefined) return null;
  if (family === "RobotoMono") return monospaced;
  return path.join(root, `node_modules/@fontsource/inter/files/inter-latin-${weights[weight]}-normal.woff2`);
}

/** Serves the page on the loopback device, and asks Prometheus for it, so that it needs no other origin. */
export async function servePage(sources: PageSources): Promise<ServedPage> {
  const folders: Readonly<Record<string, string>> = {
    "/build/": sources.build,
    "/public/build/img/": path.join(sources.root, "node_modules/@grafana/ui/dist/public/img"),
    "/dashboards/": sources.dashboards,
  };
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
    const answered = pathname.startsWith("/prometheus/")
      ? askFor(request, response, `${sources.prometheus}${pathname.slice("/prometheus".length)}${search}`)
      : sendFile(response, pathname, folders, fontFile(sources.root, pathname));
    answered.catch((error: unknown) => {
      response.writeHead(502, { "content-type": "text/plain" }).end(String(error));
    });
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

async function askFor(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const isPost = request.method === "POST";
  const body = isPost ? new Uint8Array(await buffer(request)) : null;
  const type = request.headers["content-type"] ?? "application/x-www-form-urlencoded";
  const answer = await fetch(url, isPost ? { method: "POST", body, headers: { "content-type": type } } : {});
  // Prometheus refuses a query with a status of 400; the page reads why from the body.
  response.writeHead(200, { "content-type": "application/json" }).end(Buffer.from(await answer.arrayBuffer()));
}

async function sendFile(
  response: ServerResponse,
  pathname: string,
  folders: Readonly<Record<string, string>>,
  font: string | null,
): Promise<void> {
  if (pathname === "/") {
    response.writeHead(200, { "content-type": "text/html" }).end(html);
    return;
  }
  const [prefix, folder] = Object.entries(folders).find(([start]) => pathname.startsWith(start)) ?? [];
  const file = folder === undefined ? font : path.join(folder, decodeURIComponent(pathname.slice(prefix?.length)));
  const isInside = file !== null && (folder === undefined || file.startsWith(folder + path.sep));
  const content = isInside ? await readFile(file).catch(() => null) : null;
  if (content === null || file === null) response.writeHead(404).end();
  else
    response.writeHead(200, { "content-type": kinds[path.extname(file)] ?? "application/octet-stream" }).end(content);
}
