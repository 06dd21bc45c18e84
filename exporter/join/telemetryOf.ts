import { compareText } from "../kernel/compareText.ts";
import type { Problem } from "../model/problem.ts";
import type { DeviceReading, TelemetryPage } from "../model/telemetry.ts";
import type { NodeReadings } from "./devices.ts";

/** Fresh readings by the node that their page belongs to. */
export interface TelemetryByNode {
  readonly byNode: ReadonlyMap<string, readonly DeviceReading[]>;
  /**
   * For nodes whose pages all have the same numbers as the pages before: the time of the last change, seconds since the epoch.
   */
  readonly movedAt: ReadonlyMap<string, number>;
  /** Nodes with a page that had unreadable lines: it may lack existing GPUs. */
  readonly incomplete: ReadonlySet<string>;
  /** Counts of dropped samples over all pages. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
}

/** The order in which the devices of pages were last seen, by node; and which of them are on two nodes. */
export interface TelemetryCache {
  readonly orders: Map<string, PageOrder>;
  copies: readonly Problem[] | null;
}

/** The devices of a page, and where each is when they are in order. */
interface PageOrder {
  readonly uuids: readonly string[];
  readonly instances: readonly (string | null)[];
  /** Indices into the page's devices; `null` where the page has them in order. */
  readonly order: readonly number[] | null;
}

/**
 * Groups pages by node. Two pages of one node (two exporters, two scrape jobs) are reduced, never added: the newer page's
 * reading of a device wins, and the older one's fills what it lacks (another set of metrics, no pod labels). A page that names
 * no node counts as a node of its own when `knownNodes` is `null` (pages alone); otherwise it is left out and reported, as is
 * one that names a node the API does not have.
 */
export function telemetryByNode(
  pages: readonly TelemetryPage[],
  knownNodes: ReadonlySet<string> | null,
  cache: TelemetryCache,
): TelemetryByNode {
  const { pagesOf, strange, dropped, incomplete, movedAt } = pagesByNode(pages, knownNodes);
  const byNode = new Map<string, readonly DeviceReading[]>();
  let isSame = cache.orders.size === pagesOf.size;
  for (const [node, found] of pagesOf) {
    const known = Array.isArray(found) ? undefined : cache.orders.get(node);
    if (!Array.isArray(found) && known !== undefined && isInOrder(found.devices, known)) {
      byNode.set(node, arranged(found.devices, known.order));
      continue;
    }
    isSame = false;
    byNode.set(node, reducedAnew(node, found, cache.orders));
  }
  if (!isSame) for (const node of cache.orders.keys()) if (!pagesOf.has(node)) cache.orders.delete(node);
  const copies = isSame && cache.copies !== null ? cache.copies : onTwoNodes(byNode);
  cache.copies = copies;
  return { byNode, movedAt, incomplete, dropped, problems: [...strange.sort(byAge).map(strangePage), ...copies] };
}

/** Pages by the node that they belong to; a list only if there are several. */
function pagesByNode(pages: readonly TelemetryPage[], knownNodes: ReadonlySet<string> | null) {
  const strange: TelemetryPage[] = [];
  const dropped: Record<string, number> = {};
  const incomplete = new Set<string>();
  const movedAt = new Map<string, number>();
  const pagesOf = new Map<string, TelemetryPage | TelemetryPage[]>();
  for (const page of pages) {
    for (const [reason, count] of Object.entries(page.dropped)) dropped[reason] = (dropped[reason] ?? 0) + count;
    const node = page.node ?? (knownNodes === null ? page.target : null);
    if (node === null || (knownNodes !== null && !knownNodes.has(node))) {
      strange.push(page);
      continue;
    }
    if (losesGpus(page)) incomplete.add(node);
    const others = pagesOf.get(node);
    if (others === undefined ? page.movedAt !== undefined : movedAt.has(node)) noteMoved(movedAt, node, page);
    pagesOf.set(node, others === undefined ? page : [others, page].flat());
  }
  return { pagesOf, strange, dropped, incomplete, movedAt };
}

/** A node has been unchanged for as long as its most recently changed page. */
function noteMoved(movedAt: Map<string, number>, node: string, page: TelemetryPage): void {
  if (page.movedAt === undefined) movedAt.delete(node);
  else movedAt.set(node, Math.max(movedAt.get(node) ?? 0, page.movedAt));
}

/**
 * A page whose numbers have not changed for this long is no new sample of a GPU that looks busy: the numbers of such a GPU
 * jitter.
 */
const standstillSeconds = 5 * 60;

/** What telemetry shows about one node now. */
export function readingsOfNode({ byNode, movedAt }: TelemetryByNode, node: string, at: number): NodeReadings {
  const readings = byNode.get(node);
  if (readings === undefined) return noReadings;
  const moved = movedAt.get(node);
  return { readings, isLost: moved !== undefined && at - moved > standstillSeconds };
}

const noReadings: NodeReadings = { readings: [], isLost: true };

/**
 * Samples that were dropped for lack of a value belong to GPUs that are shown; others may have been the only samples of a GPU.
 */
function losesGpus({ dropped }: TelemetryPage): boolean {
  return (dropped.malformed_line ?? 0) + (dropped.too_many_devices ?? 0) + (dropped.not_this_node ?? 0) > 0;
}

function reducedAnew(
  node: string,
  found: TelemetryPage | readonly TelemetryPage[],
  orders: TelemetryCache["orders"],
): readonly DeviceReading[] {
  const pages = [found].flat();
  const readings = reduced(pages.sort(byAge));
  const [page, second] = pages;
  orders.delete(node);
  if (page !== undefined && second === undefined && readings.length === page.devices.length)
    orders.set(node, orderOf(page.devices, readings));
  return readings;
}

function byAge(a: TelemetryPage, b: TelemetryPage): number {
  return a.receivedAt - b.receivedAt || compareText(a.target, b.target);
}

function isInOrder(devices: readonly DeviceReading[], { uuids, instances }: PageOrder): boolean {
  if (devices.length !== uuids.length) return false;
  for (const [i, { uuid, gpuInstance }] of devices.entries())
    if (uuid !== uuids[i] || gpuInstance !== instances[i]) return false;
  return true;
}

function arranged(devices: readonly DeviceReading[], order: PageOrder["order"]): readonly DeviceReading[] {
  return order === null ? devices : order.flatMap((index) => devices[index] ?? []);
}

function orderOf(devices: readonly DeviceReading[], readings: readonly DeviceReading[]): PageOrder {
  const order = readings.map((reading) => devices.indexOf(reading));
  return {
    uuids: devices.map(({ uuid }) => uuid),
    instances: devices.map(({ gpuInstance }) => gpuInstance),
    order: order.every((index, i) => index === i) ? null : order,
  };
}

/** Readings of all devices on pages of one node, the oldest page first, by UUID and instance. */
function reduced(pages: readonly TelemetryPage[]): readonly DeviceReading[] {
  const readings = new Map<string, DeviceReading>();
  for (const page of pages) {
    for (const reading of page.devices) {
      const key = `${reading.uuid}/${reading.gpuInstance ?? ""}`;
      readings.set(key, filledUp(reading, readings.get(key)));
    }
  }
  return [...readings].sort(([a], [b]) => compareText(a, b)).map(([, reading]) => reading);
}

function filledUp(newer: DeviceReading, older: DeviceReading | undefined): DeviceReading {
  if (older === undefined) return newer;
  const podProcesses = newer.podProcesses ?? older.podProcesses;
  return {
    uuid: newer.uuid,
    gpuInstance: newer.gpuInstance,
    profile: newer.profile ?? older.profile,
    migUuid: newer.migUuid ?? older.migUuid,
    modelName: newer.modelName ?? older.modelName,
    gpuIndex: newer.gpuIndex ?? older.gpuIndex,
    ...engines(newer, older),
    memoryUsedBytes: newer.memoryUsedBytes ?? older.memoryUsedBytes,
    memoryTotalBytes: newer.memoryTotalBytes ?? older.memoryTotalBytes,
    powerWatts: newer.powerWatts ?? older.powerWatts,
    powerLimitWatts: newer.powerLimitWatts ?? older.powerLimitWatts,
    clockEventReasons: newer.clockEventReasons ?? older.clockEventReasons,
    energyJoules: newer.energyJoules ?? older.energyJoules,
    temperatureCelsius: newer.temperatureCelsius ?? older.temperatureCelsius,
    lastXid: newer.lastXid ?? older.lastXid,
    rowRemapPending: newer.rowRemapPending ?? older.rowRemapPending,
    rowRemapFailure: newer.rowRemapFailure ?? older.rowRemapFailure,
    dcgmHealth: newer.dcgmHealth ?? older.dcgmHealth,
    virtualSlots: Math.max(newer.virtualSlots, older.virtualSlots),
    claimants: newer.claimants.length > 0 ? newer.claimants : older.claimants,
    ...(podProcesses === undefined ? {} : { podProcesses }),
  };
}

function engines(newer: DeviceReading, older: DeviceReading) {
  return {
    gpuUtil: newer.gpuUtil ?? older.gpuUtil,
    grEngineActive: newer.grEngineActive ?? older.grEngineActive,
    smActive: newer.smActive ?? older.smActive,
    dramActive: newer.dramActive ?? older.dramActive,
    tensorActive: newer.tensorActive ?? older.tensorActive,
    pipeActive: newer.pipeActive ?? older.pipeActive,
    memoryCopyUtil: newer.memoryCopyUtil ?? older.memoryCopyUtil,
    movedBytesPerSecond: newer.movedBytesPerSecond ?? older.movedBytesPerSecond,
    encoderUtil: newer.encoderUtil ?? older.encoderUtil,
    decoderUtil: newer.decoderUtil ?? older.decoderUtil,
  };
}

function strangePage(page: TelemetryPage): Problem {
  const names = page.node ?? page.hostLabel;
  return {
    source: "join",
    code: "page-of-unknown-node",
    severity: "warning",
    subject: page.target,
    message: `${page.target} speaks for ${names === null ? "no node at all" : `node ${names}`}, which the Kubernetes API does not have; its ${page.devices.length} devices are left out`,
    nextStep: "Set NODE_NAME in the exporter's pod (spec.nodeName), or give the target's node in dcgm.targets[].node.",
  };
}

/** vGPU guests share UUIDs that end in zeros; anything else on two nodes is a copied page or an exporter that lies. */
function onTwoNodes(byNode: ReadonlyMap<string, readonly DeviceReading[]>): readonly Problem[] {
  const first = new Map<string, string>();
  const problems: Problem[] = [];
  for (const node of [...byNode.keys()].sort()) {
    for (const uuid of new Set(byNode.get(node)?.map((r) => r.uuid))) {
      const other = first.get(uuid);
      if (other === undefined) first.set(uuid, node);
      else if (!/0{12}$/.test(uuid) && problems.length < 20) problems.push(copiedUuid(uuid, other, node));
    }
  }
  return problems;
}

function copiedUuid(uuid: string, first: string, second: string): Problem {
  return {
    source: "join",
    code: "uuid-on-two-nodes",
    severity: "warning",
    subject: second,
    message: `GPU ${uuid} is shown by the exporters of nodes ${first} and ${second}; each is believed for its own node only`,
    nextStep: `Check what the exporter on ${second} reads (a remote host engine?), and compare with nvidia-smi -L on both nodes.`,
  };
}
