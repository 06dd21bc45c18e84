import { hashOfName, hashOfRange, spells } from "../../kernel/exposition/bytes.ts";
import {
  dialects,
  type LabelRole,
  labelRoles,
  type MetricSpelling,
  signals,
  type TelemetryDialect,
} from "./dialects.ts";
import { surelyValidUpTo } from "./sanitise.ts";

/** One metric name, with what the reader of a page needs to know about it. */
export interface KnownMetric extends MetricSpelling {
  /** Index of the signal in `signals`. */
  readonly column: number;
  readonly sentinels: TelemetryDialect["sentinels"];
  /** Values from 0 up to this one, in the exporter's unit, need no further look. */
  readonly surelyValidUpTo: number;
}

/** What to do with the rows of a metric: read the value, note only that the device is there, or skip. */
export type MetricUse = KnownMetric | "presence" | "skip";

/**
 * Roles for which the first label of a row counts; for all others the last one does. Exporters before 4.8.3 repeat a label
 * name when a pod's own label collides with theirs, and write: the device's labels, the pod's own labels, the mapping to a pod
 * (`internal/pkg/rendermetrics/render_metrics.go`). So a pod's label can take neither the device's place nor another pod's
 * name.
 */
const firstCounts: ReadonlySet<LabelRole> = new Set([
  "uuid",
  "gpuInstance",
  "profile",
  "modelName",
  "gpuIndex",
  "host",
  "otherEntity",
]);

/** The place where the value of a label name goes. */
export interface LabelPlace {
  readonly name: string;
  readonly role: LabelRole;
  readonly keepsFirst: boolean;
}

const metrics = new Map<string, KnownMetric>();
/** The metrics by the hash of their name, as below. */
const metricsByHash = new Map<number, KnownMetric[]>();
/** The labels by the hash of their name, so that a name need not be decoded to be found. */
const labels = new Map<number, LabelPlace[]>();
for (const dialect of dialects) {
  for (const metric of dialect.metrics) {
    const { sentinels } = dialect;
    const known: KnownMetric = {
      ...metric,
      column: signals.indexOf(metric.signal),
      sentinels,
      surelyValidUpTo: surelyValidUpTo(metric.quantity, sentinels),
    };
    metrics.set(metric.name, known);
    const hash = hashOfName(metric.name);
    metricsByHash.set(hash, [...(metricsByHash.get(hash) ?? []), known]);
  }
  for (const role of labelRoles) {
    for (const name of dialect.labels[role]) {
      const hash = hashOfName(name);
      labels.set(hash, [...(labels.get(hash) ?? []), { name, role, keepsFirst: firstCounts.has(role) }]);
    }
  }
}

const prefixes = dialects.flatMap((dialect) => dialect.prefixes);

/** The use of the rows of a metric name. */
export function useOfMetric(name: string): MetricUse {
  const known = metrics.get(name);
  if (known !== undefined) return known;
  return prefixes.some((prefix) => name.startsWith(prefix)) ? "presence" : "skip";
}

/** The use of the metric whose name is in `[from, to)` and has this hash. The name is not decoded. */
export function useOfMetricAt(bytes: Buffer, from: number, to: number, hash: number): MetricUse {
  const candidates = metricsByHash.get(hash);
  if (candidates !== undefined) {
    for (const known of candidates) if (spells(bytes, from, to, known.name)) return known;
  }
  for (const prefix of prefixes) {
    if (to - from >= prefix.length && spells(bytes, from, from + prefix.length, prefix)) return "presence";
  }
  return "skip";
}

/** The meaning of the label name in `[from, to)`; `undefined` for names that mean nothing here, `__proto__` among them. */
export function placeOfLabel(bytes: Buffer, from: number, to: number): LabelPlace | undefined {
  const candidates = labels.get(hashOfRange(bytes, from, to));
  return candidates?.find(({ name }) => spells(bytes, from, to, name));
}
