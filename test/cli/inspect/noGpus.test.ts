import { describe, expect, test } from "vitest";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { fairlead } from "../adviseAgainst.ts";
import { createDumps, type DumpFiles } from "../dumpFolder.ts";
import { dcgmPage } from "../fragmentedDump.ts";

const dumpOf = createDumps();

const node = (name: string, resources: object, labels: object = {}): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `uid-${name}`, labels, creationTimestamp: "2026-11-01T00:00:00Z" },
  status: { capacity: { cpu: "96", ...resources }, allocatable: { cpu: "96", ...resources } },
});

describe("a dump without any GPU", () => {
  test.each([
    ["of nodes without GPUs", { "nodes.json": [node("cpu-1", {})] }, "no node has a GPU resource", "gpu.resources"],
    ["of pods alone", { "pods.json": [] }, "there are no nodes, and there is no page", "docs/inspect.md"],
    [
      "of a page that shows none",
      { "a.prom": "DCGM_FI_DEV_GPU_UTIL 5\n" },
      "there are no nodes, and its pages show none",
      "docs/inspect.md",
    ],
    [
      "of shares of GPUs that nothing counts",
      { "nodes.json": [node("mystery-1", { "nvidia.com/gpu.shared": "40" })] },
      "nothing says how many of them mystery-1 has",
      "gpu.replicas",
    ],
  ] satisfies (readonly [string, DumpFiles, string, string])[])(
    "%s ends with a hint and exit code 1",
    async (_what, files, found, next) => {
      const dump = dumpOf(files);
      for (const command of [
        ["inspect", dump],
        ["advise", "--dump", dump],
      ]) {
        const { code, err } = await fairlead(...command);
        expect(code).toBe(1);
        expect(err).toContain(`fairlead: no GPU was found: ${found}`);
        expect(err.split("\n")[1]).toMatch(/^Next step: /);
        expect(err.split("\n")[1]).toContain(next);
      }
    },
  );

  test("is still a whole document", async () => {
    const { code, out } = await fairlead("inspect", dumpOf({ "nodes.json": [node("cpu-1", {})] }), "-o", "json");
    expect(code).toBe(1);
    expect(documentSchema.parse(JSON.parse(out)).pools).toEqual([]);
  });
});

test.each<readonly [string, DumpFiles]>([
  ["a node", { "nodes.json": [node("gpu-1", { "nvidia.com/gpu": "1" })] }],
  ["a page", { "gpu-a.prom": dcgmPage("gpu-a", "eval-0", 1) }],
])("with a GPU of %s there is no hint, and the exit code is 0", async (_what, files) => {
  expect(await fairlead("inspect", dumpOf(files))).toMatchObject({ code: 0, err: "" });
});
