import type { Problem } from "../model/problem.ts";
import type { DeviceReading, TelemetryPage } from "../model/telemetry.ts";

/** Fresh readings by the node that their page speaks for. */
export interface TelemetryByNode {
  readonly byNode: ReadonlyMap<string, readonly DeviceReading[]>;
  /** Counts of dropped samples over all pages. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
}

/**
 * Groups pages by node. Two pages of one node (two exporters, two scrape jobs) are reduced, never added: the newer page's
 * reading of a device wins, and the older one's fills what it lacks (another set of metrics, no pod labels). A page that names no node stands for itself when `knownNodes` is `null` (pages alone);
 * otherwise it is left out and reported, as is one that names a node the API does not have.
 */
export function telemetryByNode(
  pages: readonly TelemetryPage[],
  knownNodes: ReadonlySet<string> | null,
): TelemetryByNode {
  const problems: Problem[] = [];
  const dropped: Record<string, number> = {};
  const byNode = new Map<string, Map<string, DeviceReading>>();
  for (const page of [...pages].sort((a, b) => a.receivedAt - b.receivedAt || compare(a.target, b.target))) {
    for (const [reason, count] of Object.entries(page.dropped)) dropped[reason] = (dropped[reason] ?? 0) + count;
    const node = page.node ?? (knownNodes === null ? page.target : null);
    if (node === null || (knownNodes !== null && !knownNodes.has(node))) {
      problems.push(strangePage(page));
      continue;
    }
    const readings = byNode.get(node) ?? new Map<string, DeviceReading>();
    byNode.set(node, readings);
    for (const reading of page.devices) {
      const key = `${reading.uuid}/${reading.gpuInstance ?? ""}`;
      readings.set(key, filledUp(reading, readings.get(key)));
    }
  }
  const grouped = new Map([...byNode].map(([node, readings]) => [node, inOrder(readings)] as const));
  return { byNode: grouped, dropped, problems: [...problems, ...onTwoNodes(grouped)] };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function inOrder(readings: ReadonlyMap<string, DeviceReading>): readonly DeviceReading[] {
  return [...readings].sort(([a], [b]) => compare(a, b)).map(([, reading]) => reading);
}

function filledUp(newer: DeviceReading, older: DeviceReading | undefined): DeviceReading {
  if (older === undefined) return newer;
  return {
    uuid: newer.uuid,
    gpuInstance: newer.gpuInstance,
    profile: newer.profile ?? older.profile,
    migUuid: newer.migUuid ?? older.migUuid,
    modelName: newer.modelName ?? older.modelName,
    gpuIndex: newer.gpuIndex ?? older.gpuIndex,
    gpuUtil: newer.gpuUtil ?? older.gpuUtil,
    grEngineActive: newer.grEngineActive ?? older.grEngineActive,
    smActive: newer.smActive ?? older.smActive,
    dramActive: newer.dramActive ?? older.dramActive,
    encoderUtil: newer.encoderUtil ?? older.encoderUtil,
    decoderUtil: newer.decoderUtil ?? older.decoderUtil,
    memoryUsedBytes: newer.memoryUsedBytes ?? older.memoryUsedBytes,
    memoryTotalBytes: newer.memoryTotalBytes ?? older.memoryTotalBytes,
    powerWatts: newer.powerWatts ?? older.powerWatts,
    energyJoules: newer.energyJoules ?? older.energyJoules,
    temperatureCelsius: newer.temperatureCelsius ?? older.temperatureCelsius,
    lastXid: newer.lastXid ?? older.lastXid,
    virtualSlots: Math.max(newer.virtualSlots, older.virtualSlots),
    claimants: newer.claimants.length > 0 ? newer.claimants : older.claimants,
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
