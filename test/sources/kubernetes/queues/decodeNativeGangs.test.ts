import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { isRecord } from "../../../../exporter/kernel/parseJson.ts";
import { decodePod } from "../../../../exporter/sources/kubernetes/decodePod.ts";
import {
  decodeNativePodGroup,
  decodeNativeWorkload,
} from "../../../../exporter/sources/kubernetes/queues/decodeNativeGangs.ts";
import { recordOf } from "./capturedList.ts";

/** The objects of one version of Kubernetes, by kind and name. */
function objectsOf(version: string): ReadonlyMap<string, unknown> {
  const path = new URL(`../../../captured/queues/native-gangs/kubernetes-${version}.yaml`, import.meta.url);
  return new Map(
    parseAllDocuments(readFileSync(path, "utf8")).map((document): [string, unknown] => {
      const object: unknown = document.toJS();
      const name = isRecord(object) && isRecord(object.metadata) ? object.metadata.name : null;
      return [`${isRecord(object) ? object.kind : ""} ${name}`, object];
    }),
  );
}

const podGroup = (version: string, name: string) =>
  recordOf(decodeNativePodGroup(objectsOf(version).get(`PodGroup ${name}`)));
const workload = (version: string, name: string) =>
  recordOf(decodeNativeWorkload(objectsOf(version).get(`Workload ${name}`)));

describe("a PodGroup of Kubernetes", () => {
  it.each(["1.36", "1.37"])("of %s has its minimum, its Workload, and whether it was placed", (version) => {
    expect(podGroup(version, "train-workers")).toMatchObject({
      namespace: "research",
      minCount: 4,
      workload: "train",
      owner: { kind: "Job", name: "train" },
      wasScheduled: true,
      isEnding: false,
    });
    expect(podGroup(version, "waits-workers")).toMatchObject({ minCount: 4, wasScheduled: false });
  });

  it("with the policy basic is no gang, and one that is being deleted says so", () => {
    expect(podGroup("1.37", "servers")).toMatchObject({ minCount: null, workload: null, owner: null });
    expect(podGroup("1.37", "leaves")).toMatchObject({ minCount: 2, isEnding: true });
  });

  it("without a specification is no gang", () => {
    expect(recordOf(decodeNativePodGroup({ metadata: { name: "g", namespace: "ns" } }))).toMatchObject({
      minCount: null,
      workload: null,
      wasScheduled: false,
    });
  });

  it("with a minimum that is no number is left out, with the field", () => {
    const spec = { schedulingPolicy: { gang: { minCount: "4" } } };
    const decoded = decodeNativePodGroup({ metadata: { name: "g", namespace: "ns" }, spec });
    expect(decoded).toMatchObject({ ok: false, problem: { message: expect.stringContaining("minCount") } });
  });
});

describe("a Workload of Kubernetes", () => {
  it("of 1.35 has the gangs itself", () => {
    expect(workload("1.35", "train")).toMatchObject({
      namespace: "research",
      controller: { apiGroup: "batch", kind: "Job", name: "train" },
      groups: [
        { name: "workers", minCount: 4 },
        { name: "observers", minCount: null },
      ],
    });
  });

  it.each(["1.36", "1.37"])("of %s has templates, which are no gangs", (version) => {
    const found = workload(version, "train");
    expect(found).toMatchObject({ controller: { apiGroup: "batch", kind: "Job", name: "train" }, groups: [] });
  });

  it("need not say for what it was made", () => {
    expect(recordOf(decodeNativeWorkload({ metadata: { name: "w" }, spec: {} })).controller).toBeNull();
  });
});

describe("the group of a pod", () => {
  const groupOf = (version: string, name: string) => {
    const { gpuPod } = recordOf(decodePod(objectsOf(version).get(`Pod ${name}`)));
    return gpuPod;
  };

  it("is in a Workload of 1.35, and a PodGroup later", () => {
    expect(groupOf("1.35", "train-0")?.schedulingGroup).toEqual({ workload: "train", name: "workers", replica: "a" });
    const group = { workload: null, name: "train-workers", replica: "" };
    expect(groupOf("1.36", "train-0")?.schedulingGroup).toEqual(group);
    expect(groupOf("1.37", "train-0")?.schedulingGroup).toEqual(group);
  });

  it("is none where the pod names none", () => {
    expect(groupOf("1.37", "alone")).not.toHaveProperty("schedulingGroup");
    expect(groupOf("1.37", "alone")).not.toHaveProperty("isEnding");
  });

  it("is still there while the pod is deleted", () => {
    expect(groupOf("1.37", "train-1")).toMatchObject({ isEnding: true, schedulingGroup: { name: "train-workers" } });
  });
});
