import { Router } from "express";
import { renderRunbook, renderRunbookList } from "../pages/runbookPages.ts";
import type { Outputs } from "./outputs.ts";

/** Serves `/runbooks` and `/runbooks/NAME`. The name may end with `.md`, as in addresses of files in a repository. */
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
