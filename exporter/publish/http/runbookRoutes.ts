import { Router } from "express";
import { renderRunbook, renderRunbookList } from "../pages/runbookPages.ts";
import type { Outputs } from "./outputs.ts";

/** `/runbooks` and `/runbooks/NAME`, also with `.md` at its end, as addresses of files in a repository have it. */
export function runbookRoutes({ cluster, runbooks = new Map() }: Pick<Outputs, "cluster" | "runbooks">): Router {
  const router = Router();
  router.get("/", (_request, response) => {
    response.type("html").send(renderRunbookList(cluster, runbooks));
  });
  router.get("/:name", (request, response, next) => {
    const markdown = runbooks.get(request.params.name.toLowerCase().replace(/\.md$/, ""));
    if (markdown === undefined) next();
    else response.type("html").send(renderRunbook(cluster, markdown));
  });
  return router;
}
