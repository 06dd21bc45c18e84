import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { alertGroups, recordingGroups } from "../../alerts/ruleGroups.ts";
import { alertsSchema } from "../../alerts/thresholds.ts";
import { hasPrometheus } from "../e2e/scrapedByPrometheus.ts";
import { until } from "../servers/kubernetesAdmin.ts";
import { isSteadyGauge } from "../servers/steadyGauges.ts";
import { poolStates } from "../servers/twoReplicasRules.ts";
import { smallRequest } from "./chartVariants.ts";
import { givenNode } from "./givenNode.ts";

const node = givenNode("beside");
if (!hasPrometheus())
  process.stderr.write("skipped: replicas.test.ts: prometheus is not installed (Debian package prometheus)\n");

const namespace = "replicas";
const release = `fairlead-replicas --namespace ${namespace} --set replicas=2 --set config.interval=5 ${smallRequest}`;
const address = "127.0.0.1:9190";
const folder = mkdtempSync(join(tmpdir(), "fairlead-replicas-"));
/** Seconds between two scrapes, and two evaluations of the rules. */
const every = 5;
const alertSettings = alertsSchema.parse({ interval: `${every}s` });

/** It goes on with every cycle. */
const isClock = /_timestamp_seconds:/;

const matrixSchema = z.object({
  data: z.object({
    result: z.array(
      z.object({ metric: z.record(z.string(), z.string()), values: z.array(z.tuple([z.number(), z.string()])) }),
    ),
  }),
});

/** Samples as Prometheus has written them; it listens inside the node. */
async function written(selector: string, seconds: number) {
  const query = new URLSearchParams({ query: `${selector}[${seconds}s]` });
  const text = await node.run(`busybox wget -q -O - 'http://${address}/api/v1/query?${query}'`);
  return matrixSchema.parse(JSON.parse(text)).data.result;
}

/** The labels are those that the chart's ServiceMonitor leads to. Debian's Prometheus does not know Kubernetes: it asks by the API server. */
const prometheusConfig = {
  global: { scrape_interval: `${every}s`, evaluation_interval: `${every}s` },
  rule_files: [join(folder, "rules.yaml")],
  scrape_configs: [
    {
      job_name: "fairlead",
      honor_labels: true,
      scheme: "https",
      tls_config: { insecure_skip_verify: true },
      authorization: { credentials: "admin" },
      static_configs: [0, 1].map((i) => {
        const pod = `fairlead-replicas-${i}`;
        const path = `/api/v1/namespaces/${namespace}/pods/${pod}:10836/proxy/metrics`;
        return { targets: ["127.0.0.1:6443"], labels: { __metrics_path__: path, instance: pod, pod, namespace } };
      }),
    },
  ],
};

describe.skipIf(!hasPrometheus())("two replicas under a rolling update, recorded by a real Prometheus", () => {
  let recording: Promise<unknown> = Promise.resolve();

  beforeAll(async () => {
    const groups = [...recordingGroups(alertSettings), ...alertGroups(alertSettings)];
    const [first, ...others] = groups;
    writeFileSync(
      join(folder, "rules.yaml"),
      stringify({ groups: [{ ...first, rules: [...(first?.rules ?? []), poolStates] }, ...others] }),
    );
    writeFileSync(join(folder, "prometheus.yaml"), JSON.stringify(prometheusConfig));
    await node.run(`helm install ${release} deploy/helm/fairlead --create-namespace --wait --timeout 4m`);
    recording = node.shell(
      `exec prometheus --config.file=${folder}/prometheus.yaml --storage.tsdb.path=${folder}/data --web.listen-address=${address} > ${folder}/log 2>&1`,
    );
    await until(
      "both replicas are scraped",
      async () => (await written("cluster:fairlead_replica:rank", 2 * every).catch(() => [])).length === 2,
    );
  });
  afterAll(async () => {
    await node.shell(`pkill -x prometheus || true
      helm uninstall fairlead-replicas --namespace ${namespace} --wait; kubectl delete namespace ${namespace} --wait=false`);
    await recording;
    rmSync(folder, { recursive: true, force: true });
  });

  it("moves no recorded series but the documented ones", async () => {
    await new Promise((resolve) => setTimeout(resolve, 4 * every * 1000));
    const from = Date.now() / 1000;
    await node.run(`helm upgrade ${release} deploy/helm/fairlead --set podAnnotations.updated=yes
      kubectl --namespace ${namespace} rollout status statefulset/fairlead-replicas --timeout=400s`);
    await new Promise((resolve) => setTimeout(resolve, 3 * every * 1000));
    const seconds = Math.ceil(Date.now() / 1000 - from);
    const steady = (await written('{__name__=~"(cluster.*:fairlead|test:).*"}', seconds)).filter(
      ({ metric }) => isSteadyGauge(metric.__name__ ?? "") && !isClock.test(metric.__name__ ?? ""),
    );
    expect(steady.length).toBeGreaterThan(20);
    const moved = steady.flatMap(({ metric, values }) => {
      const [, first] = values[0] ?? [];
      const other = values.find(([, value]) => Math.abs(Number(value) - Number(first)) > 1e-6);
      const holes = values.length < Math.floor(seconds / every) - 2;
      return other === undefined && !holes
        ? []
        : [`${JSON.stringify(metric)}: ${values.map(([, value]) => value).join(" ")}`];
    });
    expect(moved).toEqual([]);
    const fired = await written('ALERTS{alertstate="firing"}', seconds);
    expect(fired.map(({ metric }) => metric.alertname).filter((name) => name !== "GpuExporterReplicaMissing")).toEqual(
      [],
    );
  });
});
