import type { ErrorRequestHandler } from "express";

/** Answers where an answer failed. Express knows an error handler by its four parameters. */
export const failed: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) return next(error);
  const status = error instanceof URIError ? 400 : bodyFault(error);
  if (status === null)
    response
      .status(500)
      .json({ error: "Fairlead failed to answer", nextStep: "See its log, and report what it says." });
  else if (error instanceof URIError)
    response.status(400).json({ error: "the path is not valid", nextStep: "See / for what there is." });
  else
    response.status(status).json({
      error: status === 413 ? "the body is too large" : "the body cannot be read",
      nextStep: "See /api/v1/openapi.json for what may be sent.",
    });
};

/** The status of a body that the parser of Express refused; `null` of any other fault. */
function bodyFault(error: unknown): number | null {
  if (!(error instanceof Error) || !("status" in error) || !("type" in error)) return null;
  return typeof error.status === "number" && error.status >= 400 && error.status < 500 ? error.status : null;
}
