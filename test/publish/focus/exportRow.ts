import type { ExportRow } from "../../../exporter/accounts/ledger/exportQuery.ts";

/** A day (2026-11-02) of a job on 8 GPUs that were in use for half of it, at 12.29 USD an hour, where nothing else is said. */
export function exportRow(values: Partial<ExportRow> = {}): ExportRow {
  return {
    from: 1_793_577_600,
    to: 1_793_664_000,
    pool: "H100",
    nodePool: "gpu/large",
    capacityType: "on-demand",
    team: "ads",
    queue: "research",
    namespace: "ads-jobs",
    priorityClass: "high",
    workload: { kind: "Job", namespace: "ads-jobs", name: "train" },
    state: "charged",
    isCharged: true,
    gpuSeconds: 8 * 86_400,
    activeGpuSeconds: 4 * 86_400,
    estimatedGpuSeconds: 0,
    energyJoules: 3.6e9,
    cost: 8 * 24 * 12.29,
    currency: "USD",
    priceBasis: "whole-instance",
    priceSource: "file",
    progressUnits: null,
    costPerProgressUnit: null,
    ...values,
  };
}
