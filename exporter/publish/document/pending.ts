import type { Analysis } from "../../analysis/analysis.ts";
import type { LinePosition, LocalQueues } from "../../analysis/localQueues/localQueues.ts";
import type { WaitingWork } from "../../analysis/waiting/waiting.ts";
import type { QuotaDomain, WaitingGang } from "../../join/queues/queueing.ts";
import { instant } from "./order.ts";
import type { PendingRecord } from "./schema.ts";
import { sortByTexts } from "./sortByTexts.ts";

/** One record for each gang that waits, with its cause and its place in line. */
export function pendingRecords(
  { snapshot, waiting }: Analysis,
  { positions }: Pick<LocalQueues, "positions">,
): readonly PendingRecord[] {
  const { gangs, domains } = snapshot.queueing;
  const work = new Map(waiting.work.map((one) => [one.gang, one] as const));
  const records: PendingRecord[] = [];
  for (const [index, gang] of gangs.entries()) {
    records.push(
      gangRecord(gang, {
        work: work.get(index) ?? null,
        position: positions.get(index) ?? null,
        domains,
        at: snapshot.at,
      }),
    );
  }
  return sortByTexts(records, (record) => [record.since ?? "", record.namespace, record.kind, record.name]);
}

interface GangContext {
  readonly work: WaitingWork | null;
  readonly position: LinePosition | null;
  readonly domains: readonly QuotaDomain[];
  readonly at: number;
}

function gangRecord(gang: WaitingGang, { work, position, domains, at }: GangContext): PendingRecord {
  const names = new Set<string>();
  for (const { domain } of gang.parts) {
    const name = domain === null ? undefined : domains[domain]?.name;
    if (name !== undefined) names.add(name);
  }
  return {
    namespace: gang.namespace,
    kind: gang.kind,
    name: gang.name,
    team: gang.team,
    queue: gang.queue,
    localQueue: gang.localQueue,
    position: position?.inClusterQueue ?? null,
    positionInLocalQueue: position?.inLocalQueue ?? null,
    priorityClass: gang.priorityClass,
    domains: [...names].sort(),
    gpus: gang.gpus,
    pods: gang.pods,
    mostGpus: gang.most?.gpus ?? null,
    mostPods: gang.most?.pods ?? null,
    growth: gang.growth === undefined ? null : { ...gang.growth },
    bound: gang.bound,
    min: gang.min,
    since: instant(gang.since),
    ageSeconds: work?.ageSeconds ?? ageOf(gang.since, at),
    reservedAt: instant(gang.reservedAt),
    cause: work?.cause ?? "unknown",
    late: work?.isLate ?? null,
    reason: gang.reason,
    admissionChecks: (gang.checks ?? []).map(({ name, state, message, controller }) => ({
      name,
      state,
      message,
      controller,
    })),
    awaitsNodes: gang.awaitsNodes ?? false,
    never: gang.never,
  };
}

function ageOf(since: number | null, at: number): number | null {
  return since === null ? null : Math.max(0, at - since);
}
