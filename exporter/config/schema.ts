import { z } from "zod";
import { adviceSchema } from "./adviceSchema.ts";
import { digestSchema } from "./digestSchema.ts";
import { gpuSchema } from "./gpuSchema.ts";
import { costSchema, historySchema, placementSchema, pricesSchema } from "./moneySchema.ts";
import { auth, prometheusServer } from "./prometheusSchema.ts";
import { queuesSchema } from "./queuesSchema.ts";
import { servingSchema } from "./servingSchema.ts";
import { teamRule } from "./teamRule.ts";

// The path of a setting is its name in docs/config.md, and its description is the text there.
const seconds = (min: number, max: number) => z.number().min(min).max(max);
const days = z.number().int().min(2).max(4000);
const ratio = z.number().min(0).max(1);
// The allowed characters are those of RFC 9110, section 5.6.2.
const otlpHeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "expected the name of an HTTP header");

const exporterSelector = z.strictObject({
  namespaces: z
    .array(z.string().min(1))
    .min(1)
    .describe("Namespaces in which exporters may run. No other pod is believed."),
  matchLabels: z.record(z.string(), z.string()).describe("Labels that an exporter pod has."),
  port: z
    .union([z.number().int().min(1).max(65535), z.string().min(1)])
    .default("metrics")
    .describe("Port number, or name of a container port (`gpu-metrics`, `metrics` and 9400 are tried after it)."),
  path: z.string().startsWith("/").default("/metrics").describe("Path of the page."),
  scheme: z.enum(["http", "https"]).default("http").describe("Whether exporters speak TLS."),
  caFile: z.string().min(1).optional().describe("CA certificates that sign the exporters' certificates."),
});

const listedTarget = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe("Address of the page."),
  node: z.string().min(1).optional().describe("The node that the page is for; without it, the page's own host label."),
  auth: auth.default({ kind: "none" }).describe("Credentials for this target alone."),
  caFile: z.string().min(1).optional().describe("CA certificates that sign the target's certificate."),
  insecureSkipVerify: z
    .boolean()
    .default(false)
    .describe("Do not verify the target's certificate. Anyone in between can then invent GPUs."),
});

/** The name of a host as a browser sends it, without scheme and port. */
const host = z
  .string()
  .regex(
    /^(?:\*|(?:\*\.)?[0-9A-Za-z_](?:[-0-9A-Za-z_.]{0,251}[0-9A-Za-z_])?)$/,
    "expected a name without scheme and port, such as fairlead.example.com",
  );

/** The settings of the web server: `web` in the configuration. */
export const webSchema = z.strictObject({
  allowedHosts: z
    .array(host)
    .default([])
    .describe(
      "More names under which Fairlead may be asked, such as that of an Ingress; `*.example.com` matches all names below it, and `*` any name. IP addresses, `localhost`, names without a dot, the machine's own name and those of its Services always may. Looked at only where neither users nor TLS are configured: a stranger's page can then not make its visitors' browsers read Fairlead (DNS rebinding).",
    ),
});

/** Everything that can be configured, with its default. Types, checks and `docs/config.md` are all made from this. */
export const configSchema = z.strictObject({
  cluster: z
    .string()
    .min(1)
    .max(100)
    .default("default")
    .describe("Name of the cluster; the label `cluster` of every series."),
  interval: seconds(1, 600)
    .default(30)
    .describe("Seconds between two cycles. dcgm-exporter itself collects every 30 s."),
  replicas: z
    .number()
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe(
      "How many replicas of Fairlead run for this cluster, each with a ledger of its own; `GpuExporterReplicaMissing` fires when fewer work.",
    ),
  kubernetes: z
    .strictObject({
      kubeconfig: z
        .string()
        .min(1)
        .optional()
        .describe(
          "Path of a kubeconfig file. Default: in-cluster credentials, else `$KUBECONFIG` or `~/.kube/config`.",
        ),
      context: z.string().min(1).optional().describe("Context of the kubeconfig file."),
      pageSize: z.number().int().min(1).max(10_000).default(500).describe("Objects per page of a list."),
      silenceSeconds: seconds(5, 3600)
        .default(90)
        .describe("A watch that receives nothing for this long is opened again."),
      maxAgeSeconds: seconds(10, 86_400)
        .default(300)
        .describe("How long the last good state of a kind is used when it cannot be read."),
    })
    .prefault({})
    .describe("How the Kubernetes API is read."),
  dcgm: z
    .strictObject({
      discovery: z
        .array(exporterSelector)
        .default([
          {
            namespaces: ["gpu-operator", "nvidia-gpu-operator"],
            matchLabels: { app: "nvidia-dcgm-exporter" },
            port: "metrics",
            path: "/metrics",
            scheme: "http",
          },
          {
            namespaces: ["gpu-operator", "monitoring", "dcgm-exporter", "kube-system"],
            matchLabels: { "app.kubernetes.io/name": "dcgm-exporter" },
            port: "metrics",
            path: "/metrics",
            scheme: "http",
          },
        ])
        .describe("How exporter pods are found. Empty: none is discovered."),
      targets: z.array(listedTarget).default([]).describe("Pages that are fetched in addition to the discovered ones."),
      podProcesses: z
        .array(exporterSelector)
        .default([])
        .describe(
          "How pods are found that report which pod uses how much of a shared GPU: KAI's metricsd, HAMi's vGPUmonitor; see docs/telemetry.md. What they say replaces the estimate.",
        ),
      timeoutSeconds: seconds(0.1, 120).default(10).describe("Time within which a whole page must have arrived."),
      maxPageBytes: z
        .number()
        .int()
        .min(1024)
        .max(1 << 30)
        .default(16 * 1024 * 1024)
        .describe("A larger page is refused."),
      maxGpusPerPage: z
        .number()
        .int()
        .min(1)
        .max(1024)
        .default(64)
        .describe(
          "GPUs of a page beyond this number are left out and reported: no machine has that many, but a page may claim to.",
        ),
      concurrency: z.number().int().min(1).max(4096).default(64).describe("Pages that are fetched at the same time."),
      prometheus: prometheusServer
        .optional()
        .describe(
          "A server with Prometheus' HTTP API (Prometheus, Thanos, Mimir, VictoriaMetrics) that is asked for what it scraped from the exporters; see docs/telemetry.md.",
        ),
    })
    .prefault({})
    .describe("Where GPU telemetry comes from."),
  teams: z
    .array(teamRule)
    .default([{ from: "namespace-label", key: "team" }, { from: "namespace" }])
    .describe("Ordered rules; the first that gives a value decides. What no rule matches is `unassigned`."),
  queues: queuesSchema.prefault({}).describe("Queues, entitlement and waiting (docs/fairness.md)."),
  gpu: gpuSchema.prefault({}).describe("What counts as a GPU, and how busy it is."),
  idle: z
    .strictObject({
      threshold: ratio.default(0.05).describe("Activity up to which a device counts as idle."),
      batchSeconds: seconds(60, 604_800).default(1800).describe("How long a batch workload must be idle to be `idle`."),
      servingSeconds: seconds(60, 604_800)
        .default(86_400)
        .describe("The same for serving workloads, and for those whose class is a guess."),
      warmPools: z
        .array(
          z.strictObject({
            label: z.string().min(1).max(317).describe("Label of the node."),
            value: z.string().max(63).optional().describe("Its value; without it, any."),
          }),
        )
        .default([{ label: "fairlead.dev/warm-pool", value: "true" }])
        .describe("Nodes that are kept ready on purpose: counted apart from idle ones."),
    })
    .prefault({})
    .describe("When allocated GPUs count as idle."),
  serving: servingSchema.prefault({}).describe("Requests of servers that hold GPUs (docs/serving.md)."),
  clusterAutoscaler: z
    .strictObject({
      statusConfigMap: z
        .strictObject({
          namespace: z.string().min(1).default("kube-system").describe("Namespace of the ConfigMap."),
          name: z.string().min(1).default("cluster-autoscaler-status").describe("Name of the ConfigMap."),
        })
        .optional()
        .describe("ConfigMap in which the Cluster Autoscaler reports its node groups, read for their sizes."),
    })
    .prefault({})
    .describe("The Cluster Autoscaler. Karpenter's NodePools are found by themselves."),
  prices: pricesSchema.prefault({}).describe("What GPUs cost (docs/cost.md)."),
  cost: costSchema.prefault({}).describe("Who is charged for what (docs/cost.md)."),
  placement: placementSchema.prefault({}).describe("How usable free GPUs are (docs/placement.md)."),
  advice: adviceSchema.prefault({}).describe("What is advised, and when (docs/recommendations.md)."),
  digest: digestSchema
    .prefault({})
    .describe("Who is written to about idle GPUs, by `fairlead digest` (docs/review.md)."),
  history: historySchema.prefault({}).describe("Who answers questions about the past (docs/history.md)."),
  limits: z
    .strictObject({
      teams: z
        .number()
        .int()
        .min(1)
        .max(100_000)
        .default(1000)
        .describe(
          "Teams with series of their own; the rest is `other`. A team keeps its series while it has GPU time; an hour later they may go to another team.",
        ),
      series: z
        .number()
        .int()
        .min(100)
        .max(1_000_000)
        .default(50_000)
        .describe("Total number of series on `/metrics`."),
    })
    .prefault({})
    .describe("Budgets that bound the page and its cost."),
  ledger: z
    .strictObject({
      path: z
        .string()
        .min(1)
        .describe(
          "SQLite file that keeps GPU time over restarts. It needs block storage or a local disk, and each replica needs its own file.",
        ),
      hourlyDays: days
        .default(14)
        .describe("Days for which sums are kept by the hour; older ones are kept by the day."),
      dailyDays: days.default(400).describe("Days for which daily sums are kept."),
      workloadDays: days.default(100).describe("Days for which daily sums of single workloads are kept."),
    })
    .optional()
    .describe(
      "The ledger (docs/ledger.md). Without it, nothing survives a restart, and history is what Prometheus keeps.",
    ),
  web: webSchema.prefault({}).describe("How Fairlead is reached (docs/operations.md)."),
  otlp: z
    .strictObject({
      endpoint: z
        .url({ protocol: /^https?$/ })
        .describe("OTLP/HTTP endpoint (protobuf); `/v1/metrics` and `/v1/traces` are appended to it."),
      headers: z
        .record(otlpHeaderName, z.string().regex(/^[\t -~]*$/, "expected printable ASCII"))
        .default({})
        .describe("Headers of each request, by name. Secrets belong in `headersFile`."),
      headersFile: z
        .string()
        .min(1)
        .optional()
        .describe("File with one `Name: value` in a line: headers of each request. It is read again for each request."),
      intervalSeconds: seconds(1, 3600)
        .optional()
        .describe("Seconds between two exports. Default: `$OTEL_METRIC_EXPORT_INTERVAL`, else `interval`."),
      metrics: z.boolean().default(true).describe("Export the metrics that `/metrics` has."),
      traces: z.boolean().default(true).describe("Export traces of Fairlead's own cycle."),
    })
    .optional()
    .describe("OpenTelemetry output (docs/opentelemetry.md); without it, nothing is sent."),
});

export type Config = z.infer<typeof configSchema>;
export type TeamRule = z.infer<typeof teamRule>;
