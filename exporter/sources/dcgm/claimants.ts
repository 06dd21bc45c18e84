import { compareText } from "../../kernel/compareText.ts";
import type { TelemetryClaimant } from "../../model/telemetry.ts";
import { rowWidth } from "./columns.ts";
import { signals } from "./dialects.ts";
import type { PageRow } from "./pageRows.ts";
import type { RowWorkload } from "./workload.ts";

/** A row and the workload that it names. */
export interface AttributedRow {
  readonly row: PageRow;
  readonly workload: RowWorkload | null;
}

/** The workloads that a device's rows name. */
export interface ClaimedDevice {
  /** In order of namespace and pod; per-process values are `null`. */
  readonly claimants: readonly TelemetryClaimant[];
  /**
   * The rows of virtual GPUs of each claimant, where these may carry per-process values, which is beside rows without a pod.
   * `null` where no row can.
   */
  readonly processRows: readonly (readonly number[])[] | null;
}

const gpuUtil = signals.indexOf("gpuUtil");
const memoryUsed = signals.indexOf("memoryUsedBytes");
const nobody: ClaimedDevice = { claimants: [], processRows: null };

/** The workloads that rows of one device name; at most `limit`. */
export function claimantsOf(rows: readonly AttributedRow[], limit: number): ClaimedDevice {
  const byPod = new Map<string, { readonly workload: RowWorkload; readonly rows: AttributedRow[] }>();
  for (const attributed of rows) {
    const { workload } = attributed;
    if (workload === null) continue;
    const key = JSON.stringify([workload.namespace, workload.pod]);
    const group = byPod.get(key);
    if (group === undefined) byPod.set(key, { workload, rows: [attributed] });
    else group.rows.push(attributed);
  }
  if (byPod.size === 0) return nobody;
  const groups = [...byPod.values()].sort((one, other) => inOrder(one.workload, other.workload)).slice(0, limit);
  const claimants = groups.map((group) => ({
    namespace: group.workload.namespace,
    pod: group.workload.pod,
    podUid: smallest(group.rows, ({ workload }) => workload?.podUid ?? null),
    container: smallest(group.rows, ({ workload }) => workload?.container ?? null),
    slots: Math.max(1, virtualSlots(group.rows)),
    processUtil: null,
    processMemoryBytes: null,
    claim: claimOf(group.rows),
  }));
  const hasOwnRows = rows.some(({ workload }) => workload === null);
  const hasVirtualRows = groups.some((group) => group.rows.some(isVirtual));
  if (!hasOwnRows || !hasVirtualRows) return { claimants, processRows: null };
  return { claimants, processRows: groups.map((group) => group.rows.filter(isVirtual).map(({ row }) => row.index)) };
}

/**
 * The claimants with each pod's own part of utilization and memory: virtual GPUs have per-process rows beside the
 * device's own row (dcgm-exporter 4.5.3-4.8.2 and later). What did not change is the same object as before, the list
 * itself included. `deviceUtil` and `deviceMemory` are those of the device's rows without a pod.
 */
export function withProcessValues(
  claimants: readonly TelemetryClaimant[],
  processRows: readonly (readonly number[])[],
  values: Float64Array,
  deviceUtil: number,
  deviceMemory: number,
): readonly TelemetryClaimant[] {
  const util = processValues(values, processRows, gpuUtil, deviceUtil);
  const memory = processValues(values, processRows, memoryUsed, deviceMemory);
  let hasChanged = false;
  const next = claimants.map((claimant, index) => {
    const processUtil = util?.[index] ?? null;
    const processMemoryBytes = memory?.[index] ?? null;
    if (claimant.processUtil === processUtil && claimant.processMemoryBytes === processMemoryBytes) return claimant;
    hasChanged = true;
    return { ...claimant, processUtil, processMemoryBytes };
  });
  return hasChanged ? next : claimants;
}

/** For each pod its own part of a signal; `null` where rows with a pod are mere copies of the device's value. */
function processValues(
  values: Float64Array,
  processRows: readonly (readonly number[])[],
  column: number,
  device: number,
): readonly (number | null)[] | null {
  if (Number.isNaN(device)) return null;
  const perPod = processRows.map((rows) => {
    let largest: number | null = null;
    for (const row of rows) {
      const value = values[row * rowWidth + column] ?? Number.NaN;
      if (!Number.isNaN(value) && (largest === null || value > largest)) largest = value;
    }
    return largest;
  });
  const areCopies = device > 0 && perPod.length > 1 && perPod.every((value) => value === device);
  return areCopies ? null : perPod;
}

/** The number of virtual GPUs that the rows show. */
export function virtualSlots(rows: readonly AttributedRow[]): number {
  const slots = new Set<string>();
  for (const { row } of rows) if (row.labels.virtualGpu !== null) slots.add(row.labels.virtualGpu);
  return slots.size;
}

/** The smallest text that `read` finds, so that the order of the rows does not matter. */
export function smallest(rows: readonly AttributedRow[], read: (row: AttributedRow) => string | null): string | null {
  let found: string | null = null;
  for (const row of rows) {
    const text = read(row);
    if (text !== null && (found === null || text < found)) found = text;
  }
  return found;
}

function isVirtual({ row }: AttributedRow): boolean {
  return row.labels.virtualGpu !== null;
}

function inOrder(one: RowWorkload, other: RowWorkload): number {
  return compareText(one.namespace, other.namespace) || compareText(one.pod, other.pod);
}

function claimOf(rows: readonly AttributedRow[]): TelemetryClaimant["claim"] {
  const name = smallest(rows, ({ row }) => row.labels.claimName);
  const namespace = smallest(rows, ({ row }) => (row.labels.claimName === name ? row.labels.claimNamespace : null));
  return name === null || namespace === null ? null : { namespace, name };
}
