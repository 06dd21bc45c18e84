import type { Problem } from "../../../exporter/model/problem.ts";
import type { DeviceReading, TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { type PageReaderOptions, type ReaderResult, readOnce } from "../../../exporter/sources/dcgm/pageReader.ts";

/** Labels of the 4.5 exporter in the order it writes them, without a host's driver label. */
export function labelsOf(gpu: number, more: Readonly<Record<string, string>> = {}): string {
  const own = {
    gpu: String(gpu),
    UUID: `GPU-${gpu}`,
    pci_bus_id: `00000000:0${gpu}:00.0`,
    device: `nvidia${gpu}`,
    modelName: "NVIDIA H100 80GB HBM3",
    Hostname: "node-a",
    ...more,
  };
  return Object.entries(own)
    .map(([name, value]) => `${name}="${value}"`)
    .join(",");
}

/** One sample of GPU `gpu`. */
export function sample(
  metric: string,
  gpu: number,
  value: number | string,
  more?: Readonly<Record<string, string>>,
): string {
  return `${metric}{${labelsOf(gpu, more)}} ${value}`;
}

/** Lines as a page. */
export function pageOf(...lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join("\n")}\n`, "utf8");
}

/** What is known about a page besides its bytes. */
export interface PageContext extends Omit<PageReaderOptions, "splitsByHost"> {
  readonly receivedAt: number;
}

/** Reads all rows as those of one node. */
export function readPage(
  bytes: Uint8Array,
  context: PageContext,
): { readonly page: TelemetryPage | null; readonly problems: readonly Problem[] } {
  const { pages, problems } = readOnce(bytes, { ...context, splitsByHost: false }, context.receivedAt);
  return { page: pages[0] ?? null, problems };
}

/** Reads the rows of each host as those of a node of its own. */
export function splitByHost(bytes: Uint8Array, context: PageContext): ReaderResult {
  return readOnce(bytes, { ...context, splitsByHost: true }, context.receivedAt);
}

/** Reads lines as the page of `node-a`'s exporter. */
export function read(lines: readonly string[], context: Partial<PageContext> = {}): TelemetryPage {
  const { page } = readPage(pageOf(...lines), {
    target: "http://10.0.0.1:9400/metrics",
    node: "node-a",
    receivedAt: 1000,
    origin: "exporter",
    ...context,
  });
  if (page === null) throw new Error("no page");
  return page;
}

/** The one device of a page. */
export function onlyDevice(page: TelemetryPage): DeviceReading {
  const [device, second] = page.devices;
  if (device === undefined || second !== undefined) throw new Error(`${page.devices.length} devices`);
  return device;
}
