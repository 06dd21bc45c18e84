import type { IServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import { z } from "zod";
import { listOf, mapOf, textMap } from "./kubernetesPart.ts";

type Endpoint = NonNullable<IServiceMonitor["spec"]>["endpoints"][number];

/** What is made only where the cluster can use it: `auto` asks which API groups the cluster has. */
export const autoOrBoolean = z.union([z.literal("auto"), z.boolean()]);

/** Begin of an address: it is put into the texts of alerts, whose YAML it must not break. */
const address = z.string().regex(/^https?:\/\/[^\s"'`<>\\{}]+$/, "expected a URL that begins with http:// or https://");

/** How Prometheus finds Fairlead and its rules. */
export const prometheusFields = {
  prometheusScrape: z
    .boolean()
    .default(false)
    .describe("Annotate the Service with `prometheus.io/scrape`, for a Prometheus without its operator."),
  prometheus: z
    .strictObject({
      releaseLabel: z
        .string()
        .default("kube-prometheus-stack")
        .describe(
          "Value of the label `release`, by which an installed kube-prometheus-stack selects monitors and rules: the name of its Helm release. Empty: no such label.",
        ),
      monitor: z
        .strictObject({
          enabled: autoOrBoolean
            .default("auto")
            .describe("Make a ServiceMonitor; `auto`: where the cluster has the Prometheus Operator."),
          namespace: z.string().default("").describe("Its namespace; empty: that of the release."),
          additionalLabels: textMap.default({}).describe("Labels by which your Prometheus selects it."),
          honorLabels: z
            .boolean()
            .default(true)
            .describe("Keep Fairlead's own labels (`cluster`, `namespace`, `queue`): its series are about others."),
          interval: z.string().default("30s").describe("How often it is scraped; a cycle takes `config.interval`."),
          scrapeTimeout: z.string().default("10s").describe("Time within which a scrape must end."),
          sampleLimit: z
            .number()
            .int()
            .min(0)
            .default(0)
            .describe(
              "Samples beyond which a scrape is refused (0: no limit); `config.limits.series` bounds the page.",
            ),
          relabelings: listOf<NonNullable<Endpoint["relabelings"]>[number]>()
            .default([])
            .describe("More relabelings of the target."),
          metricRelabelings: listOf<NonNullable<Endpoint["metricRelabelings"]>[number]>()
            .default([])
            .describe("Relabelings of samples."),
          tlsConfig: mapOf<NonNullable<Endpoint["tlsConfig"]>>()
            .default({})
            .describe("How Prometheus verifies Fairlead's certificate, with `web.tls`."),
          basicAuth: mapOf<NonNullable<Endpoint["basicAuth"]>>()
            .default({})
            .describe("Secret from which Prometheus takes name and password, with users in the web configuration."),
        })
        .prefault({})
        .describe("The ServiceMonitor."),
      rules: z
        .strictObject({
          enabled: autoOrBoolean
            .default("auto")
            .describe("Make a PrometheusRule of all recorded series and alerts; `auto`: as for the monitor."),
          namespace: z.string().default("").describe("Its namespace; empty: that of the release."),
          additionalLabels: textMap.default({}).describe("Labels by which your Prometheus selects it."),
          content: z
            .string()
            .default("")
            .describe(
              "Your own rules instead: the file `prometheusrule.yaml` that `fairlead alerts --config.file` writes with your thresholds (`--set-file prometheus.rules.content=FILE`).",
            ),
        })
        .prefault({})
        .describe("The PrometheusRule."),
    })
    .prefault({})
    .describe("The Prometheus Operator."),
  links: z
    .strictObject({
      fairlead: address
        .default("https://fairlead.example.org")
        .describe("Where people reach Fairlead: begin of links in alerts and recommendations."),
      grafana: address
        .default("https://grafana.example.org")
        .describe("Where people reach Grafana: begin of links to dashboards in alerts."),
      runbooks: address
        .default("https://fairlead.example.org/runbooks")
        .describe("Folder with the runbooks (alerts/runbooks), where on-call people read them."),
    })
    .prefault({})
    .describe("Addresses that alerts name."),
  dashboards: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Make a ConfigMap of each dashboard, for Grafana's sidecar."),
      namespace: z.string().default("").describe("Their namespace; empty: that of the release."),
      labels: textMap
        .default({ grafana_dashboard: "1" })
        .describe("Labels by which the sidecar finds them (`sidecar.dashboards.label` of Grafana's chart)."),
      annotations: textMap
        .default({ grafana_folder: "Fairlead" })
        .describe("Annotations, such as the folder in Grafana (`sidecar.dashboards.folderAnnotation`)."),
    })
    .prefault({})
    .describe("The Grafana dashboards."),
};
