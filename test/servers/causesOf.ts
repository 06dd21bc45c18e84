import type { Snapshot } from "../../exporter/join/snapshot.ts";
import type { WaitCause } from "../../exporter/model/waitCauses.ts";
import { analysed } from "../join/outcomes.ts";

/** Why each gang of a queue waits, in the order of the snapshot. */
export function causesOf(snapshot: Snapshot, queue: string): readonly WaitCause[] {
  const { waiting } = analysed(snapshot);
  return waiting.work.flatMap(({ gang, cause }) => (snapshot.queueing.gangs[gang]?.queue === queue ? [cause] : []));
}
