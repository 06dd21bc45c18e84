import type { TextMap } from "./node.ts";
import type { PodSelector } from "./podPlacement.ts";

/** One page that a monitor names. Untrusted text. */
export interface MonitorEndpoint {
  /** Name of a container port (PodMonitor) or of a port of the Service (ServiceMonitor); `null` without. */
  readonly port: string | null;
  /** Number or name of a container port, which says it directly; `null` without. */
  readonly targetPort: number | string | null;
  readonly path: string;
  /** Why Fairlead does not read it, as the end of a sentence: it needs credentials or TLS; `null`: it can. */
  readonly unreadable: string | null;
}

/** A PodMonitor or ServiceMonitor of the Prometheus operator (`monitoring.coreos.com/v1`). */
export interface Monitor {
  readonly kind: "PodMonitor" | "ServiceMonitor";
  readonly namespace: string;
  readonly name: string;
  /** Which pods, or Services, it selects by their labels. */
  readonly selector: PodSelector;
  /** In which namespaces; `null`: in all. */
  readonly namespaces: readonly string[] | null;
  readonly endpoints: readonly MonitorEndpoint[];
}

/** A Service, as far as a ServiceMonitor needs it. */
export interface MonitoredService {
  readonly namespace: string;
  readonly name: string;
  readonly labels: TextMap;
  /** Labels of its pods; without any it has none of its own choosing. */
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
