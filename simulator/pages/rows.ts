import { nvidiaDraDriver } from "../../exporter/model/wellKnown.ts";
import { memoryOfAllocation } from "../cluster/collect.ts";
import type { Allocation, PhysicalGpu, SimPod, Unit } from "../cluster/world.ts";
import { draDeviceName } from "../objects/dra.ts";
import { reservationNamespace } from "../objects/platform.ts";
import { containerName } from "../objects/template.ts";
import { noise } from "../random.ts";
import type { ExporterSpec } from "../scenario.ts";

/** The pod that a row names. */
export interface RowPod {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly container: string;
  /** Further labels (`vgpu`, `dra_...`). */
  readonly extra: Readonly<Record<string, string>>;
}

/** One set of labels of a page: a device, or a pod's view of it. */
export interface Row {
  readonly physicalGpu: PhysicalGpu;
  /** The MIG instance; `null` for the whole GPU. */
  readonly unit: Unit | null;
  readonly pod: RowPod | null;
  /** The pod's own values of GPU_UTIL and FB_USED, which replace those of the device; `null`: the device's own values count. */
  readonly process: { readonly util: number; readonly memoryMiB: number } | null;
  /** The families that have this row. */
  readonly families: "all" | "per-process" | "not-per-process";
}

/** All rows of one GPU, as the kubelet's device list and the exporter's flags give them at this scrape. */
export function rowsOfGpu(physicalGpu: PhysicalGpu, exporter: ExporterSpec, scrapeMoment: number): readonly Row[] {
  const { mode } = physicalGpu.node.spec;
  switch (mode.kind) {
    case "whole":
    case "vgpu-guest":
    case "kai":
      return [
        deviceRow(
          physicalGpu,
          null,
          physicalGpu.reservation === null ? firstPod(physicalGpu) : reservationOf(physicalGpu),
        ),
      ];
    case "mig-single":
    case "mig-mixed":
      if (physicalGpu.units.length === 0) return [deviceRow(physicalGpu, null, firstPod(physicalGpu))];
      return physicalGpu.units.map((unit) =>
        deviceRow(physicalGpu, unit, unit.holder === null ? null : rowPod(unit.holder, {})),
      );
    case "time-slicing":
    case "mps":
      return sharedRows(physicalGpu, exporter, scrapeMoment);
    case "dra":
      return exporter.draLabels ? draRows(physicalGpu) : [deviceRow(physicalGpu, null, null)];
    // HAMi allocates GPUs by itself: the kubelet's list has ids that no exporter can map.
    case "hami":
      return [deviceRow(physicalGpu, null, null)];
  }
}

function deviceRow(physicalGpu: PhysicalGpu, unit: Unit | null, pod: RowPod | null): Row {
  return { physicalGpu, unit, pod, process: null, families: "all" };
}

function firstPod(physicalGpu: PhysicalGpu): RowPod | null {
  const [allocation] = physicalGpu.allocations;
  return allocation === undefined ? null : rowPod(allocation.pod, {});
}

function rowPod(pod: SimPod, extra: Readonly<Record<string, string>>): RowPod {
  const { namespace } = pod.workload.spec;
  return { namespace, pod: pod.name, uid: pod.uid, container: containerName(pod.workload), extra };
}

function reservationOf(physicalGpu: PhysicalGpu): RowPod | null {
  if (physicalGpu.reservation === null) return null;
  const { name, uid } = physicalGpu.reservation;
  return { namespace: reservationNamespace, pod: name, uid, container: "resource-reservation", extra: {} };
}

function sharedRows(physicalGpu: PhysicalGpu, exporter: ExporterSpec, scrapeMoment: number): readonly Row[] {
  const allocations = [...physicalGpu.allocations];
  const [first] = allocations;
  if (first === undefined) return [deviceRow(physicalGpu, null, null)];
  if (exporter.sharedRows === "one-arbitrary-pod") {
    // In the real exporter, the order of a map changes from scrape to scrape; here it changes with simulated time.
    const position = Math.floor(noise(physicalGpu.index + first.pod.key, scrapeMoment) * allocations.length);
    return [deviceRow(physicalGpu, null, rowPod((allocations[position] ?? first).pod, {}))];
  }
  const copies = allocations.map((allocation) => deviceRow(physicalGpu, null, replicaPod(allocation)));
  if (exporter.sharedRows === "copies") return copies;
  return [
    { ...deviceRow(physicalGpu, null, null), families: "per-process" },
    ...allocations.map((allocation) => processRow(physicalGpu, allocation)),
    ...copies.map((row) => ({ ...row, families: "not-per-process" as const })),
  ];
}

function replicaPod(allocation: Allocation): RowPod {
  return rowPod(allocation.pod, { vgpu: allocation.unit?.id ?? "0" });
}

/**
 * The row of a pod's processes. They are not distinguished by replica: each row of the pod repeats the value for the whole pod.
 */
function processRow(physicalGpu: PhysicalGpu, allocation: Allocation): Row {
  let util = 0;
  let memoryMiB = 0;
  for (const other of physicalGpu.allocations) {
    if (other.pod !== allocation.pod) continue;
    util += other.observed * other.share;
    memoryMiB += memoryOfAllocation(other);
  }
  return {
    physicalGpu,
    unit: null,
    pod: replicaPod(allocation),
    process: { util, memoryMiB },
    families: "per-process",
  };
}

function draRows(physicalGpu: PhysicalGpu): readonly Row[] {
  const rows = [...physicalGpu.allocations].map(({ pod }) => {
    const claim = pod.claim ?? pod.workload.claim;
    const labels = {
      dra_claim_name: claim?.name ?? "",
      dra_claim_namespace: pod.workload.spec.namespace,
      dra_device_name: draDeviceName(physicalGpu),
      dra_driver_name: nvidiaDraDriver,
      dra_pool_name: physicalGpu.node.spec.name,
    };
    return deviceRow(physicalGpu, null, rowPod(pod, labels));
  });
  return rows.length > 0 ? rows : [deviceRow(physicalGpu, null, null)];
}
