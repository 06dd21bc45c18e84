import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { json, type RequestHandler, urlencoded } from "express";
import { userOf } from "../front/caller.ts";
import { refusal, sendRefusal } from "./refusal.ts";

/** Largest body that is read: a thousand alerts with their annotations. */
const maxBody = "1mb";

/**
 * Lets a POST pass only where users are configured (`basicAuth` then lets only them in): nobody could rely on what anybody may
 * write.
 */
export function onlyUsers(users: Readonly<Record<string, string>>): RequestHandler {
  const isOpen = Object.keys(users).length === 0;
  return (_request, response, next) => {
    if (!isOpen) return next();
    const nextStep =
      "Give basic_auth_users in the web configuration file (--web.config.file), and send a name and password.";
    sendRefusal(response, refusal("nobody may write here: no users are configured", nextStep, 403));
  };
}

/**
 * Reads a JSON body; a browser cannot be made to send one across sites without asking first, and Fairlead does not allow that.
 */
export const jsonBody: readonly RequestHandler[] = [
  (request, response, next) => {
    if (request.is("application/json") !== false) return next();
    sendRefusal(response, refusal("the body is not JSON", "Send it with Content-Type: application/json.", 415));
  },
  json({ limit: maxBody, strict: true }),
];

/** Reads the fields of a form. */
export const formBody: RequestHandler = urlencoded({ limit: "16kb", extended: false, parameterLimit: 20 });

/** Ties a form to the user who got it, so that no other site can make a browser send it. */
interface FormTokens {
  tokenFor(user: string): string;
  isTokenOf(user: string, token: unknown): boolean;
}

/** Creates the tokens of one process: after a restart, a page must be loaded again. */
export function createFormTokens(): FormTokens {
  const key = randomBytes(32);
  const tokenFor = (user: string): string => createHmac("sha256", key).update(user).digest("base64url");
  return {
    tokenFor,
    isTokenOf(user, token) {
      const wanted = Buffer.from(tokenFor(user));
      const given = Buffer.from(typeof token === "string" ? token : "");
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    },
  };
}

/** Accepts a form only with its token. */
export function withToken(tokens: FormTokens): RequestHandler {
  return (request, response, next) => {
    const body: unknown = request.body;
    const token = typeof body === "object" && body !== null && "token" in body ? body.token : undefined;
    if (tokens.isTokenOf(userOf(response), token)) return next();
    response
      .status(403)
      .type("text/plain")
      .send("The form is too old, or not from here. Load /recommendations again.\n");
  };
}
