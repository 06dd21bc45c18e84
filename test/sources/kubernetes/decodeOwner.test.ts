import { describe, expect, it } from "vitest";
import type { JobLimits } from "../../../exporter/model/disruption.ts";
import { decodeOwner } from "../../../exporter/sources/kubernetes/decodeOwner.ts";

const metadata = { name: "train", namespace: "research", uid: "uid-train" };
const object = (parts: object): object => ({ apiVersion: "batch/v1", kind: "Job", metadata, ...parts });

function limitsOf(parts: object): JobLimits | null {
  const decoded = decodeOwner(object(parts));
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value.job;
}

const onDisruption = (...rules: readonly object[]) => limitsOf({ spec: { podFailurePolicy: { rules } } })?.onDisruption;

const disrupted = (action: string, pattern: object = {}): object => ({
  action,
  onPodConditions: [{ type: "ConfigIssue" }, { type: "DisruptionTarget", status: "True", ...pattern }],
});
const exits = (action: string, operator: string, ...values: readonly number[]): object => ({
  action,
  onExitCodes: { containerName: "main", operator, values },
});

describe("the limits of a Job", () => {
  it("are those of its spec and status", () => {
    const spec = { backoffLimit: 2, suspend: true, template: { spec: { containers: [{ name: "main" }] } } };
    expect(limitsOf({ spec, status: { failed: 1, active: 3 } })).toEqual({
      backoffLimit: 2,
      failed: 1,
      onDisruption: "Count",
      isSuspended: true,
    });
  });

  it("are Kubernetes' own where it names none", () => {
    expect(limitsOf({ spec: {} })).toEqual({ backoffLimit: 6, failed: 0, onDisruption: "Count", isSuspended: false });
    expect(limitsOf({ spec: { backoffLimit: 0 } })?.backoffLimit).toBe(0);
  });

  it("are not known where failures are counted by index", () => {
    const spec = { completionMode: "Indexed", backoffLimitPerIndex: 1, backoffLimit: 2147483647 };
    expect(limitsOf({ spec, status: { failed: 3 } })).toMatchObject({ backoffLimit: null, failed: 3 });
  });

  it("are not known from metadata alone, and of nothing but a Job of Kubernetes", () => {
    const asked = { apiVersion: "batch/v1", kind: "Job" };
    expect(decodeOwner({ kind: "PartialObjectMetadata", metadata }, asked)).toMatchObject({ value: { job: null } });
    const spec = { backoffLimit: 1 };
    for (const other of [
      { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" },
      { apiVersion: "batch/v1", kind: "CronJob" },
      { apiVersion: "example.com/v1", kind: "Job" },
    ])
      expect(limitsOf({ ...other, spec })).toBeNull();
  });

  it.each([
    ["a limit below 0", { spec: { backoffLimit: -1 } }],
    ["a limit in text", { spec: { backoffLimit: "6" } }],
    ["half a pod", { spec: {}, status: { failed: 0.5 } }],
    ["a number of pods that is none", { spec: {}, status: { failed: 1e300 } }],
    ["a spec that is none", { spec: "x" }],
    ["rules that are none", { spec: { podFailurePolicy: { rules: { 0: {} } } } }],
    ["exit codes that are none", { spec: { podFailurePolicy: { rules: [{ onExitCodes: { values: "137" } }] } } }],
    [
      "more rules than there can be",
      { spec: { podFailurePolicy: { rules: Array.from({ length: 300 }, () => ({})) } } },
    ],
  ])("are not taken from an object with %s", (_, parts) => {
    expect(decodeOwner(object(parts))).toMatchObject({ ok: false, problem: { code: "malformed-object" } });
  });
});

describe("what a Job does with a disrupted pod", () => {
  it.each(["FailJob", "FailIndex", "Ignore", "Count"])("is %s where its rule says so", (action) => {
    expect(onDisruption(disrupted(action))).toBe(action);
  });

  it("is said by the first rule that matches", () => {
    expect(onDisruption(disrupted("Ignore"), disrupted("FailJob"))).toBe("Ignore");
    expect(onDisruption(disrupted("FailJob"), disrupted("Ignore"))).toBe("FailJob");
    const other = { action: "FailJob", onPodConditions: [{ type: "ConfigIssue" }] };
    expect(onDisruption(other, disrupted("Ignore"))).toBe("Ignore");
  });

  it("counts without a rule for it", () => {
    expect(onDisruption()).toBe("Count");
    expect(onDisruption(disrupted("Ignore", { status: "False" }))).toBe("Count");
    expect(onDisruption(disrupted("Ignore", { status: null }))).toBe("Ignore");
    expect(onDisruption(exits("FailJob", "In", 42))).toBe("Count");
  });

  it("is the worst that a rule for exit codes before it may bring: 143 and 137 are those of a process that was asked to end", () => {
    expect(onDisruption(exits("FailJob", "NotIn", 42), disrupted("Ignore"))).toBe("FailJob");
    expect(onDisruption(exits("FailJob", "In", 137), disrupted("Ignore"))).toBe("FailJob");
    expect(onDisruption(exits("FailIndex", "In", 1, 143), disrupted("Count"))).toBe("FailIndex");
    expect(onDisruption(exits("FailJob", "In", 42), disrupted("Ignore"))).toBe("Ignore");
    expect(onDisruption(exits("FailJob", "NotIn", 137, 143), disrupted("Ignore"))).toBe("Ignore");
    expect(onDisruption(exits("Ignore", "In", 137, 143))).toBe("Count");
    expect(onDisruption(disrupted("Ignore"), exits("FailJob", "NotIn", 42))).toBe("Ignore");
  });

  it("is the worst where its action is of a later version", () => {
    expect(onDisruption(disrupted("Restart"))).toBe("FailJob");
  });
});
