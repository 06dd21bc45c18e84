import { isIP } from "node:net";
import type { RequestHandler } from "express";

/**
 * Refuses requests under a foreign name. A stranger's page may make its own name lead here (DNS rebinding), and the browsers of
 * its visitors would then let it read what Fairlead answers. Addresses, `localhost` and names without a dot cannot be a
 * stranger's; others must be among `hosts`, in which `*.` at the beginning matches any names before the rest, and `*` alone all
 * names. `null`: every name is answered.
 */
export function ownHostsOnly(hosts: readonly string[] | null): RequestHandler {
  if (hosts === null || hosts.includes("*")) return (_request, _response, next) => next();
  const allowed = hosts.map((host) => host.toLowerCase());
  return (request, response, next) => {
    const name = nameIn(request.headers.host);
    if (name === null || isOwn(name, allowed)) return next();
    response.status(421).type("text/plain");
    response.send(
      `Fairlead does not answer to the name ${JSON.stringify(name.slice(0, 253))}.\nNext step: if it is yours, add it to web.allowedHosts in the configuration file.\n`,
    );
  };
}

/** The name without its port; `null` where none was sent, which no browser does. */
function nameIn(host: string | undefined): string | null {
  if (host === undefined || host === "") return null;
  const name = /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, "");
  return name.toLowerCase().replace(/\.$/, "");
}

function isOwn(name: string, allowed: readonly string[]): boolean {
  if (isIP(name) !== 0 || !name.includes(".") || name.endsWith(".localhost")) return true;
  return allowed.some((host) => (host.startsWith("*.") ? name.endsWith(host.slice(1)) : name === host));
}
