import type { RequestHandler, Response } from "express";
import { type ExplainedKind, explainedKinds } from "../explain/kinds.ts";
import type { Outputs } from "./outputs.ts";
import { recordsAtOnce, type Texts, textOf } from "./texts.ts";

/** `GET /api/v1/explain?kind=team&name=search`: how the numbers of one team, queue, pod or node came about. */
export function explainRoute(outputs: Outputs, texts: Texts): RequestHandler {
  return async (request, response) => {
    const start = request.originalUrl.indexOf("?");
    const search = new URLSearchParams(start < 0 ? "" : request.originalUrl.slice(start));
    const kind = explainedKinds.find((known) => known === search.get("kind"));
    const name = search.get("name");
    if (kind === undefined || name === null || name === "" || [...search].length !== 2) {
      response.status(400).json({
        error: "expected the parameters kind and name",
        nextStep: `Ask for /api/v1/explain?kind=${explainedKinds.join("|")}&name=NAME; a pod's name is NAMESPACE/NAME, a LocalQueue's may be.`,
      });
      return;
    }
    await answer(outputs, texts, kind, name, response);
  };
}

async function answer(
  outputs: Outputs,
  texts: Texts,
  kind: ExplainedKind,
  name: string,
  response: Response,
): Promise<void> {
  const explained = outputs.explain(kind, name);
  if (explained === null) {
    response.status(503).set("Retry-After", "5");
    response.json({
      error: "no answers yet: the first cycle is not complete",
      nextStep: "See /readyz for what is missing.",
    });
    return;
  }
  if (!explained.ok) response.status(404).json({ error: explained.error, nextStep: explained.nextStep });
  else if (explained.explanation.parts.length <= recordsAtOnce) response.json(explained.explanation);
  else await texts.send(response, textOf(explained.explanation));
}
