import type { PartialGang } from "../../analysis/waiting/waiting.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { WorkloadView } from "../../join/snapshot.ts";
import { type DisruptionUnit, disruptionUnits } from "../disruptionUnits.ts";
import type { AdviceMoment } from "../moment.ts";

/** A partial gang with everything that identifies it. */
export interface KnownGang {
  readonly partial: PartialGang;
  /** Index into `Queueing.gangs`: the missing members of the gang. */
  readonly gang: number;
  readonly waiting: WaitingGang;
  /** Index into `Snapshot.workloads`. */
  readonly workload: number;
  readonly view: WorkloadView;
  /** The members that hold GPUs. */
  readonly unit: DisruptionUnit;
  readonly priority: number;
}

/** The partial gangs of a moment by id. Gangs about which something is unknown are left out. */
export function knownGangs(moment: AdviceMoment): ReadonlyMap<string, KnownGang> {
  const { snapshot, waiting } = moment.analysis;
  const { pods, workloads, queueing } = snapshot;
  const units = disruptionUnits(moment);
  const found = new Map<string, KnownGang>();
  for (const partial of waiting.partialGangs) {
    const byUid = queueing.gangs.findIndex(({ uid }) => uid === partial.id);
    const unit = units.find(({ pods: own, workload }) => {
      const view = workloads[workload];
      const gang = queueing.gangs[byUid];
      const isWork =
        gang !== undefined && view?.kind === gang.kind && view.namespace === gang.namespace && view.name === gang.name;
      return isWork || own.some((pod) => pods[pod]?.gang?.id === partial.id);
    });
    const view = unit === undefined ? undefined : workloads[unit.workload];
    if (unit === undefined || view === undefined) continue;
    const gang = byUid >= 0 ? byUid : gangOf(queueing.gangs, view);
    const missing = queueing.gangs[gang];
    if (missing === undefined) continue;
    const priority = Math.max(view.priority, ...unit.pods.map((pod) => pods[pod]?.priority ?? view.priority));
    found.set(partial.id, { partial, gang, waiting: missing, workload: unit.workload, view, unit, priority });
  }
  return found;
}

/** Index of the waiting part of a workload; if the workload has several gangs, the one that has begun to start. */
function gangOf(gangs: readonly WaitingGang[], { kind: of, namespace, name }: WorkloadView): number {
  const own = gangs.flatMap((one, i) =>
    one.kind === of && one.namespace === namespace && one.name === name ? [{ one, i }] : [],
  );
  const begun = own.find(({ one }) => one.bound > 0 && one.bound < one.min);
  return (begun ?? own[0])?.i ?? -1;
}
