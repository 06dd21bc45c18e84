import { isIP, isIPv6 } from "node:net";
import type { Config } from "../../config/schema.ts";
import type { GetRequest } from "../http/getPool.ts";

/** What discovery needs to know about a pod that the Kubernetes source found to be an exporter. */
export interface DiscoveredPod {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  readonly podIp: string;
  /** Container ports by name. */
  readonly ports: Readonly<Record<string, number>>;
  readonly ready: boolean;
  /** The controller that created it; `null` or absent if there is none, or if it is not known. */
  readonly owner?: { readonly kind: string; readonly name: string } | null;
  /** Creation time, seconds since the epoch; `null` or absent where the object does not report it. */
  readonly createdAt?: number | null;
}

/** How the exporters of some namespaces are scraped. */
export type DiscoveryRule = Omit<Config["dcgm"]["discovery"][number], "matchLabels">;

/** A page that the configuration lists. */
export type ListedTarget = Config["dcgm"]["targets"][number];

/** One page to fetch. Discovered targets get no credentials. */
export interface ScrapeTarget extends GetRequest {
  /** The node that it speaks for; with `null` the page's host label decides (only for targets that the configuration lists). */
  readonly node: string | null;
}

/** Names of the metrics port in the pods of the GPU Operator and of the stand-alone chart. */
const usualPortNames = ["gpu-metrics", "metrics"] as const;
const usualPort = 9400;

/**
 * All pages to fetch: the listed ones, and one for each node that runs an exporter that is believed. Among several pods on a
 * node, a ready one of the controller is preferred, then the first by name. The first rule that names a pod's namespace decides
 * how it is scraped, except that a rule whose named port the pod has is preferred to one whose port it lacks. Discovered
 * targets get no credentials. Pure.
 */
export function discoverTargets(
  pods: readonly DiscoveredPod[],
  rules: readonly DiscoveryRule[],
  listed: readonly ListedTarget[],
): readonly ScrapeTarget[] {
  const targets = new Map<string, ScrapeTarget>();
  for (const { url, node, auth, caFile, insecureSkipVerify } of listed) {
    targets.set(url, { url, node: node ?? null, auth, caFile: caFile ?? null, insecureSkipVerify });
  }
  const listedNodes = new Set(listed.map(({ node }) => node));
  for (const [nodeName, pod] of onePerNode(pods)) {
    const rule = ruleFor(pod, rules);
    if (rule === null || listedNodes.has(nodeName)) continue;
    const host = isIPv6(pod.podIp) ? `[${pod.podIp}]` : pod.podIp;
    const url = `${rule.scheme}://${host}:${portOf(pod, rule)}${rule.path}`;
    if (targets.has(url)) continue;
    targets.set(url, {
      url,
      node: nodeName,
      auth: { kind: "none" },
      caFile: rule.caFile ?? null,
      insecureSkipVerify: false,
    });
  }
  return [...targets.values()];
}

function onePerNode(pods: readonly DiscoveredPod[]): ReadonlyMap<string, DiscoveredPod> {
  const byNode = new Map<string, DiscoveredPod>();
  for (const pod of pods) {
    if (pod.nodeName === "" || isIP(pod.podIp) === 0) continue;
    const other = byNode.get(pod.nodeName);
    if (other === undefined || isBetter(pod, other)) byNode.set(pod.nodeName, pod);
  }
  return byNode;
}

function isBetter(pod: DiscoveredPod, other: DiscoveredPod): boolean {
  if (pod.ready !== other.ready) return pod.ready;
  return `${pod.namespace}/${pod.name}` < `${other.namespace}/${other.name}`;
}

function ruleFor(pod: DiscoveredPod, rules: readonly DiscoveryRule[]): DiscoveryRule | null {
  const candidates = rules.filter(({ namespaces }) => namespaces.includes(pod.namespace));
  const exact = candidates.find(({ port }) => typeof port === "string" && Object.hasOwn(pod.ports, port));
  return exact ?? candidates[0] ?? null;
}

function portOf(pod: DiscoveredPod, rule: DiscoveryRule): number {
  if (typeof rule.port === "number") return rule.port;
  for (const name of [rule.port, ...usualPortNames]) {
    const port = Object.hasOwn(pod.ports, name) ? pod.ports[name] : undefined;
    if (port !== undefined) return port;
  }
  return usualPort;
}
