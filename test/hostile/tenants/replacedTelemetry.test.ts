import { describe, expect, it } from "vitest";
import { createTelemetrySources } from "../../../cli/telemetrySources.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import type { GetPool } from "../../../exporter/sources/http/getPool.ts";
import type { ExporterPod } from "../../../exporter/sources/kubernetes/state.ts";
import { cluster, gpuNode, now } from "../../join/clusterBuilder.ts";

const config = configSchema.parse({});
const nodes = ["a", "b"];

const real = (nodeName: string, more: Partial<ExporterPod> = {}): ExporterPod => ({
  namespace: "gpu-operator",
  name: `nvidia-dcgm-exporter-${nodeName}`,
  uid: `uid-${nodeName}`,
  nodeName,
  podIp: `10.0.0.${nodeName === "a" ? 1 : 2}`,
  ports: { metrics: 9400 },
  ready: true,
  createdAt: now - 86_400,
  owner: { kind: "DaemonSet", name: "nvidia-dcgm-exporter" },
  ...more,
});
/** What whoever may create the namespace `dcgm-exporter` can put there. */
const fake = (nodeName: string): ExporterPod =>
  real(nodeName, {
    namespace: "dcgm-exporter",
    name: "a",
    uid: "fake",
    podIp: "10.9.9.9",
    owner: null,
    createdAt: now - 60,
  });

/** Asks all exporters at each of some moments, 30 s apart; what each node's GPUs do by the last pages, and the problems. */
async function readAfter(moments: readonly (readonly ExporterPod[])[]) {
  let exporterPods: readonly ExporterPod[] = [];
  let at = now;
  const read = () => ({
    ...cluster({ nodes: nodes.map((name) => gpuNode(name, 1)) }),
    exporterPods,
    resourceVersions: {},
    podCount: 0,
  });
  const pool: GetPool = {
    get: async ({ url }, consume) => {
      const page = `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",modelName="H100"} ${url.includes("10.9.9.9") ? 0 : 90}\n`;
      return { ok: true, value: consume(Buffer.from(page)), contentType: "text/plain", seconds: 0.01 };
    },
    retain: () => {},
    close: async () => {},
  };
  const { sources, scrapeOnce } = createTelemetrySources(
    config,
    { read },
    () => at,
    () => at,
    pool,
  );
  for (const pods of moments) {
    exporterPods = pods;
    await scrapeOnce(at);
    at += 30;
  }
  const pages = sources.flatMap((source) => source.read().pages);
  return {
    use: Object.fromEntries(pages.map(({ node, devices }) => [node, devices[0]?.gpuUtil])),
    problems: sources.flatMap((source) => source.problems().filter(({ code }) => code === "several-exporters")),
  };
}

describe("a tenant's pod that looks like an exporter", () => {
  const reals = nodes.map((node) => real(node));

  it("does not replace the telemetry of the node, and is named beside the exporter", async () => {
    const { use, problems } = await readAfter([[fake("a"), ...reals]]);
    expect(use).toEqual({ a: 0.9, b: 0.9 });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain("gpu-operator/nvidia-dcgm-exporter-a and dcgm-exporter/a");
  });

  it("does not where it is on more nodes, as long as the exporter is a DaemonSet", async () => {
    const owner = { kind: "ReplicaSet", name: "exporter" };
    const strangers = nodes.map((node) => ({ ...fake(node), name: `exporter-${node}`, uid: node, owner }));
    const { use, problems } = await readAfter([[...strangers, real("a")]]);
    expect(use.a).toBe(0.9);
    expect(problems[0]?.message).toContain("gpu-operator/nvidia-dcgm-exporter-a");
  });

  it("does not while the exporter is being replaced, and a rolling update without it says nothing", async () => {
    const next = real("a", { name: "nvidia-dcgm-exporter-new", uid: "new", podIp: "10.0.0.3" });
    const update = [reals, [...reals.slice(1)], [next, ...reals.slice(1)]];
    expect(await readAfter(update)).toEqual({ use: { a: 0.9, b: 0.9 }, problems: [] });
    const attacked = await readAfter([reals, [fake("a"), ...reals.slice(1)]]);
    expect(attacked.use).toEqual({ b: 0.9 });
    expect(attacked.problems[0]?.message).toContain("for which gpu-operator/nvidia-dcgm-exporter-a spoke until now");
    expect(
      (await readAfter([reals, [fake("a"), ...reals.slice(1)], [fake("a"), next, ...reals.slice(1)]])).use,
    ).toEqual({
      a: 0.9,
      b: 0.9,
    });
  });
});
