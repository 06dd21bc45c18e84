import type { ClusterState } from "../../exporter/model/cluster.ts";
import { gpuLikeResource } from "../../exporter/model/gpuResource.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import type { TelemetryPage } from "../../exporter/model/telemetry.ts";
import { splitByHost } from "../../exporter/sources/dcgm/reduce.ts";
import { placePage } from "./pageNodes.ts";
import type { DumpFile } from "./readFiles.ts";

/** Reads the pages of a dump, and gives each its node. */
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
    const split = splitByHost(file.bytes, { target: file.path, node: null, receivedAt: at, origin: "file" });
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

function looksLikeGpuNode(
  capacity: Readonly<Record<string, number>>,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.keys(capacity).some((name) => gpuLikeResource(name)) ||
    Object.keys(labels).some((name) => name.startsWith("nvidia.com/gpu"))
  );
}
