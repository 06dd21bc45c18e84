import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1";
import type { IService, IServiceAccount } from "kubernetes-models/v1";
import { defaultTelemetryPath } from "../../exporter/publish/http/listenAddress.ts";
import {
  all,
  choose,
  constant,
  isSet,
  merged,
  noTexts,
  text,
  textMap,
  value,
  valueBlock,
  valueNumber,
} from "../template/expression.ts";
import { optional } from "../template/template.ts";
import { containerPort } from "../values/containerPort.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { fullname, labels, namespace, replicasName, selectorLabels, serviceAccountName } from "./names.ts";
import { hasReplicas, webScheme } from "./statefulSet.ts";

export const servicePort = valueNumber("service.port", ({ service }) => service.port);
const isScraped = value("prometheusScrape", ({ prometheusScrape }) => prometheusScrape);
const givenAnnotations = valueBlock("service.annotations", ({ service }) => service.annotations);
const scrapeAnnotations = textMap({
  "prometheus.io/scrape": constant("true"),
  "prometheus.io/port": text`${servicePort}`,
  "prometheus.io/path": constant(defaultTelemetryPath),
  "prometheus.io/scheme": webScheme,
});
const serviceAnnotations = merged(givenAnnotations, choose(isScraped, scrapeAnnotations, noTexts));
const accountAnnotations = valueBlock("serviceAccount.annotations", ({ serviceAccount }) => serviceAccount.annotations);

/** What people, Prometheus and the weekly review ask. */
export const service: Manifest = manifest<IService>("service.yaml", {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: fullname,
    namespace,
    labels: merged(textMap({ "app.kubernetes.io/component": constant("exporter") }), labels),
    annotations: optional(isSet(serviceAnnotations), serviceAnnotations),
  },
  spec: {
    type: value("service.type", (values) => values.service.type),
    ports: [{ name: "http", port: servicePort, targetPort: "http", protocol: "TCP" }],
    selector: selectorLabels,
  },
});

/** A name for each replica, also while it is not ready. Prometheus does not scrape it: it has another component. */
export const replicasService: Manifest = manifest<IService>("service-replicas.yaml", {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: replicasName,
    namespace,
    labels: merged(textMap({ "app.kubernetes.io/component": constant("replicas") }), labels),
  },
  spec: {
    type: "ClusterIP",
    clusterIP: "None",
    publishNotReadyAddresses: true,
    ports: [{ name: "http", port: containerPort, targetPort: "http", protocol: "TCP" }],
    selector: selectorLabels,
  },
});

/** The account of the replicas. Pods that want its token must ask for it. */
export const serviceAccount: Manifest = manifest<IServiceAccount>(
  "serviceaccount.yaml",
  {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: {
      name: serviceAccountName,
      namespace,
      labels,
      annotations: optional(isSet(accountAnnotations), accountAnnotations),
    },
    automountServiceAccountToken: false,
  },
  value("serviceAccount.create", (values) => values.serviceAccount.create),
);

/** One replica at a time may be evicted. With a single one, a budget would only hold up the draining of its node. */
export const podDisruptionBudget: Manifest = manifest<IPodDisruptionBudget>(
  "poddisruptionbudget.yaml",
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: fullname, namespace, labels },
    spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: { matchLabels: selectorLabels } },
  },
  all(
    value("podDisruptionBudget.enabled", (values) => values.podDisruptionBudget.enabled),
    hasReplicas,
  ),
);
