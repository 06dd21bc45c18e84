import type { SimNode } from "../cluster/world.ts";
import { driverVersion } from "../objects/featureDiscovery.ts";
import type { ExporterSpec } from "../scenario.ts";
import { type Dialect, dialects } from "./dialects.ts";
import { type Family, familiesOf } from "./families.ts";
import { type Row, type RowPod, rowsOfGpu } from "./rows.ts";

export interface PageOptions {
  /** Simulated time, seconds. It decides which pod of a shared GPU is named by an exporter without the virtual-GPU flag. */
  readonly time: number;
  /** Whether profiling fields are 0. */
  readonly profilingStuck: boolean;
}

/** The page that a node's exporter serves now. */
export function renderPage(node: SimNode, exporter: ExporterSpec, options: PageOptions): string {
  const dialect = dialects[exporter.dialect];
  const host = dialect.hostIsExporterPod ? node.exporterPodName : node.spec.name;
  const rows = node.physicalGpus
    .filter((physicalGpu) => physicalGpu.healthy && physicalGpu.sample !== null)
    .flatMap((physicalGpu) => rowsOfGpu(physicalGpu, exporter, options.time))
    .map((row) => ({ row, labels: labelsOf(row, dialect, host) }));
  const format = dialect.numbers === "fixed" ? fixedNumber : shortestNumber;
  let page = "";
  for (const family of familiesOf(dialect, exporter)) {
    let samples = "";
    for (const { row, labels } of rows) {
      const value = sampleValue(family, row, options);
      if (value !== null) samples += `${family.name}{${labels}} ${format(value, family.whole)}\n`;
    }
    if (samples === "") continue;
    page += `# HELP ${family.name} ${family.help}\n# TYPE ${family.name} ${family.type}\n${samples}`;
  }
  return page;
}

/** A number as C's `%f`, which exporters before 4.8.3 use for fractions; whole amounts are printed without a point. */
function fixedNumber(value: number, whole: boolean): string {
  return whole ? String(Math.round(value)) : value.toFixed(6);
}

/**
 * A number as Go's `strconv.FormatFloat(v, 'g', -1, 64)` writes it, which the text renderer of 4.8.3 uses: with an exponent of
 * at least two digits below 1e-04 and from 1e+06 up. Fractions are cut to six decimals first, which is what DCGM delivers.
 */
export function shortestNumber(value: number, whole: boolean): string {
  const rounded = whole ? Math.round(value) : Number(value.toFixed(6));
  const size = Math.abs(rounded);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(rounded);
  const [mantissa = "0", exponent = "+0"] = rounded.toExponential().split("e");
  const sign = exponent.startsWith("-") ? "-" : "+";
  return `${mantissa}e${sign}${exponent.replace(/^[+-]/, "").padStart(2, "0")}`;
}

function sampleValue(family: Family, row: Row, options: PageOptions): number | null {
  if (row.families !== "all" && (row.families === "per-process") !== family.perProcess) return null;
  if (!family.profiling) return family.value(row);
  if (!row.physicalGpu.model.profiling) return null;
  const value = family.value(row);
  return value !== null && options.profilingStuck ? 0 : value;
}

function labelsOf(row: Row, dialect: Dialect, host: string): string {
  const { physicalGpu, unit } = row;
  const bus = (16 + physicalGpu.index * 8).toString(16).toUpperCase().padStart(2, "0");
  const labels: (readonly [string, string])[] = [
    ["gpu", String(physicalGpu.index)],
    [dialect.labels.uuid, physicalGpu.uuid],
  ];
  if (dialect.hasPciBusId) labels.push(["pci_bus_id", `00000000:${bus}:00.0`]);
  labels.push(["device", `nvidia${physicalGpu.minor}`]);
  if (dialect.hasModelName) labels.push(["modelName", physicalGpu.model.name]);
  if (unit?.profile != null) labels.push(["GPU_I_PROFILE", unit.profile], ["GPU_I_ID", unit.id]);
  if (dialect.labels.hostname !== null) labels.push([dialect.labels.hostname, host]);
  if (dialect.hasDriverVersion) labels.push(["DCGM_FI_DRIVER_VERSION", driverVersion]);
  labels.push(...podLabels(row.pod, dialect));
  return labels.map(([name, value]) => `${name}="${value}"`).join(",");
}

function podLabels(pod: RowPod | null, dialect: Dialect): readonly (readonly [string, string])[] {
  const { container, namespace, pod: podLabel } = dialect.labels;
  if (pod === null) {
    if (dialect.idlePodLabels === "absent") return [];
    return [
      [container, ""],
      [namespace, ""],
      [podLabel, ""],
    ];
  }
  const labels: (readonly [string, string])[] = [
    [container, pod.container],
    [namespace, pod.namespace],
    [podLabel, pod.pod],
    ...(dialect.hasPodUid ? [["pod_uid", pod.uid] as const] : []),
    ...Object.entries(pod.extra),
  ];
  return labels.sort(([a], [b]) => (a < b ? -1 : 1));
}
