import type { IConfigMap } from "kubernetes-models/v1";
import { stringify } from "yaml";
import { type Expression, expression, isSet, valueBlock } from "../template/expression.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { labels, namespace, nameWith } from "./names.ts";

/** Where the container finds its configuration, and what lies beside it. */
export const configFolder = "/etc/fairlead";
export const webFolder = "/etc/fairlead-web";
export const ledgerFolder = "/var/lib/fairlead";

export const configName = nameWith("config");
export const pricesName = nameWith("prices");

type Config = Readonly<Record<string, unknown>>;

/** The configuration as the user gave it. */
export const givenConfig = valueBlock<Config>("config", ({ config }) => config);
const prices = valueBlock<Config>("prices", (values) => values.prices);
const ledgerPath = `${ledgerFolder}/ledger.db`;
const pricesPath = `${configFolder}/prices.yaml`;

/** The user's configuration, with what the chart alone knows. */
export const configOfChart: Expression<Config> = expression(
  "block",
  `mergeOverwrite (deepCopy (default (dict) .Values.config)) (dict "replicas" (int .Values.replicas) "ledger" (dict "path" ${JSON.stringify(ledgerPath)})) (ternary (dict "prices" (dict "file" ${JSON.stringify(pricesPath)})) (dict) (${isSet(prices).pipeline}))`,
  ({ values }) => ({
    ...values.config,
    replicas: values.replicas,
    ledger: { ...mapOf(values.config.ledger), path: ledgerPath },
    ...(Object.keys(values.prices).length === 0
      ? {}
      : { prices: { ...mapOf(values.config.prices), file: pricesPath } }),
  }),
);

/** What a review of several ledgers takes from the configuration: a ledger knows no budgets. */
export const configOfReview: Expression<Config> = expression(
  "block",
  `pick (default (dict) .Values.config) "cluster" "cost"`,
  ({ values: { config } }) => ({
    ...(config.cluster === undefined ? {} : { cluster: config.cluster }),
    ...(config.cost === undefined ? {} : { cost: config.cost }),
  }),
);

function mapOf(given: unknown): Config {
  return typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : {};
}

/** A map as a file of YAML. */
export function asYaml(of: Expression<Config>): Expression<string> {
  return expression("text", `${of.pipeline} | toYaml`, (context) =>
    stringify(of.resolve(context), { lineWidth: 0, sortMapEntries: true, aliasDuplicateObjects: false }),
  );
}

/** Fairlead's configuration. */
export const configMap: Manifest = manifest<IConfigMap>("configmap.yaml", {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: configName, namespace, labels },
  data: { "fairlead.yaml": asYaml(configOfChart) },
});

/** The user's own prices. Fairlead reads them again when they change. */
export const pricesConfigMap: Manifest = manifest<IConfigMap>(
  "configmap-prices.yaml",
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: pricesName, namespace, labels },
    data: { "prices.yaml": asYaml(prices) },
  },
  isSet(prices),
);
