import type { TelemetryClaimant } from "../../../exporter/model/telemetry.ts";
import { type Signal, signals } from "../../../exporter/sources/dcgm/dialects.ts";
import type { RowWorkload } from "../../../exporter/sources/dcgm/workload.ts";
import type { PageRow } from "./pageRows.ts";

/** A row and the workload that it names. */
export interface AttributedRow {
  readonly row: PageRow;
  readonly workload: RowWorkload | null;
}

/** The rows that are looked at: all, those without a workload, or those of a virtual GPU. */
type Rows = "all" | "device" | "virtual";

const columns = Object.fromEntries(signals.map((signal, column) => [signal, column]));

/** The largest value of a signal in rows; `NaN` if none of them has one. */
export function largestOf(rows: readonly AttributedRow[], signal: Signal, which: Rows = "all"): number {
  const column = columns[signal] ?? -1;
  let largest = Number.NaN;
  for (const { row, workload } of rows) {
    if (which === "device" && workload !== null) continue;
    if (which === "virtual" && row.labels.virtualGpu === null) continue;
    const value = row.values[column] ?? Number.NaN;
    if (!Number.isNaN(value) && !(value <= largest)) largest = value;
  }
  return largest;
}

/**
 * The value of a signal for a device: the value of its rows without a pod if there are any, because rows with a pod may then be
 * per-process values; otherwise the largest value.
 */
export function deviceValue(rows: readonly AttributedRow[], signal: Signal): number {
  const own = largestOf(rows, signal, "device");
  return Number.isNaN(own) ? largestOf(rows, signal) : own;
}

/** The workloads that a device's rows name, in order of namespace and pod; at most `limit`. */
export function claimantsOf(rows: readonly AttributedRow[], isInstance: boolean, limit: number): TelemetryClaimant[] {
  const byPod = new Map<string, { readonly workload: RowWorkload; readonly rows: AttributedRow[] }>();
  for (const attributed of rows) {
    const { workload } = attributed;
    if (workload === null) continue;
    const key = JSON.stringify([workload.namespace, workload.pod]);
    const group = byPod.get(key);
    if (group === undefined) byPod.set(key, { workload, rows: [attributed] });
    else group.rows.push(attributed);
  }
  const groups = [...byPod.values()].sort((one, other) => inOrder(one.workload, other.workload)).slice(0, limit);
  const perPodRows = groups.map((group) => group.rows);
  const util = isInstance ? null : processValues(rows, perPodRows, "gpuUtil");
  const memory = processValues(rows, perPodRows, "memoryUsedBytes");
  return groups.map((group, index) => ({
    namespace: group.workload.namespace,
    pod: group.workload.pod,
    podUid: smallest(group.rows, ({ workload }) => workload?.podUid ?? null),
    container: smallest(group.rows, ({ workload }) => workload?.container ?? null),
    slots: Math.max(1, virtualSlots(group.rows)),
    processUtil: util?.[index] ?? null,
    processMemoryBytes: memory?.[index] ?? null,
    claim: claimOf(group.rows),
  }));
}

function inOrder(one: RowWorkload, other: RowWorkload): number {
  if (one.namespace !== other.namespace) return one.namespace < other.namespace ? -1 : 1;
  return one.pod < other.pod ? -1 : 1;
}

/** The number of virtual GPUs that rows show. */
export function virtualSlots(rows: readonly AttributedRow[]): number {
  const slots = new Set<string>();
  for (const { row } of rows) if (row.labels.virtualGpu !== null) slots.add(row.labels.virtualGpu);
  return slots.size;
}

/** The smallest text that `read` finds in the rows, so that the order of the rows does not matter. */
export function smallest(rows: readonly AttributedRow[], read: (row: AttributedRow) => string | null): string | null {
  let found: string | null = null;
  for (const row of rows) {
    const text = read(row);
    if (text !== null && (found === null || text < found)) found = text;
  }
  return found;
}

/**
 * For each pod, its own part of a signal, where virtual GPUs have per-process rows beside the device's own row (dcgm-exporter
 * 4.5.3-4.8.2 and later); `null` where rows with a pod are mere copies of the device's value.
 */
function processValues(
  rows: readonly AttributedRow[],
  perPod: readonly (readonly AttributedRow[])[],
  signal: "gpuUtil" | "memoryUsedBytes",
): readonly (number | null)[] | null {
  const device = largestOf(rows, signal, "device");
  if (Number.isNaN(device)) return null;
  const values = perPod.map((podRows) => largestOf(podRows, signal, "virtual"));
  const areCopies = device > 0 && values.length > 1 && values.every((value) => value === device);
  return areCopies ? null : values.map((value) => (Number.isNaN(value) ? null : value));
}

function claimOf(rows: readonly AttributedRow[]): TelemetryClaimant["claim"] {
  const name = smallest(rows, ({ row }) => row.labels.claimName);
  const namespace = smallest(rows, ({ row }) => (row.labels.claimName === name ? row.labels.claimNamespace : null));
  return name === null || namespace === null ? null : { namespace, name };
}
