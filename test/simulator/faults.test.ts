import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fault, HostileContent } from "../../simulator/faults.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import type { TruthGpu } from "../../simulator/truth.ts";
import { getFailure, getList, getText, kubeObject, openWatch, type SeenObject } from "./apiClient.ts";
import { readStrictly } from "./exposition.ts";

const node = "h100-01";
let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ scenario: demoScenario(), seed: 5, startAt: 1_795_000_000 });
});
afterAll(() => simulator.stop());

const api = (path: string): string => `${simulator.apiUrl}${path}`;
const pageUrl = (name = node): string => simulator.metricsUrls.get(name) ?? "";

/** Does something while a fault is on. */
async function during<T>(fault: Fault, action: () => Promise<T>): Promise<T> {
  const off = simulator.fault(fault);
  try {
    return await action();
  } finally {
    off();
  }
}

async function nodeObject(name = node): Promise<SeenObject> {
  return kubeObject.parse(await (await fetch(api(`/api/v1/nodes/${name}`))).json());
}

function gpusOf(object: SeenObject): unknown {
  const amount = (of: string): unknown => Reflect.get(Object(Reflect.get(Object(object.status), of)), "nvidia.com/gpu");
  return { capacity: amount("capacity"), allocatable: amount("allocatable") };
}

describe("faults of exporters", () => {
  it("answer 500, nothing, garbage or not at all, each while it is on and only on its node", async () => {
    const target = { node };
    const healthy = await getText(pageUrl());
    expect((await during({ kind: "exporter-error", target }, () => fetch(pageUrl()))).status).toBe(500);
    expect(await during({ kind: "exporter-empty", target }, () => getText(pageUrl()))).toBe("");
    const garbage = await during({ kind: "exporter-garbage", target }, () => getText(pageUrl()));
    expect(() => readStrictly(garbage)).toThrow();
    await expect(during({ kind: "exporter-reset", target }, () => fetch(pageUrl()))).rejects.toThrow();
    const other = await during({ kind: "exporter-error", target }, () => fetch(pageUrl("h100-02")));
    expect(other.status).toBe(200);
    expect(await getText(pageUrl())).toBe(healthy);
  });

  it("delay the page", async () => {
    const early = await during({ kind: "exporter-slow", target: "all", delayMs: 5000 }, async () => {
      const signal = AbortSignal.timeout(100);
      return fetch(pageUrl(), { signal }).then(
        () => "came",
        () => "late",
      );
    });
    expect(early).toBe("late");
  });

  it("freeze values, energy included, until it is switched off", async () => {
    const before = await getText(pageUrl());
    const frozen = await during({ kind: "exporter-frozen", target: { node } }, async () => {
      simulator.advance(120);
      return getText(pageUrl());
    });
    simulator.advance(30);
    const energy = (page: string): readonly number[] =>
      readStrictly(page)
        .filter((s) => s.name === "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
        .map((s) => s.value);
    expect(energy(frozen)).toEqual(energy(before));
    energy(await getText(pageUrl())).forEach((value, i) => {
      expect(value).toBeGreaterThan(energy(before)[i] ?? Number.POSITIVE_INFINITY);
    });
  });

  it("hold profiling fields at 0 while GPU_UTIL goes on", async () => {
    const page = await during({ kind: "profiling-stuck", target: "all" }, () => getText(pageUrl()));
    const values = (name: string): readonly number[] =>
      readStrictly(page)
        .filter((s) => s.name === name)
        .map((s) => s.value);
    expect(new Set(values("DCGM_FI_PROF_GR_ENGINE_ACTIVE"))).toEqual(new Set([0]));
    expect(Math.max(...values("DCGM_FI_DEV_GPU_UTIL"))).toBeGreaterThan(0);
  });

  it("serve hostile pages: other nodes' GPUs, text that breaks formats, size", async () => {
    const hostile = (content: HostileContent): Promise<string> =>
      during({ kind: "exporter-hostile", target: { node }, content, megabytes: 2 }, () => getText(pageUrl()));
    const uuids = (name: string): readonly string[] =>
      simulator
        .truth()
        .physicalGpus.filter((physicalGpu) => physicalGpu.node === name)
        .map((physicalGpu) => physicalGpu.uuid);
    const foreign = await hostile("foreign-devices");
    expect(foreign).toContain(uuids("h100-02")[0]);
    expect(foreign).not.toContain(uuids(node)[0]);
    const injection = await hostile("label-injection");
    expect(injection).toContain("<script>");
    expect(injection).toContain("__proto__");
    expect(() => readStrictly(injection)).toThrow();
    const size = (await hostile("huge")).length;
    expect(size).toBeGreaterThan(2 * 1024 * 1024);
    expect(size).toBeLessThan(3 * 1024 * 1024);
  });
});

describe("faults of nodes and GPUs", () => {
  it("lose a node: Ready Unknown, exporter gone, pods still there, nothing active, and back again", async () => {
    const pods = `/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`;
    const before = (await getList(api(pods))).items.length;
    const bootId = (object: SeenObject): unknown =>
      Reflect.get(Object(Reflect.get(Object(object.status), "nodeInfo")), "bootID");
    const healthyBoot = bootId(await nodeObject());
    await during({ kind: "node-lost", node }, async () => {
      const lost = await nodeObject();
      expect(JSON.stringify(lost.status)).toContain('"type":"Ready","status":"Unknown"');
      expect(JSON.stringify(lost.spec)).toContain("node.kubernetes.io/unreachable");
      expect(bootId(lost)).toBe(healthyBoot);
      expect((await getList(api(pods))).items).toHaveLength(before);
      await expect(fetch(pageUrl())).rejects.toThrow();
      const physicalGpus = simulator.truth().physicalGpus.filter((physicalGpu) => physicalGpu.node === node);
      expect(physicalGpus.every((physicalGpu) => physicalGpu.activity === 0 && physicalGpu.holders.length > 0)).toBe(
        true,
      );
      expect(simulator.truth().nodes.find((each) => each.name === node)?.ready).toBe(false);
    });
    expect(JSON.stringify((await nodeObject()).status)).toContain('"type":"Ready","status":"True"');
    expect((await fetch(pageUrl())).status).toBe(200);
  });

  it("lose a GPU: off the page, out of allocatable at once, out of capacity after a minute", async () => {
    const [lost] = simulator.truth().physicalGpus.filter((physicalGpu) => physicalGpu.node === node);
    await during({ kind: "gpu-lost", node, physicalGpu: 0 }, async () => {
      expect(await getText(pageUrl())).not.toContain(lost?.uuid ?? "none");
      expect(gpusOf(await nodeObject())).toEqual({ capacity: "8", allocatable: "7" });
      simulator.advance(60);
      expect(gpusOf(await nodeObject())).toEqual({ capacity: "7", allocatable: "7" });
      const reported = simulator.truth().physicalGpus.find((physicalGpu) => physicalGpu.uuid === lost?.uuid);
      expect(reported).toMatchObject({
        healthy: false,
        activity: 0,
        observed: null,
        holders: [{ pod: holderOf(lost) }],
      });
      expect(simulator.truth().nodes.find((each) => each.name === node)?.physicalGpus).toBe(8);
    });
    expect(gpusOf(await nodeObject())).toEqual({ capacity: "8", allocatable: "8" });
  });

  it("lose a GPU under DRA: the next generation of the slice is without it", async () => {
    const slice = async (): Promise<string> => getText(api("/apis/resource.k8s.io/v1/resourceslices"));
    const [lost] = simulator.truth().physicalGpus.filter((physicalGpu) => physicalGpu.node === "h100-10");
    expect(await slice()).toContain('"generation":1');
    await during({ kind: "gpu-lost", node: "h100-10", physicalGpu: 0 }, async () => {
      expect(await slice()).toContain('"generation":2');
      expect(await slice()).not.toContain(lost?.uuid ?? "none");
    });
    expect(await slice()).toContain('"generation":3');
  });

  describe("report an XID error", () => {
    const gpuLines = async (uuid: string): Promise<readonly string[]> =>
      (await getText(pageUrl())).split("\n").filter((line) => line.includes(uuid));
    const shown = (lines: readonly string[], family: string): string | undefined =>
      lines
        .find((line) => line.startsWith(`${family}{`))
        ?.split(" ")
        .at(-1);
    const podStatus = async (gpu: TruthGpu | undefined): Promise<string> => {
      const pods = await getList(api(`/api/v1/namespaces/${gpu?.holders[0]?.namespace}/pods`));
      return JSON.stringify(pods.items.find(({ metadata }) => metadata.name === holderOf(gpu))?.status);
    };
    it.each([
      { code: 48, active: false },
      { code: 63, active: true },
    ])("$code, which takes the GPU out of allocatable and is told to its pod", async ({ code, active }) => {
      const [gpu] = simulator.truth().physicalGpus.filter((physicalGpu) => physicalGpu.node === node);
      await during({ kind: "gpu-xid", node, physicalGpu: 0, code }, async () => {
        expect(gpusOf(await nodeObject())).toEqual({ capacity: "8", allocatable: "7" });
        expect(await podStatus(gpu)).toContain(`{"resourceID":"${gpu?.uuid}","health":"Unhealthy"}`);
        simulator.advance(90);
        expect(gpusOf(await nodeObject())).toEqual({ capacity: "8", allocatable: "7" });
        expect(shown(await gpuLines(gpu?.uuid ?? ""), "DCGM_FI_DEV_XID_ERRORS")).toBe(String(code));
        const reported = simulator.truth().physicalGpus.find(({ uuid }) => uuid === gpu?.uuid);
        expect(reported?.healthy).toBe(false);
        expect((reported?.activity ?? 0) > 0).toBe(active);
      });
      expect(gpusOf(await nodeObject())).toEqual({ capacity: "8", allocatable: "8" });
      expect(await podStatus(gpu)).not.toContain("Unhealthy");
      // DCGM shows the last code on, also when it is over.
      expect(shown(await gpuLines(gpu?.uuid ?? ""), "DCGM_FI_DEV_XID_ERRORS")).toBe(String(code));
    });

    it.each([13, 31, 43, 45])("%d, which blames the job, and takes nothing out", async (code) => {
      const [gpu] = simulator.truth().physicalGpus.filter((physicalGpu) => physicalGpu.node === node);
      await during({ kind: "gpu-xid", node, physicalGpu: 0, code }, async () => {
        expect(gpusOf(await nodeObject())).toEqual({ capacity: "8", allocatable: "8" });
        expect(await podStatus(gpu)).not.toContain("Unhealthy");
        expect(shown(await gpuLines(gpu?.uuid ?? ""), "DCGM_FI_DEV_XID_ERRORS")).toBe(String(code));
        expect(simulator.truth().physicalGpus.find(({ uuid }) => uuid === gpu?.uuid)?.healthy).toBe(true);
      });
    });

    it.each([
      [95, "NoSchedule"],
      [31, "None"],
    ])("%d under DRA, as a taint with the effect %s", async (code, effect) => {
      const slice = async (): Promise<string> => getText(api("/apis/resource.k8s.io/v1/resourceslices"));
      await during({ kind: "gpu-xid", node: "h100-10", physicalGpu: 0, code }, async () => {
        expect(await slice()).toContain(`"taints":[{"key":"gpu.nvidia.com/xid","value":"${code}","effect":"${effect}"`);
      });
      expect(await slice()).not.toContain("gpu.nvidia.com/xid");
    });
  });

  it("run a process that no pod owns", async () => {
    const free = simulator
      .truth()
      .physicalGpus.find((physicalGpu) => physicalGpu.node === "h100-08" && physicalGpu.holders.length === 0);
    await during({ kind: "stray-process", node: "h100-08", physicalGpu: 0, activity: 0.5 }, async () => {
      simulator.advance(30);
      const reported = simulator.truth().physicalGpus.find((physicalGpu) => physicalGpu.uuid === free?.uuid);
      expect(reported).toMatchObject({ activity: 0.5, observed: 0.5, holders: [] });
    });
  });
});

function holderOf(physicalGpu: TruthGpu | undefined): string | undefined {
  return physicalGpu?.holders[0]?.pod;
}

describe("faults of the API", () => {
  it("forbid one resource as RBAC does", async () => {
    const { http, status } = await during({ kind: "api-forbidden", resource: "resourceslices" }, () =>
      getFailure(api("/apis/resource.k8s.io/v1/resourceslices")),
    );
    expect(http).toBe(403);
    expect(status).toMatchObject({
      reason: "Forbidden",
      details: { group: "resource.k8s.io", kind: "resourceslices" },
    });
    expect(status.message).toBe(
      'resourceslices.resource.k8s.io is forbidden: User "system:serviceaccount:fairlead:fairlead" cannot list resource "resourceslices" in API group "resource.k8s.io" at the cluster scope',
    );
    const other = await during({ kind: "api-forbidden", resource: "resourceslices" }, () => fetch(api("/api/v1/pods")));
    expect(other.status).toBe(200);
  });

  it("fail lists, of one resource or all, but not watches", async () => {
    const one = await during({ kind: "api-list-error", resource: "nodes" }, () => getFailure(api("/api/v1/nodes")));
    expect(one).toMatchObject({ http: 500, status: { reason: "InternalError" } });
    const all = await during({ kind: "api-list-error" }, () => getFailure(api("/api/v1/pods")));
    expect(all.http).toBe(500);
    const watch = await during({ kind: "api-list-error" }, () => openWatch(api("/api/v1/nodes?watch=true")));
    expect((await watch.readUntil("ADDED"))[0]?.type).toBe("ADDED");
    await watch.close();
  });

  it("break open watches off", async () => {
    const watch = await openWatch(api(`/api/v1/pods?watch=true&resourceVersion=${simulator.resourceVersion()}`));
    expect(simulator.openWatches()).toBeGreaterThan(0);
    const end = watch.readToEnd();
    simulator.fault({ kind: "api-watch-cut" })();
    await expect(end).rejects.toThrow();
  });

  it("inform the next watch of each resource that its version is gone, once", async () => {
    simulator.fault({ kind: "api-gone" });
    const resume = (): string => `watch=true&allowWatchBookmarks=true&resourceVersion=${simulator.resourceVersion()}`;
    for (const resource of ["pods", "nodes"]) {
      const first = await openWatch(api(`/api/v1/${resource}?${resume()}`));
      expect((await first.readToEnd()).map((event) => event.type)).toEqual(["ERROR"]);
      const second = await openWatch(api(`/api/v1/${resource}?${resume()}`));
      simulator.advance(10);
      expect((await second.readUntil("BOOKMARK")).at(-1)?.type).toBe("BOOKMARK");
      await second.close();
    }
  });

  it("expire continue tokens", async () => {
    const { metadata } = await getList(api("/api/v1/pods?limit=3"));
    const next = api(`/api/v1/pods?limit=3&continue=${metadata.continue}`);
    const expired = await during({ kind: "api-continue-expired" }, () => getFailure(next));
    expect(expired).toMatchObject({ http: 410, status: { reason: "Expired" } });
    expect((await getList(next)).items).toHaveLength(3);
    expect((await getFailure(api("/api/v1/pods?limit=3&continue=nonsense"))).http).toBe(400);
  });

  it("jump the clock and jump back, while time itself goes on", () => {
    const before = simulator.now();
    const off = simulator.fault({ kind: "clock-jump", seconds: -7200 });
    expect(simulator.now()).toBe(before - 7200);
    simulator.advance(60);
    expect(simulator.truth().at).toBe(before - 7200 + 60);
    off();
    expect(simulator.now()).toBe(before + 60);
  });
});
