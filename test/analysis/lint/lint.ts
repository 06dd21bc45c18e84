import type { FindingCode } from "../../../exporter/analysis/lint/finding.ts";
import { findings } from "../../../exporter/analysis/lint/findings.ts";
import type { NodeView, Snapshot } from "../../../exporter/join/snapshot.ts";
import type { QueueObjects, SchedulerSettings } from "../../../exporter/model/queues/queueObjects.ts";
import { noQueueObjects, unknownSchedulerSettings } from "../../../exporter/model/queues/queueObjects.ts";
import { moment, nodeView } from "../momentBuilder.ts";

/** What is found in such objects, settings and nodes. */
export function lint(
  objects: Partial<QueueObjects>,
  settings: Partial<SchedulerSettings> = {},
  nodes: readonly NodeView[] = [nodeView()],
) {
  const snapshot: Snapshot = {
    ...moment({ nodes }),
    queueObjects: { ...noQueueObjects, ...objects },
    schedulerSettings: { ...unknownSchedulerSettings, ...settings },
  };
  return findings(snapshot);
}

/** Kind and name of all findings of one code. */
export function found(code: FindingCode, ...args: Parameters<typeof lint>): readonly string[] {
  return lint(...args)
    .filter((finding) => finding.code === code)
    .map(({ kind, name }) => `${kind} ${name}`);
}

/** Kueue's Configuration; admission fair sharing is well set up but for `admission`. */
export const kueueSettings = (
  admission: Partial<NonNullable<NonNullable<SchedulerSettings["kueue"]>["admissionFairSharing"]>> | null,
  fairSharing = true,
): Partial<SchedulerSettings> => ({
  kueue: {
    fairSharing,
    admissionFairSharing:
      admission === null
        ? null
        : { halfLifeSeconds: 3600, samplingIntervalSeconds: 300, resourceWeights: { memory: 0 }, ...admission },
  },
});
