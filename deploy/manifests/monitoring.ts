import type { IPrometheusRule, IServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import { parse } from "yaml";
import { defaultTelemetryPath } from "../../exporter/publish/http/listenAddress.ts";
import {
  choose,
  type Expression,
  expression,
  isSet,
  merged,
  noTexts,
  textMap,
  value,
  valueBlock,
  valueNumber,
} from "../template/expression.ts";
import { optional, spread } from "../template/template.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { fullname, isOn, labels, namespace, namespaceOr, selectorLabels } from "./names.ts";
import { webScheme } from "./statefulSet.ts";

/** API group of the Prometheus Operator. */
export const operatorGroup = "monitoring.coreos.com";
/** The rules with their defaults, as a file of the chart. */
export const rulesFile = "files/prometheusrule.yaml";
/** Begins of addresses in that file, in the order in which the chart replaces them by its `links`. */
export const exampleLinks = {
  runbooks: "https://fairlead.example.org/runbooks",
  fairlead: "https://fairlead.example.org",
  grafana: "https://grafana.example.org",
} as const;

const releaseLabel = value("prometheus.releaseLabel", ({ prometheus }) => prometheus.releaseLabel);
const selectedLabels = choose(isSet(releaseLabel), textMap({ release: releaseLabel }), noTexts);

const monitor = "prometheus.monitor";
const tlsConfig = valueBlock(`${monitor}.tlsConfig`, ({ prometheus }) => prometheus.monitor.tlsConfig);
const basicAuth = valueBlock(`${monitor}.basicAuth`, ({ prometheus }) => prometheus.monitor.basicAuth);
const sampleLimit = valueNumber(`${monitor}.sampleLimit`, ({ prometheus }) => prometheus.monitor.sampleLimit);
const metricRelabelings = valueBlock(
  `${monitor}.metricRelabelings`,
  ({ prometheus }) => prometheus.monitor.metricRelabelings,
);

/** How Prometheus scrapes each replica. */
export const serviceMonitor: Manifest = manifest<IServiceMonitor>(
  "servicemonitor.yaml",
  {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: {
      name: fullname,
      namespace: namespaceOr(value(`${monitor}.namespace`, ({ prometheus }) => prometheus.monitor.namespace)),
      labels: merged(
        valueBlock(`${monitor}.additionalLabels`, ({ prometheus }) => prometheus.monitor.additionalLabels),
        selectedLabels,
        labels,
      ),
    },
    spec: {
      jobLabel: "app.kubernetes.io/name",
      selector: { matchLabels: selectorLabels },
      namespaceSelector: { matchNames: [namespace] },
      sampleLimit: optional(isSet(sampleLimit), sampleLimit),
      endpoints: [
        {
          port: "http",
          path: defaultTelemetryPath,
          scheme: webScheme,
          honorLabels: value(`${monitor}.honorLabels`, ({ prometheus }) => prometheus.monitor.honorLabels),
          interval: value(`${monitor}.interval`, ({ prometheus }) => prometheus.monitor.interval),
          scrapeTimeout: value(`${monitor}.scrapeTimeout`, ({ prometheus }) => prometheus.monitor.scrapeTimeout),
          tlsConfig: optional(isSet(tlsConfig), tlsConfig),
          basicAuth: optional(isSet(basicAuth), basicAuth),
          relabelings: [
            // Its address changes when it starts anew; its name does not, and so its counters go on.
            { action: "replace", sourceLabels: ["__meta_kubernetes_pod_name"], targetLabel: "instance" },
            spread(valueBlock(`${monitor}.relabelings`, ({ prometheus }) => prometheus.monitor.relabelings)),
          ],
          metricRelabelings: optional(isSet(metricRelabelings), metricRelabelings),
        },
      ],
    },
  },
  isOn(
    value(`${monitor}.enabled`, ({ prometheus }) => prometheus.monitor.enabled),
    operatorGroup,
  ),
);

const content = value("prometheus.rules.content", ({ prometheus }) => prometheus.rules.content);
const shippedRules = expression(
  "scalar",
  `.Files.Get ${JSON.stringify(rulesFile)}`,
  ({ files }) => files[rulesFile] ?? "",
);
const links = {
  runbooks: value("links.runbooks", (values) => values.links.runbooks),
  fairlead: value("links.fairlead", (values) => values.links.fairlead),
  grafana: value("links.grafana", (values) => values.links.grafana),
};
const linkNames = ["runbooks", "fairlead", "grafana"] as const;
const placeOf = (name: (typeof linkNames)[number]): string => `<address of ${name}>`;

/** The shipped rules with the addresses of this installation: an address must not become part of another. */
const linkedRules: Expression<string> = expression(
  "scalar",
  [
    shippedRules.pipeline,
    ...linkNames.map((name) => `replace ${JSON.stringify(exampleLinks[name])} ${JSON.stringify(placeOf(name))}`),
    ...linkNames.map((name) => `replace ${JSON.stringify(placeOf(name))} ${links[name].pipeline}`),
  ].join(" | "),
  (context) => {
    const places = linkNames.reduce(
      (rules, name) => rules.replaceAll(exampleLinks[name], placeOf(name)),
      shippedRules.resolve(context),
    );
    return linkNames.reduce(
      (rules, name) => rules.replaceAll(placeOf(name), () => links[name].resolve(context)),
      places,
    );
  },
);

type Groups = NonNullable<NonNullable<IPrometheusRule["spec"]>["groups"]>;
const rules = choose(isSet(content), content, linkedRules);
const groups: Expression<Groups> = expression(
  "block",
  `(${rules.pipeline} | fromYaml).spec.groups`,
  (context) => parse(rules.resolve(context)).spec.groups,
);

/** All recorded series and alerts. */
export const prometheusRule: Manifest = manifest<IPrometheusRule>(
  "prometheusrule.yaml",
  {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: {
      name: fullname,
      namespace: namespaceOr(value("prometheus.rules.namespace", ({ prometheus }) => prometheus.rules.namespace)),
      labels: merged(
        valueBlock("prometheus.rules.additionalLabels", ({ prometheus }) => prometheus.rules.additionalLabels),
        selectedLabels,
        labels,
      ),
    },
    spec: { groups },
  },
  isOn(
    value("prometheus.rules.enabled", ({ prometheus }) => prometheus.rules.enabled),
    operatorGroup,
  ),
);
