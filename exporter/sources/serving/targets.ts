import { isIP, isIPv6 } from "node:net";
import type { ServingRule } from "../../config/servingSchema.ts";
import type { Monitors } from "../../model/monitors.ts";
import type { Pod, PodAddress } from "../../model/pod.ts";
import { podAnnotations } from "../../model/wellKnown.ts";
import { monitoredPlace } from "./monitoredPlaces.ts";

/** A page of a pod to fetch. No credentials are ever sent to a pod. */
export interface ServingTarget {
  /** Uid of the pod. */
  readonly pod: string;
  /** `namespace/name` of the pod, for people. */
  readonly name: string;
  readonly url: string;
}

/** The part of a pod that is needed here. */
type AskedPod = Pick<Pod, "uid" | "namespace" | "name" | "labels" | "annotations" | "address">;

/** A path that is valid in any URL: an annotation is a tenant's text. */
const plainPath = /^\/[\w\-.~%!$&'()*+,;=:@/]{0,255}(?:\?[\w\-.~%!$&'()*+,;=:@/?[\]]{0,255})?$/;

/** The monitors that are believed, and the namespaces, other than the pod's own, from which they are believed. */
export interface BelievedMonitors {
  readonly monitors: Monitors;
  readonly others: readonly string[];
}

/** A pod that monitors name, but whose page is not read. */
export interface UnreadablePod {
  /** `namespace/name` of the pod. */
  readonly name: string;
  readonly monitor: string;
  /** The reason, as the end of a sentence. */
  readonly why: string;
}

/**
 * The pages of pods with GPUs, by the first rule for each. Pods without an address, and those for which neither a rule nor a
 * monitor finds a port, are left out. `onUnreadable` is called for those whose page only a monitor names, where Fairlead does
 * not read it.
 */
export function servingTargets(
  pods: readonly AskedPod[],
  rules: readonly ServingRule[],
  believed: BelievedMonitors | null = null,
  onUnreadable: (pod: UnreadablePod) => void = () => {},
): readonly ServingTarget[] {
  const targets: ServingTarget[] = [];
  for (const pod of pods) {
    const { address } = pod;
    const rule = rules.find((one) => isMeant(pod, one));
    if (address === undefined || rule === undefined || isIP(address.ip) === 0) continue;
    const name = `${pod.namespace}/${pod.name}`;
    const said = annotatedPlace(pod, rule);
    const monitored =
      said !== undefined || believed === null
        ? null
        : monitoredPlace({ ...pod, address }, believed.monitors, believed.others);
    const place = said !== undefined ? said : monitored?.ok === true ? askable(monitored) : ruledPlace(address, rule);
    if (place === null) {
      if (monitored?.ok === false) onUnreadable({ name, monitor: monitored.monitor, why: monitored.why });
      continue;
    }
    const host = isIPv6(address.ip) ? `[${address.ip}]` : address.ip;
    targets.push({ pod: pod.uid, name, url: `http://${host}:${place.port}${place.path}` });
  }
  return targets;
}

function isMeant({ namespace, labels }: AskedPod, { namespaces, matchLabels }: ServingRule): boolean {
  const isLabelled = ([key, value]: readonly [string, string]) => Object.hasOwn(labels, key) && labels[key] === value;
  return namespaces.includes(namespace) && Object.entries(matchLabels).every(isLabelled);
}

interface Place {
  readonly port: number;
  readonly path: string;
}

/**
 * Port and path of a pod's page from its own annotations; `null` if the path is not valid, `undefined` if the annotations name
 * no page.
 */
function annotatedPlace({ annotations }: AskedPod, rule: ServingRule): Place | null | undefined {
  const said = (name: string) => (Object.hasOwn(annotations, name) ? annotations[name] : undefined);
  if (!rule.annotations || said(podAnnotations.scrape) !== "true") return undefined;
  const port = portIn(said(podAnnotations.scrapePort));
  return port === null ? undefined : askable({ port, path: said(podAnnotations.scrapePath) ?? "/metrics" });
}

/** Port and path of a pod's page by the rule; `null` if the rule finds no port. */
function ruledPlace({ ports }: PodAddress, { port, path }: ServingRule): Place | null {
  if (port === undefined) return null;
  if (typeof port === "number") return { port, path };
  const named = Object.hasOwn(ports, port) ? ports[port] : undefined;
  return named === undefined || !isPort(named) ? null : { port: named, path };
}

/** The place if it is valid in any URL; else `null`. */
const askable = ({ port, path }: Place): Place | null => (isPort(port) && plainPath.test(path) ? { port, path } : null);

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;

function portIn(text: string | undefined): number | null {
  const port = text !== undefined && /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return isPort(port) ? port : null;
}
