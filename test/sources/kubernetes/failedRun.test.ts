import { describe, expect, it } from "vitest";
import { decodePod } from "../../../exporter/sources/kubernetes/decodePod.ts";

const gpus = { name: "train", resources: { limits: { "nvidia.com/gpu": "8" } } };
const ended = (exitCode: number, finishedAt = "2026-11-21T02:00:00Z") => ({
  terminated: { exitCode, reason: "Error", startedAt: "2026-11-21T01:00:00Z", finishedAt },
});
const running = { running: { startedAt: "2026-11-21T02:00:10Z" } };
const run = { startedAt: Date.UTC(2026, 10, 21, 1) / 1000, endedAt: Date.UTC(2026, 10, 21, 2) / 1000 };

interface Case {
  readonly containers?: readonly object[];
  readonly statuses: readonly object[];
  readonly phase?: string;
  readonly metadata?: object;
  readonly conditions?: readonly object[];
}

function failedRunOf({ containers = [gpus], statuses, phase = "Running", metadata = {}, conditions = [] }: Case) {
  const found = decodePod({
    metadata: { name: "p", namespace: "ads", uid: "u", ...metadata },
    spec: { nodeName: "n", containers },
    status: { phase, conditions, containerStatuses: statuses },
  });
  if (!found.ok) throw new Error("not decoded");
  return found.value.gpuPod?.failedRun;
}

describe("a run of a container with GPUs that ended with an error", () => {
  it("is known from the container that was started again", () => {
    expect(failedRunOf({ statuses: [{ name: "train", state: running, lastState: ended(1) }] })).toEqual(run);
    const waiting = { waiting: { reason: "CrashLoopBackOff" } };
    expect(failedRunOf({ statuses: [{ name: "train", state: waiting, lastState: ended(137) }] })).toEqual(run);
  });

  it("is known from a pod that has failed", () => {
    expect(failedRunOf({ phase: "Failed", statuses: [{ name: "train", state: ended(1) }] })).toEqual(run);
  });

  it("is the last one", () => {
    const statuses = [{ name: "train", state: ended(1, "2026-11-21T03:00:00Z"), lastState: ended(1) }];
    expect(failedRunOf({ phase: "Failed", statuses })?.endedAt).toBe(run.endedAt + 3600);
  });

  const sidecar = { name: "logs" };
  it.each<readonly [why: string, given: Case]>([
    ["nothing ended", { statuses: [{ name: "train", state: running }] }],
    ["it ended well", { statuses: [{ name: "train", state: running, lastState: ended(0) }] }],
    ["a sidecar failed", { containers: [gpus, sidecar], statuses: [{ name: "logs", lastState: ended(1) }] }],
    [
      "nobody knows which of several containers has what the pod claims",
      {
        containers: [{ name: "train" }, sidecar],
        statuses: [{ name: "train", lastState: ended(1) }],
        metadata: { annotations: { "gpu-fraction": "0.5" } },
      },
    ],
    ["it has ended in a pod that runs on, and may be left so", { statuses: [{ name: "train", state: ended(1) }] }],
    [
      "its pod was deleted",
      {
        phase: "Failed",
        statuses: [{ name: "train", state: ended(143) }],
        metadata: { deletionTimestamp: "2026-11-21T01:59:30Z" },
      },
    ],
    [
      "its pod was evicted",
      {
        phase: "Failed",
        statuses: [{ name: "train", state: ended(137) }],
        conditions: [{ type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager" }],
      },
    ],
    [
      "it could not be started",
      {
        statuses: [
          {
            name: "train",
            lastState: {
              terminated: { exitCode: 128, startedAt: "1970-01-01T00:00:00Z", finishedAt: "1970-01-01T00:00:00Z" },
            },
          },
        ],
      },
    ],
    ["its exit code is not known", { statuses: [{ name: "train", lastState: { terminated: {} } }] }],
  ])("is none where %s", (_why, given) => {
    expect(failedRunOf(given)).toBeUndefined();
  });
});
