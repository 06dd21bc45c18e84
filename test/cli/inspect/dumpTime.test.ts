import { describe, expect, test } from "vitest";
import { fairlead } from "../adviseAgainst.ts";
import { createDumps, documentOfDump } from "../dumpFolder.ts";

const dumpOf = createDumps();

const created = "2026-11-01T08:00:00Z";

/** What differs of a Node from one that only says when it was created. */
const node = (metadata: object, status: object = {}): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "gpu-a", uid: "uid-a", creationTimestamp: created, ...metadata },
  status: { capacity: { "nvidia.com/gpu": "1" }, allocatable: { "nvidia.com/gpu": "1" }, ...status },
});

const pod = (metadata: object, status: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "lab", name: "train", uid: "uid-p", creationTimestamp: created, ...metadata },
  spec: { nodeName: "gpu-a", containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" } } }] },
  status: { phase: "Running", ...status },
});

const ready = (times: object): object => ({ conditions: [{ type: "Ready", status: "True", ...times }] });
const container = (state: object): object => ({ containerStatuses: [{ name: "main", ready: true, state }] });

const momentOf = async (objects: readonly object[]) => (await documentOfDump(dumpOf({ "all.json": objects }))).at;

describe("the moment of a dump", () => {
  test.each([
    ["a node's creation, where it says nothing else", [node({})], "2026-11-01T08:00:00"],
    [
      "a kubelet's last heartbeat",
      [node({}, ready({ lastHeartbeatTime: "2026-11-20T12:03:00Z" }))],
      "2026-11-20T12:03",
    ],
    ["a condition's change", [node({}, ready({ lastTransitionTime: "2026-11-20T12:04:00Z" }))], "2026-11-20T12:04"],
    [
      "a started container",
      [node({}), pod({}, container({ running: { startedAt: "2026-11-20T12:05:00Z" } }))],
      "2026-11-20T12:05",
    ],
    [
      "a container that has ended",
      [node({}), pod({}, container({ terminated: { startedAt: created, finishedAt: "2026-11-20T12:06:00Z" } }))],
      "2026-11-20T12:06",
    ],
    ["a pod's creation", [node({}), pod({ creationTimestamp: "2026-11-20T12:07:00Z" })], "2026-11-20T12:07"],
    [
      "the last write to a field",
      [node({ managedFields: [{ manager: "kubelet", time: "2026-11-20T12:08:00Z" }, { manager: "kubectl" }] })],
      "2026-11-20T12:08",
    ],
  ])("is %s", async (_what, objects, moment) => {
    expect(await momentOf(objects)).toContain(moment);
  });

  test.each([
    ["an annotation", [node({ annotations: { "example.org/lease-ends": "2027-03-01T00:00:00Z" } })]],
    ["a label", [node({ labels: { expires: "2027-03-01T00:00:00Z" } })]],
    ["the time of a deletion", [node({}), pod({ deletionTimestamp: "2027-03-01T00:00:00Z" })]],
    ["a condition's text", [node({}, ready({ message: "2027-03-01T00:00:00Z", reason: "2027-03-01T00:00:00Z" }))]],
    ["a field of the status that plans", [node({}, { config: { renewTime: "2027-03-01T00:00:00Z" } })]],
    [
      "another object's own plans",
      [
        node({}),
        {
          apiVersion: "batch/v1",
          kind: "Job",
          metadata: { namespace: "lab", name: "later", creationTimestamp: "2027-03-01T00:00:00Z" },
        },
      ],
    ],
  ])("is never %s", async (_what, objects) => {
    expect(await momentOf(objects)).toBe("2026-11-01T08:00:00.000Z");
  });

  test("is that of other objects, where there is neither a node nor a pod", async () => {
    const job = {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { namespace: "lab", name: "a", creationTimestamp: created },
    };
    expect(await momentOf([job])).toBe("2026-11-01T08:00:00.000Z");
  });

  test("is read from YAML as from JSON", async () => {
    const yaml = `apiVersion: v1\nkind: Node\nmetadata:\n  name: gpu-a\n  creationTimestamp: 2026-11-02T08:00:00Z\n  annotations: {note: 2027-03-01T00:00:00Z}\nstatus:\n  capacity: {nvidia.com/gpu: "1"}\n`;
    expect((await documentOfDump(dumpOf({ "node.yaml": yaml }))).at).toBe("2026-11-02T08:00:00.000Z");
  });
});

describe("--at", () => {
  const dump = dumpOf({ "all.json": [node({}, ready({})), pod({})] });
  const at = ["--at", "2026-11-03T09:30:00Z"];

  test("is the moment that advise, explain and inspect speak of", async () => {
    const own = await fairlead("advise", "--dump", dump);
    expect(own.out).toContain("Advice as of 2026-11-01 08:00:00 UTC");
    expect((await fairlead("advise", "--dump", dump, ...at)).out).toContain("Advice as of 2026-11-03 09:30:00 UTC");
    expect((await fairlead("explain", "node", "gpu-a", "--dump", dump, ...at)).out).toContain("2026-11-03 09:30:00");
    expect((await fairlead("explain", "node", "gpu-a", "--dump", dump)).out).toContain("2026-11-01 08:00:00");
    expect((await documentOfDump(dump, ...at)).at).toBe("2026-11-03T09:30:00.000Z");
  });

  test.each([["advise"], ["explain", "node", "gpu-a"]])("that is no time ends %s as wrong use", async (...command) => {
    const { code, err } = await fairlead(...command, "--dump", dump, "--at", "yesterday");
    expect(code).toBe(2);
    expect(err).toContain('--at: found "yesterday"');
  });

  test.each([["advise"], ["explain", "node", "gpu-a"]])("without a dump ends %s as wrong use", async (...command) => {
    const { code, err } = await fairlead(...command, ...at);
    expect(code).toBe(2);
    expect(err).toContain("Next step: add --dump DIR");
  });
});
