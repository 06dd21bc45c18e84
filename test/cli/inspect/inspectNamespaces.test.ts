import { describe, expect, test } from "vitest";
import { fairlead } from "../adviseAgainst.ts";
import { createDumps, documentOfDump } from "../dumpFolder.ts";

const dumpOf = createDumps();

const node: object = {
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name: "gpu-a",
    uid: "uid-a",
    creationTimestamp: "2026-11-01T00:00:00Z",
    labels: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" },
  },
  status: {
    capacity: { "nvidia.com/gpu": "4", cpu: "96", memory: "1Ti" },
    allocatable: { "nvidia.com/gpu": "4", cpu: "96", memory: "1Ti" },
    conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-11-21T12:00:00Z" }],
  },
};

/** A pod on the node; without GPUs where `gpus` is 0. */
const pod = (namespace: string, name: string, gpus: number, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace, name, uid: `uid-${name}`, creationTimestamp: "2026-11-20T00:00:00Z", ...more },
  spec: {
    nodeName: "gpu-a",
    containers: [{ name: "main", resources: gpus === 0 ? {} : { limits: { "nvidia.com/gpu": String(gpus) } } }],
  },
  status: { phase: "Running", containerStatuses: [{ name: "main", ready: true, state: { running: {} } }] },
});

/** One row for each GPU: its use, and the pod that it names. */
const pageOf = (...physicalGpus: readonly (readonly [use: number, pod: string | null])[]): string =>
  physicalGpus
    .map(([use, holder], gpu) => {
      const [namespace, name] = holder?.split("/") ?? [];
      const named = holder === null ? "" : `,container="main",namespace="${namespace}",pod="${name}"`;
      return `DCGM_FI_DEV_GPU_UTIL{gpu="${gpu}",UUID="GPU-${gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-a"${named}} ${use}\n`;
    })
    .join("");

const holdersOf = async (dump: string) =>
  (await documentOfDump(dump)).devices.map(({ uuid, state, holders }) => [
    uuid,
    state,
    holders.map(({ namespace, pod: name }) => `${namespace}/${name}`).join(),
  ]);

const linesOf = async (dump: string) =>
  (await documentOfDump(dump)).problems.filter(({ code }) => code === "pods-not-in-dump");

describe("pages with the pods of one namespace", () => {
  const page = pageOf([100, "vision/train"], [100, "ads/rank"], [0, "ads/bid"], [0, null]);
  const dump = dumpOf({ "nodes.json": [node], "pods.json": [pod("vision", "train", 1)], "gpu-a.prom": page });

  test("leave the GPUs of other namespaces with the pods that the page names", async () => {
    expect(await holdersOf(dump)).toEqual([
      ["GPU-0", "active", "vision/train"],
      ["GPU-1", "active", "ads/rank"],
      ["GPU-2", "underutilized", "ads/bid"],
      ["GPU-3", "free", ""],
    ]);
    const { nodes, teams } = await documentOfDump(dump);
    expect(nodes).toMatchObject([{ physicalGpus: 4, allocated: 3 }]);
    expect(teams.map(({ team, allocated }) => [team, allocated])).toEqual([
      ["ads", 2],
      ["vision", 1],
    ]);
  });

  test("say so, with the names and what to add", async () => {
    expect(await linesOf(dump)).toMatchObject([
      {
        subject: "ads",
        severity: "warning",
        message: expect.stringContaining("no pod of namespace ads, and pages name 2 (bid, rank)"),
        nextStep: expect.stringContaining("kubectl get pods -A"),
      },
    ]);
  });

  test("give nothing to a pod that has ended in a namespace that was read", async () => {
    const read = dumpOf({
      "nodes.json": [node],
      "pods.json": [pod("vision", "train", 1), pod("ads", "web", 0)],
      "gpu-a.prom": page,
    });
    expect(await holdersOf(read)).toMatchObject([
      ["GPU-0", "active", "vision/train"],
      ["GPU-1", "unattributed", ""],
      ["GPU-2", "free", ""],
      ["GPU-3", "free", ""],
    ]);
    expect(await linesOf(read)).toEqual([]);
  });

  test("never give a GPU twice: what a pod of the dump asks for comes out of the rest", async () => {
    const asked = dumpOf({
      "nodes.json": [node],
      "pods.json": [pod("vision", "train", 1), pod("vision", "eval", 2)],
      "gpu-a.prom": page,
    });
    const { nodes, problems } = await documentOfDump(asked);
    expect(nodes).toMatchObject([{ physicalGpus: 4, allocated: 4 }]);
    // The pods ask for five GPUs together, and a line says that there are four.
    expect(problems.map(({ code }) => code)).toContain("more-allocated-than-there-is");
  });

  test("with an empty list of pods, the page says all that is allocated", async () => {
    const empty = dumpOf({ "nodes.json": [node], "pods.json": [], "gpu-a.prom": page });
    expect((await documentOfDump(empty)).nodes).toMatchObject([{ allocated: 3, idle: null }]);
    expect((await linesOf(empty)).map(({ subject }) => subject)).toEqual(["ads", "vision"]);
  });
});

describe.each(["runai-reservation", "kai-resource-reservation"])("a pod of %s", (namespace) => {
  const page = pageOf([0, `${namespace}/gpu-reservation-x7`], [0, null], [0, "vision/train"], [0, null]);

  test("in pages alone keeps its GPU for someone: it is not free", async () => {
    const dump = dumpOf({ "gpu-a.prom": page });
    expect(await holdersOf(dump)).toEqual([
      ["GPU-0", "unattributed", ""],
      ["GPU-1", "free", ""],
      ["GPU-2", "underutilized", "vision/train"],
      ["GPU-3", "free", ""],
    ]);
    expect((await linesOf(dump)).map(({ subject }) => subject)).toEqual([namespace]);
    const { out } = await fairlead("explain", "node", "gpu-a", "--dump", dump);
    expect(out).toContain("a reservation pod keeps the GPU, but no pod of its group is known");
  });

  test("that the dump lacks keeps its GPU, too", async () => {
    const dump = dumpOf({ "nodes.json": [node], "pods.json": [pod("vision", "train", 1)], "gpu-a.prom": page });
    expect((await holdersOf(dump)).map(([, state]) => state)).toEqual([
      "unattributed",
      "free",
      "underutilized",
      "free",
    ]);
  });

  test("that has ended keeps nothing where its namespace was read", async () => {
    const pods = [pod("vision", "train", 1), pod(namespace, "gpu-reservation-y8", 0)];
    const dump = dumpOf({ "nodes.json": [node], "pods.json": pods, "gpu-a.prom": page });
    expect((await holdersOf(dump)).map(([, state]) => state)).toEqual(["free", "free", "underutilized", "free"]);
    expect(await linesOf(dump)).toEqual([]);
  });
});
