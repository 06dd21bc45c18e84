import type { Analysis } from "../../analysis/analysis.ts";
import { blockedByPool } from "../../analysis/blocked/blocked.ts";
import type { NodeView } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { PopularShape } from "../../model/podShape.ts";
import { isTolerated, selects } from "../../model/queues/nodeMatch.ts";
import { momentOf, sortByTexts } from "./order.ts";
import type { BlockedRecord, PlacementRecord } from "./schema.ts";

/**
 * How well the free GPUs are placed, by pool. It is empty where objects were not read, because then nobody knows which GPUs are
 * free.
 */
export function placementRecords(analysis: Analysis): ReadonlyMap<string, PlacementRecord> {
  const { placement: found, snapshot } = analysis;
  if (!snapshot.coverage.objects) return new Map();
  const shapes = found.target.shapes.map((shape) => shapeRecord(shape, snapshot.nodes));
  const blockedGpus = new Map<string, number>();
  for (const { pool, gpus } of blockedByPool(analysis)) blockedGpus.set(pool, (blockedGpus.get(pool) ?? 0) + gpus);
  return new Map(
    found.pools.map(({ pool, ...placed }) => [
      pool,
      {
        ...placed,
        typicalRequests: placed.typicalRequests.map(({ size, cpuMilli, memoryBytes, basis }) => ({
          size,
          cpu: cpuMilli / 1000,
          memoryBytes,
          basis,
        })),
        blockedGpus: blockedGpus.get(pool) ?? 0,
        targetSource: found.target.source,
        targetWorkload: shapes,
      },
    ]),
  );
}

function shapeRecord(
  { gpus, needs, popularity, pods }: PopularShape,
  nodes: readonly NodeView[],
): PlacementRecord["targetWorkload"][number] {
  const { requests, tolerations } = needs;
  const models = new Set<string>();
  for (const node of nodes) {
    if (node.gpuModels.every((model) => models.has(model))) continue;
    const takes = selects(needs, node.labels) && node.taints.every((taint) => isTolerated(taint, tolerations));
    if (takes) for (const model of node.gpuModels) models.add(model);
  }
  const resources = Object.entries(requests).filter(([name]) => gpuLikeResource(name));
  return {
    cpu: requests.cpu ?? 0,
    memoryBytes: requests.memory ?? 0,
    gpus,
    gpuShare: gpus > 0 && gpus < 1 ? gpus : null,
    resources: Object.fromEntries(resources),
    models: [...models].sort(),
    popularity,
    pods,
  };
}

/** Work that is blocked; the work that is blocked for longest is first. */
export function blockedRecords({ blocked: found, snapshot }: Analysis): readonly BlockedRecord[] {
  const records = found.work.flatMap(({ gang: index, pools, gpus, freeGpus, blocker, since, isStanding }) => {
    const gang = snapshot.queueing.gangs[index];
    if (gang === undefined) return [];
    const { kind, namespace, name, team, queue } = gang;

    return [{ kind, namespace, name, team, queue, pools, gpus, freeGpus, blocker, since: momentOf(since), isStanding }];
  });
  return sortByTexts(records, (record) => [record.since, record.namespace, record.kind, record.name]);
}
