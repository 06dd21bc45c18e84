import { isIP, isIPv6 } from "node:net";
import type { ServingRule } from "../../config/servingSchema.ts";
import type { Pod, PodAddress } from "../../model/pod.ts";
import { podAnnotations } from "../../model/wellKnown.ts";

/** A page of a pod to fetch. No credentials are ever sent to a pod. */
export interface ServingTarget {
  /** Uid of the pod. */
  readonly pod: string;
  /** `namespace/name` of it, for people. */
  readonly name: string;
  readonly url: string;
}

/** What is needed of a pod. */
type AskedPod = Pick<Pod, "uid" | "namespace" | "name" | "labels" | "annotations" | "address">;

/** A path that is one in any URL: an annotation is a tenant's text. */
const plainPath = /^\/[\w\-.~%!$&'()*+,;=:@/]{0,255}(?:\?[\w\-.~%!$&'()*+,;=:@/?[\]]{0,255})?$/;

/** The pages of pods with GPUs, by the first rule for each; pods without an address, or that no rule finds a port for, are left out. */
export function servingTargets(pods: readonly AskedPod[], rules: readonly ServingRule[]): readonly ServingTarget[] {
  const targets: ServingTarget[] = [];
  for (const pod of pods) {
    const { address } = pod;
    const rule = rules.find((one) => isMeant(pod, one));
    if (address === undefined || rule === undefined || isIP(address.ip) === 0) continue;
    const place = placeOf(pod, address, rule);
    if (place === null) continue;
    const host = isIPv6(address.ip) ? `[${address.ip}]` : address.ip;
    const name = `${pod.namespace}/${pod.name}`;
    targets.push({ pod: pod.uid, name, url: `http://${host}:${place.port}${place.path}` });
  }
  return targets;
}

function isMeant({ namespace, labels }: AskedPod, { namespaces, matchLabels }: ServingRule): boolean {
  const isLabelled = ([key, value]: readonly [string, string]) => Object.hasOwn(labels, key) && labels[key] === value;
  return namespaces.includes(namespace) && Object.entries(matchLabels).every(isLabelled);
}

/** Port and path of a pod's page: as it says itself, or else as the rule does. */
function placeOf(
  { annotations }: AskedPod,
  { ports }: PodAddress,
  rule: ServingRule,
): { readonly port: number; readonly path: string } | null {
  const said = (name: string) => (Object.hasOwn(annotations, name) ? annotations[name] : undefined);
  if (rule.annotations && said(podAnnotations.scrape) === "true") {
    const path = said(podAnnotations.scrapePath) ?? "/metrics";
    const port = portIn(said(podAnnotations.scrapePort));
    if (port !== null) return plainPath.test(path) ? { port, path } : null;
  }
  if (rule.port === undefined) return null;
  if (typeof rule.port === "number") return { port: rule.port, path: rule.path };
  const port = Object.hasOwn(ports, rule.port) ? ports[rule.port] : undefined;
  return port === undefined || !isPort(port) ? null : { port, path: rule.path };
}

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;

function portIn(text: string | undefined): number | null {
  const port = text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return isPort(port) ? port : null;
}
