import type { ClusterState } from "../../exporter/model/cluster.ts";
import { gpuLikeResource } from "../../exporter/model/gpuResource.ts";
import type { ClusterNode } from "../../exporter/model/node.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import type { TelemetryPage } from "../../exporter/model/telemetry.ts";
import { readOnce } from "../../exporter/sources/dcgm/pageReader.ts";
import type { DumpFile } from "./readFiles.ts";

/** Reads the pages of a dump, and finds the node of each. */
export function readPages(
  files: readonly DumpFile[],
  state: Omit<ClusterState, "telemetry">,
  nodeOfPod: ReadonlyMap<string, string>,
  at: number,
  problems: Problem[],
): readonly TelemetryPage[] {
  const read: { readonly page: TelemetryPage; readonly stem: string }[] = [];
  for (const file of files) {
    if (file.kind !== "page") continue;
    const split = readOnce(file.bytes, { target: file.path, node: null, origin: "file", splitsByHost: true }, at);
    problems.push(...split.problems);
    read.push(...split.pages.map((page) => ({ page: { ...page, node: page.hostLabel }, stem: file.stem })));
  }
  const nodeOfUuid = new Map<string, string>();
  for (const slice of state.resourceSlices) {
    for (const device of slice.devices) {
      const { uuid } = device.attributes;
      if (typeof uuid === "string" && slice.nodeName !== null) nodeOfUuid.set(uuid, slice.nodeName);
    }
  }
  const holders = new Set(nodeOfUuid.values());
  const likely = state.nodes.filter((node) => looksLikeGpuNode(node.capacity, node.labels));
  const named = state.nodes.filter((node) => holders.size === 0 || holders.has(node.name));
  const gpuNodes = (likely.length > 0 ? likely : named).map((node) => node.name);
  const clues = { nodes: state.nodes, nodeOfPod, nodeOfUuid, gpuNodes };
  return read.map(({ page, stem }) => {
    const placed = placePage(page, stem, read.length, clues);
    problems.push(...placed.problems);
    return placed.page;
  });
}

/** What shows which node a captured page belongs to. */
interface PageClues {
  readonly nodes: readonly ClusterNode[];
  /** Node of every pod in the dump, by pod name: exporters without NODE_NAME write their own pod's name as host. */
  readonly nodeOfPod: ReadonlyMap<string, string>;
  /** Node of every GPU that ResourceSlices name. */
  readonly nodeOfUuid: ReadonlyMap<string, string>;
  /** Nodes that may have GPUs. */
  readonly gpuNodes: readonly string[];
}

/** Finds the node of a captured page: by host label, exporter pod, GPU, file name, or because there is only one node. */
function placePage(
  page: TelemetryPage,
  stem: string,
  pages: number,
  clues: PageClues,
): { readonly page: TelemetryPage; readonly problems: readonly Problem[] } {
  if (clues.nodes.length === 0) return { page, problems: [] };
  const names = new Set(clues.nodes.map((node) => node.name));
  const node = byHost(page.hostLabel, clues, names) ?? byGpu(page, clues) ?? (names.has(stem) ? stem : null);
  if (node !== null) return { page: { ...page, node }, problems: [] };
  const [only] = clues.gpuNodes;
  if (only === undefined || clues.gpuNodes.length > 1 || pages > 1) return { page, problems: [] };
  return {
    page: { ...page, node: only },
    problems: [
      {
        source: "inspect",
        code: "page-node-assumed",
        severity: "info",
        subject: page.target,
        message: `${page.target} names host ${page.hostLabel ?? "(none)"}, which is no node of the dump; it is taken for the only GPU node, ${only}`,
        nextStep: `Name the file ${only}.prom if that is right; else add the node's object to the dump.`,
      },
    ],
  };
}

function byHost(host: string | null, clues: PageClues, names: ReadonlySet<string>): string | null {
  if (host === null) return null;
  if (names.has(host)) return host;
  const pod = clues.nodeOfPod.get(host);
  if (pod !== undefined && names.has(pod)) return pod;
  const short = clues.nodes.filter(
    (node) => node.labels["kubernetes.io/hostname"] === host || node.name.split(".")[0] === host.split(".")[0],
  );
  return short.length === 1 ? (short[0]?.name ?? null) : null;
}

function byGpu(page: TelemetryPage, clues: PageClues): string | null {
  const nodes = new Set(
    page.devices.map((device) => clues.nodeOfUuid.get(device.uuid)).filter((node) => node !== undefined),
  );
  const [node] = nodes;
  return nodes.size === 1 && node !== undefined ? node : null;
}

function looksLikeGpuNode(
  capacity: Readonly<Record<string, number>>,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.keys(capacity).some((name) => gpuLikeResource(name)) ||
    Object.keys(labels).some((name) => name.startsWith("nvidia.com/gpu"))
  );
}
