import type { TextMap } from "./node.ts";
import type { PodSelector } from "./podPlacement.ts";

/** One page that a monitor names. Untrusted text. */
export interface MonitorEndpoint {
  /** Name of a container port (PodMonitor) or of a port of the Service (ServiceMonitor); `null` if it names none. */
  readonly port: string | null;
  /** Number or name of a container port, named directly; `null` if it names none. */
  readonly targetPort: number | string | null;
  readonly path: string;
  /**
   * Why Fairlead does not read the page, as the end of a sentence: it needs credentials or TLS; `null`: Fairlead can read it.
   */
  readonly unreadable: string | null;
}

/** A PodMonitor or ServiceMonitor of the Prometheus operator (`monitoring.coreos.com/v1`). */
export interface Monitor {
  readonly kind: "PodMonitor" | "ServiceMonitor";
  readonly namespace: string;
  readonly name: string;
  /** The labels of the pods, or Services, that it selects. */
  readonly selector: PodSelector;
  /** The namespaces in which it selects; `null`: all namespaces. */
  readonly namespaces: readonly string[] | null;
  readonly endpoints: readonly MonitorEndpoint[];
}

/** A Service, as far as a ServiceMonitor needs it. */
export interface MonitoredService {
  readonly namespace: string;
  readonly name: string;
  readonly labels: TextMap;
  /** Labels of the pods behind the Service; if it is empty, the Service selects no pods itself. */
  readonly selector: TextMap;
  readonly ports: readonly ServicePort[];
}

export interface ServicePort {
  readonly name: string;
  /** Number or name of the container port. */
  readonly targetPort: number | string;
}

/** The monitors and Services of the namespaces that are looked at. */
export interface Monitors {
  readonly monitors: readonly Monitor[];
  readonly services: readonly MonitoredService[];
}
