import { createServer } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTelemetrySources } from "../../cli/telemetrySources.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import type { GetPool } from "../../exporter/sources/http/getPool.ts";
import type { ExporterPod } from "../../exporter/sources/kubernetes/state.ts";
import { cluster, gpuNode, gpuPod, now, pod } from "../join/clusterBuilder.ts";
import { holdingsOf, snapshotOf } from "../join/outcomes.ts";

// KAI's metricsd is found by dcgm.podProcesses and asked over HTTP, beside a dcgm-exporter that knows no pods.

const metricsd = createServer((_request, answer) => {
  const row = (name: string, percent: number) =>
    `gpu_fractioning_gpu_sm_utilization_percent{gpu="0",gpu_uuid="GPU-0",namespace="research",pod="${name}",pod_uuid="uid-research-${name}"} ${percent}\n`;
  answer.end(row("a", 40) + row("b", 5) + row("of-another-node", 90));
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => metricsd.listen(0, "127.0.0.1", resolve));
  const address = metricsd.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterAll(() => new Promise((resolve) => metricsd.close(resolve)));

const exporterPod = (name: string, more: Partial<ExporterPod>): ExporterPod => ({
  namespace: "gpu-operator",
  name,
  uid: `uid-${name}`,
  nodeName: "n",
  podIp: "127.0.0.1",
  ports: {},
  ready: true,
  createdAt: now - 86_400,
  owner: { kind: "DaemonSet", name },
  ...more,
});

it("what a pod uses of a GPU comes from the exporter of processes of its node, and is not estimated", async () => {
  const selector = { namespaces: ["gpu-operator"], matchLabels: { app: "fractiond" }, port };
  const config = configSchema.parse({ dcgm: { podProcesses: [selector] } });
  const exporterPods = [exporterPod("dcgm-exporter", {}), exporterPod("fractiond", { isOfProcesses: true })];
  const nodes = [gpuNode("n", 1)];
  const dcgm: GetPool = {
    get: async (_request, consume) => {
      const page = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-0",modelName="H100"} 45\n';
      return { ok: true, value: consume(Buffer.from(page)), contentType: "text/plain", seconds: 0.01 };
    },
    retain: () => {},
    close: async () => {},
  };
  const read = () => ({ ...cluster({ nodes }), exporterPods, resourceVersions: {}, podCount: 0 });
  const telemetry = createTelemetrySources(
    config,
    { read },
    () => now,
    () => now,
    dcgm,
  );
  try {
    await telemetry.scrapeOnce(now);
    const pages = telemetry.sources.flatMap((source) => source.read().pages);
    expect(telemetry.sources.flatMap((source) => source.problems())).toEqual([]);
    const fraction = (name: string) =>
      pod(name, "n", {
        schedulerName: "kai-scheduler",
        labels: { "runai-gpu-group": "g" },
        annotations: { "nvidia.com/container.main.gpu-memory.request": "40Gi" },
      });
    const reservation = gpuPod("gpu-reservation", "n", 1, {
      namespace: "kai-resource-reservation",
      labels: { "runai-gpu-group": "g" },
      annotations: { "run.ai/reserve_for_gpu_index": "GPU-0" },
    });
    const snapshot = snapshotOf({ nodes, pods: [reservation, fraction("a"), fraction("b")], telemetry: pages });
    expect(holdingsOf(snapshot, "a")).toMatchObject([{ share: 0.5, activity: 0.8, estimated: false }]);
    expect(holdingsOf(snapshot, "b")).toMatchObject([{ share: 0.5, activity: 0.1, estimated: false }]);
  } finally {
    await telemetry.stop();
  }
});
