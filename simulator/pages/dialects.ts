import type { DialectName } from "../scenario.ts";

/** How one generation of dcgm-exporter writes its page. */
export interface Dialect {
  readonly labels: {
    readonly uuid: "UUID" | "uuid";
    /** The label of the host; `null`: the page names no host. */
    readonly hostname: "Hostname" | "hostname" | null;
    readonly pod: "pod" | "pod_name";
    readonly namespace: "namespace" | "pod_namespace";
    readonly container: "container" | "container_name";
  };
  /** Whether the host label has the name of the exporter's own pod, as it had before NODE_NAME was honoured. */
  readonly hostIsExporterPod: boolean;
  /** What a GPU without a pod has in place of pod labels. */
  readonly idlePodLabels: "empty" | "absent";
  readonly hasPciBusId: boolean;
  readonly hasModelName: boolean;
  readonly hasDriverVersion: boolean;
  readonly hasPodUid: boolean;
  readonly families: "1.x" | "2.x" | "3.x" | "4.x";
  /** Whether the default list has profiling fields; the operator's list always does. */
  readonly profilingByDefault: boolean;
  readonly sortedFamilies: boolean;
  /**
   * The form of numbers. `fixed`: C's %d and %f. `shortest`: Go's shortest form, with exponents from 1e+06 up and below 1e-04.
   */
  readonly numbers: "fixed" | "shortest";
  readonly nvlinkType: "counter" | "gauge";
  readonly contentType: string;
}

const current: Dialect = {
  labels: { uuid: "UUID", hostname: "Hostname", pod: "pod", namespace: "namespace", container: "container" },
  hostIsExporterPod: false,
  idlePodLabels: "absent",
  hasPciBusId: true,
  hasModelName: true,
  hasDriverVersion: true,
  hasPodUid: true,
  families: "4.x",
  profilingByDefault: true,
  sortedFamilies: false,
  numbers: "fixed",
  nvlinkType: "counter",
  contentType: "text/plain; charset=utf-8",
};

const early: Dialect = {
  ...current,
  hostIsExporterPod: true,
  idlePodLabels: "empty",
  hasPciBusId: false,
  hasDriverVersion: false,
  hasPodUid: false,
  families: "2.x",
  profilingByDefault: false,
};

/** The generations of dcgm-exporter that the simulator knows. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  "2.4": early,
  "3.3": {
    ...current,
    hasPciBusId: false,
    hasPodUid: false,
    families: "3.x",
    profilingByDefault: false,
  },
  "old-namespace": {
    ...early,
    labels: {
      uuid: "uuid",
      hostname: null,
      pod: "pod_name",
      namespace: "pod_namespace",
      container: "container_name",
    },
    hasModelName: false,
    families: "1.x",
  },
  "4.5": current,
  "4.8.3": {
    ...current,
    labels: { ...current.labels, hostname: "hostname" },
    sortedFamilies: true,
    numbers: "shortest",
    nvlinkType: "gauge",
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  },
};
