import { createHmac, randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { RequestHandler, Response } from "express";
import { addressOf, setUser } from "./caller.ts";
import { type ComparePassword, createPasswords } from "./passwords.ts";

/**
 * The most passwords that wait to be compared. Further callers are asked to come back later, because bcrypt is slow on purpose.
 */
const maxWaiting = 10;

/** The most passwords of one address that wait. */
const maxWaitingOfOne = 3;

/** A hash that no password has, so that an unknown name takes as long as a wrong password. */
const nobody = "$2b$10$7EqJtq98hPqEX7fNZaFWoOhi5rJ9cS4uV3Zc8aXoO5o2x6q1J0e3K";

/** Whether the request is let in; `later`: it may be tried again after this many seconds. */
type Verdict = { readonly may: "yes"; readonly user: string } | { readonly may: "no" } | { readonly later: number };

/** Lets only the users of the web configuration in (RFC 7617); or everybody where it has none. */
export function basicAuth(
  users: Readonly<Record<string, string>>,
  compare: ComparePassword = createPasswords(),
): RequestHandler {
  if (Object.keys(users).length === 0) return (_request, _response, next) => next();
  const verdictOn = credentialCheck(users, compare);
  return async (request, response, next) => {
    const verdict = await verdictOn(request.headers.authorization, addressOf(request.socket));
    if ("later" in verdict) return comeLater(response, verdict.later);
    if (verdict.may === "yes") {
      setUser(response, verdict.user);
      return next();
    }
    response.status(401).set("WWW-Authenticate", 'Basic realm="fairlead", charset="UTF-8"').type("text/plain");
    response.send("Not authorized. Send a name and password of basic_auth_users in the web configuration file.\n");
  };
}

function comeLater(response: Response, seconds: number): void {
  response
    .status(429)
    .set("Retry-After", `${Math.ceil(seconds)}`)
    .type("text/plain")
    .send("Too many logins, or too many that failed. Try again later.\n");
}

function credentialCheck(users: Readonly<Record<string, string>>, compare: ComparePassword) {
  const key = randomBytes(32);
  /**
   * The digest of the name and password that let each user in last. It saves the slow comparison: scrapers come every few
   * seconds, and the configuration stays as it is.
   */
  const right = new Map<string, string>();
  const backOff = createLoginBackOff();
  const waiting: string[] = [];
  return async (header: string | undefined, address: string): Promise<Verdict> => {
    const credentials = parseCredentials(header);
    if (credentials === null) return { may: "no" };
    const { name, password } = credentials;
    const digest = createHmac("sha256", key).update(`${name.length}:${name}:${password}`).digest("base64");
    if (right.get(name) === digest) return { may: "yes", user: name };
    const now = performance.now() / 1000;
    const later = backOff.waitOf(address, now);
    if (later > 0) return { later };
    const ofAddress = waiting.filter((one) => one === address).length;
    if (waiting.length >= maxWaiting || ofAddress >= maxWaitingOfOne) return { later: 1 };
    const hash = Object.hasOwn(users, name) ? users[name] : undefined;
    waiting.push(address);
    try {
      if ((await compare({ password, hash: hash ?? nobody })) && hash !== undefined) {
        right.set(name, digest);
        return { may: "yes", user: name };
      }
    } finally {
      waiting.splice(waiting.indexOf(address), 1);
    }
    backOff.failed(address, performance.now() / 1000);
    return { may: "no" };
  };
}

function parseCredentials(header: string | undefined): { name: string; password: string } | null {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** How often an address may fail before it has to wait. */
const freeFailures = 5;
/** The first wait, seconds; each further failure doubles it. */
const firstSeconds = 0.5;
const longestSeconds = 5;
/** Seconds without another failure after which the earlier ones are forgotten. */
const forgetSeconds = 60;
/** The most addresses that are remembered; the one that failed longest ago is forgotten first. */
const maxAddresses = 10_000;

/** Makes addresses that fail again and again wait. Times are seconds on a clock that is never set. */
interface LoginBackOff {
  /** Seconds until the address may try again; 0 at once. */
  waitOf(address: string, now: number): number;
  failed(address: string, now: number): void;
}

export function createLoginBackOff(): LoginBackOff {
  const known = new Map<string, { readonly failures: number; readonly at: number }>();
  return {
    waitOf(address, now) {
      const { failures, at } = known.get(address) ?? { failures: 0, at: 0 };
      if (failures < freeFailures) return 0;
      const wait = Math.min(longestSeconds, firstSeconds * 2 ** (failures - freeFailures));
      return Math.max(0, at + wait - now);
    },
    failed(address, now) {
      const last = known.get(address);
      const failures = last === undefined || now - last.at > forgetSeconds ? 1 : last.failures + 1;
      known.delete(address);
      known.set(address, { failures, at: now });
      const [oldest] = known.keys();
      if (known.size > maxAddresses && oldest !== undefined) known.delete(oldest);
    },
  };
}
