import { createHmac, randomBytes } from "node:crypto";
import { compare } from "bcryptjs";
import type { RequestHandler, Response } from "express";

/** Paths that stay open: the kubelet cannot authenticate, and they tell nothing but the state of the process. */
const openPaths: ReadonlySet<string> = new Set(["/livez", "/readyz"]);

/** Verified credentials that are remembered, so that not every scrape pays for bcrypt. */
const maxRemembered = 100;

/** Checks in progress beyond which callers are told to come back: bcrypt is slow on purpose. */
const maxWaiting = 20;

/** A hash that no password has, so that an unknown name takes as long as a wrong password. */
const nobody = "$2b$10$7EqJtq98hPqEX7fNZaFWoOhi5rJ9cS4uV3Zc8aXoO5o2x6q1J0e3K";

const userKey = "fairlead.user";

/** Who sent a request that `basicAuth` let pass; empty where everybody may. */
export function userOf({ locals }: Response): string {
  const user: unknown = locals[userKey];
  return typeof user === "string" ? user : "";
}

/** Lets only the users of the web configuration in (RFC 7617); everybody, where it has none. */
export function basicAuth(users: Readonly<Record<string, string>>): RequestHandler {
  if (Object.keys(users).length === 0) return (_request, _response, next) => next();
  const allowed = credentialCheck(users);
  return async (request, response, next) => {
    if (openPaths.has(request.path)) return next();
    const verdict = await allowed(request.headers.authorization);
    if (verdict === "yes") {
      response.locals[userKey] = parseCredentials(request.headers.authorization)?.name ?? "";
      return next();
    }
    if (verdict === "busy") {
      response.status(503).set("Retry-After", "1").type("text/plain").send("Too many logins at once. Try again.\n");
      return;
    }
    response.status(401).set("WWW-Authenticate", 'Basic realm="fairlead", charset="UTF-8"').type("text/plain");
    response.send("Not authorized. Send a name and password of basic_auth_users in the web configuration file.\n");
  };
}

function credentialCheck(users: Readonly<Record<string, string>>) {
  const key = randomBytes(32);
  const remembered = new Set<string>();
  let waiting = 0;
  let queue: Promise<unknown> = Promise.resolve();
  return async (header: string | undefined): Promise<"yes" | "no" | "busy"> => {
    const credentials = parseCredentials(header);
    if (credentials === null) return "no";
    const { name, password } = credentials;
    const hash = Object.hasOwn(users, name) ? users[name] : undefined;
    const digest = createHmac("sha256", key).update(`${name.length}:${name}:${password}`).digest("base64");
    if (hash !== undefined && remembered.has(digest)) return "yes";
    if (waiting >= maxWaiting) return "busy";
    waiting += 1;
    const check = queue.then(() => compare(password, hash ?? nobody));
    queue = check.catch(() => false);
    try {
      if (!(await check) || hash === undefined) return "no";
    } finally {
      waiting -= 1;
    }
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.add(digest);
    return "yes";
  };
}

function parseCredentials(header: string | undefined): { name: string; password: string } | null {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
