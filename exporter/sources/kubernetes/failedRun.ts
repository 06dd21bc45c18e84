import type { FailedRun } from "../../model/pod.ts";
import { child, has, items, number, type Place, text, time } from "./fields.ts";
import { isStopped } from "./podStatus.ts";

/**
 * The last run of a container with GPUs that ended with an exit code other than 0: `lastState` of one that was started again,
 * and `state` where the whole pod has failed; `null` without one. A run that was ended by a deletion, an eviction or a shutdown
 * of its node has not failed.
 */
export function failedRun(object: Place, asksForGpus: (container: Place) => boolean): FailedRun | null {
  const status = child(object, "status");
  const hasFailed = text(status, "phase") === "Failed" && !isStopped(object);
  const states = hasFailed ? (["lastState", "state"] as const) : (["lastState"] as const);
  const runs = items(status, "containerStatuses").flatMap((container) =>
    states.flatMap((key) => {
      const run = failedIn(child(container, key));
      return run === null ? [] : [{ run, container: text(container, "name") ?? "" }];
    }),
  );
  // Hardly any pod has a failed run, so only then the requests of its containers are read.
  if (runs.length === 0) return null;
  const named = gpuContainers(child(object, "spec"), asksForGpus);
  const own = runs.filter(({ container }) => named.has(container)).map(({ run }) => run);
  return own.sort((a, b) => b.endedAt - a.endedAt)[0] ?? null;
}

function failedIn(state: Place): FailedRun | null {
  if (!has(state, "terminated")) return null;
  const ended = child(state, "terminated");
  const endedAt = time(ended, "finishedAt");
  const exitCode = number(ended, "exitCode");
  // A container that could not be started has the start of the epoch as its times.
  if (endedAt === null || endedAt <= 0 || exitCode === null || exitCode === 0) return null;
  const startedAt = time(ended, "startedAt");
  return { startedAt: startedAt === 0 ? null : startedAt, endedAt };
}

/**
 * Names of the containers that ask for GPUs. In a pod of one container it is that one. Where several containers share what the
 * pod claims or is given by an annotation, it is not known which one has the GPUs, and there is none.
 */
function gpuContainers(spec: Place, asksForGpus: (container: Place) => boolean): ReadonlySet<string> {
  const all = items(spec, "containers");
  const asking = all.length === 1 ? all : all.filter(asksForGpus);
  return new Set(asking.map((container) => text(container, "name") ?? ""));
}
