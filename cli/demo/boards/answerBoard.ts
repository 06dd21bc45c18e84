import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import { buffer } from "node:stream/consumers";

/** Where the page that draws a board (dashboards/preview) and what it shows come from. */
export interface BoardSources {
  /** Folder of the preview. */
  readonly root: string;
  /** Folder of the bundle. */
  readonly build: string;
  /** Folder of the dashboards' JSON. */
  readonly dashboards: string;
  /** Address of the Prometheus that is asked. */
  readonly prometheus: string;
}

const kinds: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".woff": "font/woff",
};

/** The file of a font that Grafana's styles ask for, in the package that has it; `null` for other paths. */
function fontFile(root: string, pathname: string): string | null {
  const monospaced = path.join(root, "node_modules/@fontsource/roboto-mono/files/roboto-mono-latin-400-normal.woff2");
  if (pathname.startsWith("/public/fonts/roboto/")) return monospaced;
  const weights: Readonly<Record<string, number>> = { Regular: 400, Medium: 500 };
  const [, family, weight = ""] = /^\/public\/fonts\/[\w-]+\/(Inter|RobotoMono)-(\w+)\.woff2$/.exec(pathname) ?? [];
  if (family === undefined || weights[weight] === undefined) return null;
  if (family === "RobotoMono") return monospaced;
  return path.join(root, `node_modules/@fontsource/inter/files/inter-latin-${weights[weight]}-normal.woff2`);
}

/**
 * Answers what the page asks for: its scripts, fonts and icons, the dashboards' JSON, and below `/prometheus/` what Prometheus
 * answers, so that it needs no other origin.
 */
export async function answerBoard(
  request: IncomingMessage,
  response: ServerResponse,
  sources: BoardSources,
): Promise<void> {
  try {
    const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
    if (pathname.startsWith("/prometheus/api/v1/"))
      await askFor(request, response, `${sources.prometheus}${pathname.slice("/prometheus".length)}${search}`);
    else await sendFile(response, pathname, sources);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    response.writeHead(502, { "content-type": "text/plain" }).end(why);
  }
}

async function askFor(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const isPost = request.method === "POST";
  const body = isPost ? new Uint8Array(await buffer(request)) : null;
  const type = request.headers["content-type"] ?? "application/x-www-form-urlencoded";
  const answer = await fetch(url, isPost ? { method: "POST", body, headers: { "content-type": type } } : {});
  // Prometheus refuses a query with a status of 400; the page reads why from the body.
  response.writeHead(200, { "content-type": "application/json" }).end(Buffer.from(await answer.arrayBuffer()));
}

async function sendFile(response: ServerResponse, pathname: string, sources: BoardSources): Promise<void> {
  const folders: Readonly<Record<string, string>> = {
    "/build/": sources.build,
    "/public/build/img/": path.join(sources.root, "node_modules/@grafana/ui/dist/public/img"),
    "/dashboards/": sources.dashboards,
  };
  const [prefix, folder] = Object.entries(folders).find(([start]) => pathname.startsWith(start)) ?? [];
  const file =
    folder === undefined
      ? fontFile(sources.root, pathname)
      : path.join(folder, decodeURIComponent(pathname.slice(prefix?.length)));
  const isInside = file !== null && (folder === undefined || file.startsWith(folder + path.sep));
  const content = isInside ? await readFile(file).catch(() => null) : null;
  if (content === null || file === null) response.writeHead(404).end();
  else
    response.writeHead(200, { "content-type": kinds[path.extname(file)] ?? "application/octet-stream" }).end(content);
}
