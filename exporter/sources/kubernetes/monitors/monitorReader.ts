import type { Monitor, MonitoredService, Monitors } from "../../../model/monitors.ts";
import type { Problem } from "../../../model/problem.ts";
import type { ApiClient } from "../apiClient.ts";
import { type Clock, type Repetition, repeat } from "../clock.ts";
import type { Decoded } from "../decoded.ts";
import { jsonWire } from "../jsonWire.ts";
import { groupVersionPath } from "../kinds.ts";
import { listPages } from "../listPages.ts";
import { grantStep, resourceName } from "../rights.ts";
import type { Setback } from "../setback.ts";
import { decodePodMonitor, decodeService, decodeServiceMonitor } from "./decodeMonitors.ts";

/** The kinds that are listed; the right to list them is `monitors`. */
export const monitorKinds = {
  podMonitors: { group: "monitoring.coreos.com", version: "v1", resource: "podmonitors" },
  serviceMonitors: { group: "monitoring.coreos.com", version: "v1", resource: "servicemonitors" },
  services: { group: "", version: "v1", resource: "services" },
} as const;

type MonitorKind = keyof typeof monitorKinds;

/** The namespaces that are read. */
export interface MonitorPlaces {
  /** Namespaces of pods whose servers are asked: their Services are read, and the monitors in the same namespaces. */
  readonly ofPods: readonly string[];
  /** Other namespaces, whose monitors are believed about these pods. */
  readonly others: readonly string[];
}

/** Lists monitors and Services repeatedly. */
export interface MonitorReader extends Repetition {
  /**
   * The monitors that were read last; the same object until something is read again. `null` before that, and where they are too
   * old.
   */
  read(): Monitors | null;
  problems(): readonly Problem[];
}

const secondsBetween = 60;
const maxAgeSeconds = 900;
const pageDeadlineSeconds = 10;
const maxPageBytes = 16 * 1024 * 1024;
const pageSize = 500;
/** The greatest number of objects that are read; no namespace of servers has more of one kind. */
const mostObjects = 2000;

/**
 * Creates the reader. If something cannot be read, what was read before is kept, and there is a problem; a cluster without
 * monitors has none.
 */
export function createMonitorReader(client: ApiClient, clock: Clock, { ofPods, others }: MonitorPlaces): MonitorReader {
  const ofMonitors = [...new Set([...ofPods, ...others])];
  let last: { readonly monitors: Monitors; readonly readAt: number } | null = null;
  let problems: readonly Problem[] = [];

  const look = async (signal: AbortSignal): Promise<void> => {
    const found: Problem[] = [];
    const list = async <Row>(
      kind: MonitorKind,
      namespaces: readonly string[],
      decode: (value: unknown) => Decoded<Row>,
    ) => {
      const rows: Row[] = [];
      for (const namespace of namespaces) {
        const setback = await listIn(kind, namespace, decode, rows, signal);
        if (setback?.state === "absent") return rows;
        if (setback !== null) found.push(problemOf(kind, setback));
        if (setback !== null || signal.aborted) return null;
      }
      return rows;
    };
    const podMonitors = await list<Monitor>("podMonitors", ofMonitors, decodePodMonitor);
    const serviceMonitors = await list<Monitor>("serviceMonitors", ofMonitors, decodeServiceMonitor);
    const hasOfServices = (serviceMonitors?.length ?? 0) > 0;
    const services = hasOfServices ? await list<MonitoredService>("services", ofPods, decodeService) : [];
    if (signal.aborted) return;
    problems = found;
    if (podMonitors === null || serviceMonitors === null || services === null) return;
    last = { monitors: { monitors: [...podMonitors, ...serviceMonitors], services }, readAt: clock.monotonic() };
  };

  const listIn = async <Row>(
    kind: MonitorKind,
    namespace: string,
    decode: (value: unknown) => Decoded<Row>,
    rows: Row[],
    signal: AbortSignal,
  ): Promise<Setback | null> => {
    const { group, version, resource } = monitorKinds[kind];
    const before = rows.length;
    const outcome = await listPages<Row>({
      client,
      path: `${groupVersionPath(group, version)}/namespaces/${encodeURIComponent(namespace)}/${resource}`,
      wire: jsonWire(decode),
      pageSize,
      pageDeadlineSeconds,
      maxPageBytes,
      signal,
      begin: () => {
        rows.length = before;
        return ({ decoded }) => {
          if (decoded.ok && rows.length - before < mostObjects) rows.push(decoded.value);
        };
      },
    });
    return outcome.ok ? null : outcome.setback;
  };

  return {
    ...repeat(clock, secondsBetween, look),
    read: () => (last !== null && clock.monotonic() - last.readAt <= maxAgeSeconds ? last.monitors : null),
    problems: () => problems,
  };
}

function problemOf(kind: MonitorKind, { state, message }: Setback): Problem {
  const { group, resource } = monitorKinds[kind];
  const name = resourceName(group, resource);
  return {
    source: "kubernetes",
    code: "monitors-unreadable",
    severity: "warning",
    subject: name,
    message: `${name} cannot be read: ${message}; pods that only they name are not asked for their requests`,
    nextStep:
      state === "forbidden"
        ? `${grantStep("list", name, "monitors")} Or set serving.monitors.enabled to false.`
        : "Check that the API server answers; it is asked again by itself.",
  };
}
