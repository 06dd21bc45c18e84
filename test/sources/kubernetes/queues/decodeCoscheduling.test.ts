import { describe, expect, it } from "vitest";
import { decodeCoschedulingPodGroup } from "../../../../exporter/sources/kubernetes/queues/decodeCoscheduling.ts";

const metadata = { name: "train", namespace: "research", uid: "u", creationTimestamp: "2026-11-16T12:00:00Z" };

describe("a PodGroup of the coscheduling plugin", () => {
  it("is read with its minimum and the members that run", () => {
    const object = {
      metadata,
      spec: { minMember: 4, scheduleTimeoutSeconds: 10 },
      status: { phase: "Running", running: 4 },
    };
    expect(decodeCoschedulingPodGroup(object)).toMatchObject({
      ok: true,
      value: { namespace: "research", name: "train", minMember: 4, running: 4, owner: null },
    });
  });

  it("says nothing where it has neither", () => {
    expect(decodeCoschedulingPodGroup({ metadata })).toMatchObject({ ok: true, value: { minMember: 0, running: 0 } });
  });
});
