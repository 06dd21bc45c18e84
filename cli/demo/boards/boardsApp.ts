import express, { type Express, type RequestHandler } from "express";
import type { Recommendation } from "../../../exporter/model/recommendation.ts";
import { failed } from "../../../exporter/publish/front/front.ts";
import { ownHostsOnly } from "../../../exporter/publish/front/ownHosts.ts";
import { createFormTokens, formBody, withToken } from "../../../exporter/publish/http/posting.ts";
import { shortTitle } from "../../../exporter/publish/pages/recommendationArticle.ts";
import { answerBoard, type BoardSources } from "./answerBoard.ts";
import {
  adviceSection,
  againScript,
  type Board,
  type BoardHead,
  boardPage,
  boardPath,
  boardPolicy,
} from "./boardPage.ts";
import type { AdviceDoer } from "./carryOut.ts";

/** What the boards of a demo are made of. */
export interface BoardsOptions {
  readonly sources: BoardSources;
  readonly boards: readonly Board[];
  readonly stepSeconds: number;
  readonly speed: number;
  /** The time of the cluster, seconds since the epoch. */
  readonly simulatedNow: () => number;
  readonly recommendations: () => readonly Recommendation[];
  readonly doer: AdviceDoer;
}

/**
 * The dashboards as pages: the preview draws them from what Prometheus answers, and a button above them carries out advice in
 * the simulated cluster. The app is for the loopback address only: whoever reaches it may read everything.
 */
export function createBoardsApp(options: BoardsOptions): Express {
  const { sources, boards, stepSeconds, speed, doer } = options;
  const tokens = createFormTokens();
  let done: string | null = null;
  const known = (file: unknown): string | null => boards.find((board) => board.file === file)?.file ?? null;
  const firstPath = boardPath(boards[0]?.file ?? "", stepSeconds);
  const headOf = (file: string): BoardHead => ({
    file,
    boards,
    token: tokens.tokenFor(""),
    stepSeconds,
    speed,
    simulatedAt: options.simulatedNow(),
    recommendations: options.recommendations(),
    done,
  });
  const carryOut: RequestHandler = async (request, response) => {
    const { id, dashboard }: Readonly<Record<string, unknown>> = request.body;
    const one = options.recommendations().find((candidate) => candidate.id === id);
    done =
      one === undefined
        ? "This is not recommended any more."
        : `${shortTitle(one)}: ${await doer.begin(one, options.simulatedNow())}`;
    response.redirect(303, boardPath(known(dashboard) ?? boards[0]?.file ?? "", stepSeconds));
  };
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(ownHostsOnly([]));
  app.use((_request, response, next) => {
    response.set({
      "Content-Security-Policy": boardPolicy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
    });
    next();
  });
  app.get("/", (request, response) => {
    const file = known(request.query.dashboard);
    if (file === null || request.query.refresh === undefined)
      response.redirect(302, file === null ? firstPath : boardPath(file, stepSeconds));
    else response.type("html").send(boardPage(headOf(file)));
  });
  app.get("/advice", (request, response) => {
    response.type("html").send(adviceSection(headOf(known(request.query.dashboard) ?? "")).markup);
  });
  app.get("/again.js", (_request, response) => void response.type("js").send(againScript));
  app.post("/carry-out", formBody, withToken(tokens), carryOut);
  app.use((request, response) => answerBoard(request, response, sources));
  app.use(failed);
  return app;
}
