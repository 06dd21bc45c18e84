import { createHash } from "node:crypto";
import {
  choose,
  constant,
  type Expression,
  expression,
  isSet,
  merged,
  named,
  namedMap,
  text,
  textMap,
  value,
  valueBlock,
} from "../template/expression.ts";

const chartName = expression("scalar", ".Chart.Name", ({ chart }) => chart.name);
const releaseName = expression("scalar", ".Release.Name", ({ release }) => release.name);
const nameOverride = value("nameOverride", (values) => values.nameOverride);
const fullnameOverride = value("fullnameOverride", (values) => values.fullnameOverride);
const namespaceOverride = value("namespaceOverride", (values) => values.namespaceOverride);
const imageTag = value("image.tag", ({ image }) => image.tag);
const imageSha = value("image.sha", ({ image }) => image.sha);
const globalRegistry = value("global.imageRegistry", ({ global }) => global.imageRegistry);
const imageRegistry = value("image.registry", ({ image }) => image.registry);
const accountName = value("serviceAccount.name", ({ serviceAccount }) => serviceAccount.name);

/** A name with room for what is appended to it: that of a CronJob (`-review`) may have 52 letters, fewer than all others. */
function shortened(of: Expression<string>): Expression<string> {
  return expression("scalar", `${of.pipeline} | trunc 45 | trimSuffix "-"`, (context) =>
    of.resolve(context).slice(0, 45).replace(/-$/, ""),
  );
}

/** The application's name, in labels. */
export const name = named("fairlead.name", shortened(choose(isSet(nameOverride), nameOverride, chartName)));

const releaseHasName = expression("scalar", `contains (${name.pipeline}) .Release.Name`, (context) =>
  context.release.name.includes(name.resolve(context)),
);

/** The name of all objects, or its beginning. */
export const fullname = named(
  "fairlead.fullname",
  shortened(
    choose(
      isSet(fullnameOverride),
      fullnameOverride,
      choose(releaseHasName, releaseName, text`${releaseName}-${name}`),
    ),
  ),
);

/** Name of the Service without an address of its own, which gives each replica a name. */
export const replicasName = text`${fullname}-replicas`;

/** The namespace of all objects that are in one. */
export const namespace = named(
  "fairlead.namespace",
  choose(
    isSet(namespaceOverride),
    namespaceOverride,
    expression("scalar", ".Release.Namespace", ({ release }) => release.namespace),
  ),
);

/** What selects Fairlead's replicas; never changes in the life of a release. */
export const selectorLabels = namedMap(
  "fairlead.selectorLabels",
  textMap({
    "app.kubernetes.io/name": name,
    "app.kubernetes.io/instance": releaseName,
    "app.kubernetes.io/component": constant("exporter"),
  }),
);

const ownLabels = expression(
  "block",
  `dict "app.kubernetes.io/name" (${name.pipeline}) "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/part-of" "fairlead" "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/managed-by" .Release.Service "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_")`,
  (context): Readonly<Record<string, string>> => ({
    "app.kubernetes.io/name": name.resolve(context),
    "app.kubernetes.io/instance": context.release.name,
    "app.kubernetes.io/part-of": "fairlead",
    "app.kubernetes.io/version": context.chart.appVersion,
    ...(context.release.service === null
      ? {}
      : {
          "app.kubernetes.io/managed-by": context.release.service,
          "helm.sh/chart": `${context.chart.name}-${context.chart.version}`.replaceAll("+", "_"),
        }),
  }),
);

/** Labels that a user wants on all objects. */
export const customLabels = valueBlock("customLabels", (values) => values.customLabels);

/** Labels of every object. */
export const labels = namedMap("fairlead.labels", merged(ownLabels, customLabels));

/** Name of the account with which Fairlead reads the Kubernetes API. */
export const serviceAccountName = named(
  "fairlead.serviceAccountName",
  choose(
    isSet(accountName),
    accountName,
    choose(
      value("serviceAccount.create", ({ serviceAccount }) => serviceAccount.create),
      fullname,
      constant("default"),
    ),
  ),
);

const repository = value("image.repository", ({ image }) => image.repository);
const registry = choose(isSet(globalRegistry), globalRegistry, imageRegistry);
const tag = choose(
  isSet(imageTag),
  imageTag,
  expression("scalar", ".Chart.AppVersion", ({ chart }) => chart.appVersion),
);

/** The container image, by tag and, where it is given, by digest. */
export const image = named(
  "fairlead.image",
  text`${choose(isSet(registry), text`${registry}/`, constant(""))}${repository}:${tag}${choose(isSet(imageSha), text`@sha256:${imageSha}`, constant(""))}`,
);

/** All named templates, for the chart's `_helpers.tpl`. */
export const namedTemplates = [name, fullname, namespace, selectorLabels, labels, serviceAccountName, image] as const;

/** A namespace of the user's choice, or that of the release. */
export function namespaceOr(given: Expression<string>): Expression<string> {
  return choose(isSet(given), given, namespace);
}

/** Names and labels of an object: `fairlead`, or `fairlead-SUFFIX`. */
export const nameWith = (suffix: string): Expression<string> => text`${fullname}-${constant(suffix)}`;

/** A digest of a value, that changes when it does: SHA-256 of its JSON as Go writes it. */
export function checksum(of: Expression<unknown>): Expression<string> {
  return expression("scalar", `${of.pipeline} | toJson | sha256sum`, (context) =>
    createHash("sha256")
      .update(goJson(of.resolve(context)))
      .digest("hex"),
  );
}

/** JSON with sorted keys, and with what Go escapes for HTML. */
function goJson(of: unknown): string {
  const sorted = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(sorted);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(
      Object.entries(part)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, field]) => [key, sorted(field)]),
    );
  };
  const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(sorted(of)).replaceAll(/[<>&\u2028\u2029]/g, escaped);
}

/** Whether something is called for: `true`, or `auto` in a cluster that has the API group. */
export function isOn(switched: Expression<boolean | "auto">, group: string): Expression<boolean> {
  const setting = `toString (${switched.pipeline})`;
  const has = `regexMatch ${JSON.stringify(`(^|,)${group.replaceAll(".", "\\.")}/`)} (join "," .Capabilities.APIVersions)`;
  return expression("scalar", `or (eq (${setting}) "true") (and (eq (${setting}) "auto") (${has}))`, (context) => {
    const set = switched.resolve(context);
    return set === true || (set === "auto" && context.apiGroups.has(group));
  });
}
