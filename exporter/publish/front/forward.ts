import { request as ask, createServer, type IncomingMessage, type RequestListener } from "node:http";
import { type Duplex, pipeline } from "node:stream";
import type { RequestHandler, Response } from "express";
import { setUser, userOf } from "./caller.ts";
import { keepTurn } from "./turns.ts";

/**
 * Opens a way to a thread that answers questions, on behalf of a user (empty: nobody was authenticated); `null` while there is
 * no such thread.
 */
type OpenWay = (user: string) => Duplex | null;

/** The headers of a request that matter to its answer. */
const passedOn = ["accept", "content-length", "content-type", "host", "transfer-encoding"] as const;

/** Headers that concern only two neighbours (RFC 9110, section 7.6.1), and headers that the server writes itself. */
const notPassedBack: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding", "date"]);

/** The longest wait for the beginning of an answer. */
const patienceMilliseconds = 60_000;

/** After this many times the longest wait, no answer is expected any more, and the question is given up. */
const hopelessAfter = 10;

/**
 * A pipeline alone listens seven times for the end of a response, and Node warns of the eleventh listener as if it were a leak.
 */
const mostListeners = 20;

/**
 * Answers with the response of another thread: HTTP within the process, by Node's own client. No more is taken from the other
 * thread than the reader takes. An answer that is being computed for a reader who has gone keeps its turn until it is done.
 */
export function forward(open: OpenWay, patience: number = patienceMilliseconds): RequestHandler {
  return (request, response) => {
    const way = open(userOf(response));
    if (way === null) return unanswered(response, "nothing is computed yet: Fairlead is starting");
    response.setMaxListeners(mostListeners);
    const { method, originalUrl: path } = request;
    const question = ask({ createConnection: () => way, method, path, headers: passOn(request), setHost: false });
    let hasAnswer = false;
    const isDone = keepTurn(response);
    const timer = setTimeout(
      () => unanswered(response, "there was no answer in time: Fairlead is busy, or hangs"),
      patience,
    );
    const abandon = setTimeout(() => question.destroy(), hopelessAfter * patience);
    question.on("close", () => {
      clearTimeout(abandon);
      isDone();
    });
    question.on("response", (answer) => {
      clearTimeout(timer);
      clearTimeout(abandon);
      if (response.headersSent || response.destroyed) return void question.destroy();
      hasAnswer = true;
      response.status(answer.statusCode ?? 500);
      passBack(answer, response);
      // A reader who has gone away is no error, and an answer that breaks off also breaks off for its reader.
      pipeline(answer, response, () => {});
    });
    question.on("error", () => {
      clearTimeout(timer);
      if (response.headersSent) response.destroy();
      else unanswered(response, "the answer broke off");
    });
    response.once("close", () => {
      clearTimeout(timer);
      // Once there is an answer, the other thread waits only for the reader to take it, and need not wait any longer.
      if (hasAnswer) question.destroy();
    });
    if (method === "POST") pipeline(request, question, () => {});
    else question.end();
  };
}

function passOn({ headers }: IncomingMessage): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of passedOn) {
    const value = headers[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

function passBack(answer: IncomingMessage, response: Response): void {
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    if (values !== undefined && !notPassedBack.has(name)) response.setHeader(name, values);
  }
}

function unanswered(response: Response, error: string): void {
  if (response.headersSent || response.destroyed) return;
  response
    .status(503)
    .set("Retry-After", "5")
    .json({ error, nextStep: "Ask again; /livez and /readyz say how it is doing." });
}

/**
 * Answers the questions that `forward` sends: one at a time on each way. The returned function takes such a way, and the user
 * whom the other side has authenticated.
 */
export function createAnswerer(answers: RequestListener): (way: Duplex, user: string) => void {
  const users = new WeakMap<object, string>();
  const server = createServer((request, response) => {
    setUser(response, users.get(request.socket) ?? "");
    answers(request, response);
  });
  // Limits of time belong to the side that speaks with the network.
  server.requestTimeout = 0;
  server.headersTimeout = 0;
  server.timeout = 0;
  return (way, user) => {
    users.set(way, user);
    server.emit("connection", way);
  };
}
