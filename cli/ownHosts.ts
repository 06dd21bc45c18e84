import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { parseListenAddress } from "../exporter/publish/http/listenAddress.ts";

const resolvConf = "/etc/resolv.conf";

/**
 * The names under which this Fairlead may be asked: those of its machine and of its Services, and those that the configuration
 * allows.
 */
export async function ownHosts(listenAddress: string, allowed: readonly string[]): Promise<string[]> {
  const host = parseListenAddress(listenAddress)?.host ?? null;
  const text = await readFile(resolvConf, "utf8").catch(() => "");
  return [...allowed, ...(host === null ? [] : [host]), hostname(), ...serviceNames(text, hostname())];
}

/**
 * Names of Services that may lead to this pod; the search list of its resolver has the cluster's domain and the pod's
 * namespace. No outsider can have a name below `svc` or the cluster's domain. `NAME.NAMESPACE` is accepted only if the pod's
 * name begins with NAME, because a namespace may have the name of a top-level domain.
 */
export function serviceNames(resolver: string, pod: string): string[] {
  const search = /^\s*search\s+(.*)$/m.exec(resolver)?.[1]?.trim().split(/\s+/) ?? [];
  const names = ["*.svc", "*.cluster.local"];
  for (const domain of search) {
    if (/^svc\../.test(domain)) names.push(`*.${domain}`);
    const namespace = /^([^.]+)\.svc\../.exec(domain)?.[1];
    if (namespace === undefined) continue;
    const parts = pod.split("-");
    for (const count of parts.keys()) names.push(`${parts.slice(0, count + 1).join("-")}.${namespace}`);
  }
  return names;
}
