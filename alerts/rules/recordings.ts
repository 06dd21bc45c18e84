import type { Recordings } from "./recorded.ts";
import type { RecordedName } from "./recordedNames.ts";
import { fairnessRecordings } from "./recordFairness.ts";
import { queueRecordings } from "./recordQueues.ts";
import { replicaRecordings } from "./recordReplicas.ts";
import { selfRecordings } from "./recordSelf.ts";
import { useRecordings } from "./recordUse.ts";

/** The rule of every recorded series, each after those that it reads. */
export const recordings: Recordings<RecordedName> = {
  ...replicaRecordings,
  ...selfRecordings,
  ...fairnessRecordings,
  ...queueRecordings,
  ...useRecordings,
};
