import { isIPv6 } from "node:net";
import { dialects } from "./dialects.ts";
import type { DiscoveredPod } from "./discover.ts";

/** Labels of a row that have a value. */
type Labels = ReadonlyMap<string, string>;

/** Finds the node to which a row belongs; `null` if nothing shows it. */
export type NodeNamer = (labels: Labels) => string | null;

const hostLabels = dialects.flatMap(({ labels }) => labels.host);

/**
 * The node to which a row belongs. If the configuration names a label, only that label decides. Otherwise, best first: the
 * node of the exporter pod that is in the target's labels `namespace` and `pod`, or at the address in `instance` (both are set
 * by the server from its service discovery, and an exporter cannot write them unless the job honours its labels; the
 * Kubernetes API knows where the pod runs); then the host label, which the exporter writes itself, and which counts only for
 * nodes on which the API has no exporter: otherwise anybody with a scraped page could report about any node. A row of a
 * rejected exporter pod (`rejected`) belongs to none.
 */
export function nodeNamer(
  nodeLabel: string | null,
  exporters: readonly DiscoveredPod[],
  rejected: readonly DiscoveredPod[] = [],
): NodeNamer {
  const unbelieved = new Set(rejected.map(({ namespace, name }) => `${namespace}/${name}`));
  if (nodeLabel !== null) return (labels) => (unbelieved.has(podOf(labels)) ? null : (labels.get(nodeLabel) ?? null));
  const byPod = new Map<string, string>();
  const withExporter = new Set<string>();
  const byAddress = new Map<string, string | null>();
  for (const { nodeName } of rejected) withExporter.add(nodeName);
  for (const { namespace, name, nodeName, podIp, ports } of exporters) {
    if (nodeName === "") continue;
    byPod.set(`${namespace}/${name}`, nodeName);
    withExporter.add(nodeName);
    if (podIp === "") continue;
    noteUnlessTwo(byAddress, podIp, nodeName);
    for (const port of Object.values(ports)) noteUnlessTwo(byAddress, addressOf(podIp, port), nodeName);
  }
  return (labels) => {
    if (unbelieved.has(podOf(labels))) return null;
    const ofPod = byPod.get(podOf(labels));
    const instance = labels.get("instance");
    if (ofPod !== undefined || instance === undefined) return ofPod ?? ofHost(labels, withExporter);
    return byAddress.get(instance) ?? byAddress.get(hostOf(instance)) ?? ofHost(labels, withExporter);
  };
}

/** The pod in the plain labels of a row, as `namespace/name`. */
export function podOf(labels: Labels): string {
  return `${labels.get("namespace") ?? ""}/${labels.get("pod") ?? ""}`;
}

function ofHost(labels: Labels, withExporter: ReadonlySet<string>): string | null {
  const host = hostLabels.map((label) => labels.get(label)).find((text) => text !== undefined);
  return host === undefined || withExporter.has(host) ? null : host;
}

/** Records the node of a name. A name that refers to two nodes counts for none. */
function noteUnlessTwo(names: Map<string, string | null>, name: string, node: string): void {
  const known = names.get(name);
  names.set(name, known === undefined || known === node ? node : null);
}

function addressOf(ip: string, port: number): string {
  return `${isIPv6(ip) ? `[${ip}]` : ip}:${port}`;
}

/** The address without the port: `10.0.0.1` for `10.0.0.1:9400`, `fd00::1` for `[fd00::1]:9400`. */
function hostOf(instance: string): string {
  return instance.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
}
