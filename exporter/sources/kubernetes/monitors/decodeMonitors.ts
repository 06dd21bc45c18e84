import type { Monitor, MonitorEndpoint, MonitoredService, ServicePort } from "../../../model/monitors.ts";
import { nameText, optionalName, shortText, someItems, textMap, wholeLabels } from "../boundedFields.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, flag, has, type Place, textItems } from "../fields.ts";
import { selectorRequirements } from "../podPlacement.ts";

/** Decodes a PodMonitor (`monitoring.coreos.com/v1`). */
export const decodePodMonitor = (value: unknown): Decoded<Monitor> =>
  decodeMonitor("PodMonitor", "podMetricsEndpoints", value);

/** Decodes a ServiceMonitor (`monitoring.coreos.com/v1`). */
export const decodeServiceMonitor = (value: unknown): Decoded<Monitor> =>
  decodeMonitor("ServiceMonitor", "endpoints", value);

/** The greatest number of endpoints that are read; no real monitor has more. */
const mostEndpoints = 64;

function decodeMonitor(kind: Monitor["kind"], endpoints: string, value: unknown): Decoded<Monitor> {
  return decodeObject(kind, value, (object, { namespace, name }) => {
    const spec = child(object, "spec");
    return {
      kind,
      namespace,
      name,
      selector: selectorRequirements(child(spec, "selector")),
      namespaces: namespacesOf(child(spec, "namespaceSelector"), namespace),
      endpoints: someItems(spec, endpoints, mostEndpoints).map(endpointOf),
    };
  });
}

/** The namespaces that a monitor selects, by default only its own; `null` for all. */
function namespacesOf(selector: Place, own: string): readonly string[] | null {
  if (flag(selector, "any")) return null;
  const names = textItems(selector, "matchNames").slice(0, 256);
  return names.length === 0 ? [own] : names;
}

function endpointOf(endpoint: Place): MonitorEndpoint {
  const path = shortText(endpoint, "path", 256);
  const number = endpoint.value.portNumber;
  return {
    port: optionalName(endpoint, "port"),
    targetPort: typeof number === "number" ? number : portIn(endpoint.value.targetPort),
    path: path === "" ? "/metrics" : path,
    unreadable: unreadableIn(endpoint),
  };
}

/** The port of an endpoint, which is a number or a name. */
const portIn = (port: unknown): number | string | null =>
  typeof port === "number" ? port : typeof port === "string" && port !== "" ? port.slice(0, 253) : null;

/** Fields that call for something other than a plain request for the page. Their values are never read. */
const unusable: readonly (readonly [field: string, why: string])[] = [
  ["basicAuth", "it wants credentials (basicAuth), which Fairlead never uses"],
  ["authorization", "it wants credentials (authorization), which Fairlead never uses"],
  ["bearerTokenSecret", "it wants credentials (bearerTokenSecret), which Fairlead never uses"],
  ["bearerTokenFile", "it wants credentials (bearerTokenFile), which Fairlead never uses"],
  ["oauth2", "it wants credentials (oauth2), which Fairlead never uses"],
  ["tlsConfig", "it is served over TLS (tlsConfig), which Fairlead does not speak to pods"],
  ["proxyUrl", "it is reached through a proxy (proxyUrl)"],
  ["params", "it wants parameters of a request (params)"],
];

function unreadableIn(endpoint: Place): string | null {
  const isUsed = (field: string): boolean => {
    const value = endpoint.value[field];
    // The API server of older releases fills in an empty reference to a Secret.
    return (
      has(endpoint, field) &&
      value !== "" &&
      !(field === "bearerTokenSecret" && child(endpoint, field).value.key === "")
    );
  };
  if (shortText(endpoint, "scheme", 16).toLowerCase() === "https")
    return "it is served over TLS (scheme: https), which Fairlead does not speak to pods";
  return unusable.find(([field]) => isUsed(field))?.[1] ?? null;
}

/** Decodes a Service (`v1`). */
export function decodeService(value: unknown): Decoded<MonitoredService> {
  return decodeObject("Service", value, (object, { namespace, name }) => {
    const spec = child(object, "spec");
    return {
      namespace,
      name,
      labels: textMap(child(object, "metadata"), "labels", wholeLabels),
      selector: textMap(spec, "selector", wholeLabels),
      ports: someItems(spec, "ports", mostEndpoints).flatMap((port): readonly ServicePort[] => {
        const targetPort = portIn(port.value.targetPort) ?? portIn(port.value.port);
        return targetPort === null ? [] : [{ name: nameText(port, "name"), targetPort }];
      }),
    };
  });
}
