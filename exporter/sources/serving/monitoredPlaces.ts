import type { Monitor, MonitorEndpoint, MonitoredService, Monitors } from "../../model/monitors.ts";
import type { TextMap } from "../../model/node.ts";
import type { Pod, PodAddress } from "../../model/pod.ts";
import { meets } from "../../model/queues/nodeMatch.ts";

/** The place of a pod's page that a monitor names, or why it cannot be read. */
export type MonitoredPlace =
  | { readonly ok: true; readonly port: number; readonly path: string }
  | { readonly ok: false; readonly monitor: string; readonly why: string };

type MonitoredPod = Pick<Pod, "namespace" | "labels"> & { readonly address: PodAddress };

/**
 * The place that monitors name for a pod: the first of all their endpoints that can be read, else why the first one cannot.
 * `null` if no monitor names the pod. Monitors of other namespaces than the pod's are believed if their namespace is in
 * `others`.
 */
export function monitoredPlace(
  pod: MonitoredPod,
  { monitors, services }: Monitors,
  others: readonly string[],
): MonitoredPlace | null {
  const places = monitors
    .filter((monitor) => isBelieved(monitor, pod, others))
    .toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
    .flatMap((monitor) => placesOf(monitor, pod, services));
  return places.find(({ ok }) => ok) ?? places[0] ?? null;
}

const nameOf = ({ kind, namespace, name }: Monitor): string => `${kind} ${namespace}/${name}`;

/** Whether a monitor is believed about a pod: a team must not decide where another team's pods are scraped. */
function isBelieved({ namespace, namespaces }: Monitor, pod: MonitoredPod, others: readonly string[]): boolean {
  const isSelected = namespaces === null || namespaces.includes(pod.namespace);
  return isSelected && (namespace === pod.namespace || others.includes(namespace));
}

function placesOf(
  monitor: Monitor,
  pod: MonitoredPod,
  services: readonly MonitoredService[],
): readonly MonitoredPlace[] {
  const selects = (labels: TextMap): boolean => monitor.selector.every((requirement) => meets(labels, requirement));
  const places = (portOf: (endpoint: MonitorEndpoint) => number | null) =>
    monitor.endpoints.flatMap((endpoint): readonly MonitoredPlace[] => {
      const port = portOf(endpoint);
      if (port === null) return [];
      const { unreadable, path } = endpoint;
      return [
        unreadable === null ? { ok: true, port, path } : { ok: false, monitor: nameOf(monitor), why: unreadable },
      ];
    });
  if (monitor.kind === "PodMonitor")
    return selects(pod.labels) ? places(({ port, targetPort }) => portNumber(targetPort ?? port, pod.address)) : [];
  return services
    .filter((service) => selects(service.labels) && isOf(service, pod))
    .flatMap(({ ports }) =>
      places(({ port, targetPort }) => {
        const named = port === null ? undefined : ports.find(({ name }) => name === port);
        return portNumber(port === null ? targetPort : (named?.targetPort ?? null), pod.address);
      }),
    );
}

/** Whether a Service selects a pod. A Service without a selector selects none. */
function isOf({ namespace, selector }: MonitoredService, pod: MonitoredPod): boolean {
  const wanted = Object.entries(selector);
  const has = ([key, value]: readonly [string, string]) => Object.hasOwn(pod.labels, key) && pod.labels[key] === value;
  return namespace === pod.namespace && wanted.length > 0 && wanted.every(has);
}

function portNumber(port: number | string | null, { ports }: PodAddress): number | null {
  if (port === null || typeof port === "number") return port;
  return Object.hasOwn(ports, port) ? (ports[port] ?? null) : null;
}
