import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { z } from "zod";
import type { InstalledObject } from "../../deploy/output/installedObject.ts";
import type { GivenValues } from "../../deploy/output/staticFiles.ts";
import { mergedValues } from "./mergedValues.ts";

/** Where a value of the chart is in what Helm makes of it. */
interface Place {
  /** Path of the value. */
  readonly value: string;
  /** Kind of the object, and the end of its name where there are several. */
  readonly of: readonly [kind: string, suffix?: string];
  /** Where it is in the object; items of lists by their `name`, or by their number. */
  readonly at: readonly string[];
  /** Whether what is there says the value; else it must be the same. */
  readonly says?: (found: unknown, given: unknown, values: GivenValues) => boolean;
  /** Whether there is such a place for these values; else there always is, in an object that is there. */
  readonly where?: (values: GivenValues) => boolean;
}

const pod = ["spec", "template", "spec"];
const container = [...pod, "containers", "fairlead"];
const claim = ["spec", "volumeClaimTemplates", "0"];
const endpoint = ["spec", "endpoints", "0"];
const reviewPod = ["spec", "jobTemplate", ...pod];
const labels = ["metadata", "labels"];
const annotations = ["metadata", "annotations"];
const statefulSet = ["StatefulSet"] as const;
const monitor = ["ServiceMonitor"] as const;
const rule = ["PrometheusRule"] as const;
const cronJob = ["CronJob"] as const;

const ownLabels = ["name", "instance", "part-of", "version", "managed-by", "component"].map(
  (end) => `app.kubernetes.io/${end}`,
);
const keysOf = (of: unknown): readonly string[] => Object.keys(Object(of));
const isSet = (of: unknown): boolean =>
  of !== undefined && of !== null && of !== "" && !isDeepStrictEqual(of, []) && !isDeepStrictEqual(of, {});

/** Whether reviews are kept as files in a volume. */
const keepsReviews = (values: GivenValues): boolean =>
  valueAt(values, ["review", "persistence", "enabled"]) === true ||
  isSet(valueAt(values, ["review", "persistence", "existingClaim"]));

/** All keys of the user's map, but some that come from elsewhere, and those that say nothing. */
const hasKeys =
  (...others: readonly ((values: GivenValues) => readonly string[])[]) =>
  (found: unknown, given: unknown, values: GivenValues): boolean => {
    const taken = others.flatMap((keys) => keys(values));
    return Object.entries(Object(given)).every(
      ([key, of]) => of === "" || taken.includes(key) || valueAt(found, [key]) === of,
    );
  };
const hasArgument =
  (begin: string) =>
  (found: unknown, given: unknown): boolean =>
    Array.isArray(found) && found.includes(`${begin}${given}`);
const endsWith = (found: unknown, given: unknown): boolean =>
  Array.isArray(found) && Array.isArray(given) && isDeepStrictEqual(found.slice(-given.length), given);

function imageOf(values: GivenValues): string {
  const part = (...path: readonly string[]): unknown => valueAt(values, path);
  const registry = [part("global", "imageRegistry"), part("image", "registry")].find(isSet);
  const sha = part("image", "sha");
  const tag = isSet(part("image", "tag")) ? `:${part("image", "tag")}` : null;
  const before = `${registry === undefined ? "" : `${registry}/`}${part("image", "repository") ?? "fairlead"}`;
  // Without a tag it is that of the chart's version of Fairlead.
  return `${before}${tag ?? ":VERSION"}${isSet(sha) ? `@sha256:${sha}` : ""}`;
}

function configOf(values: GivenValues): unknown {
  const own = { replicas: values.replicas ?? 1, ledger: { path: "/var/lib/fairlead/ledger.db" } };
  const prices = isSet(values.prices) ? { prices: { file: "/etc/fairlead/prices.yaml" } } : {};
  return mergedValues(values.config, { ...own, ...prices });
}

/** Values that go into an object as they are, and where they are in it. */
export const places: readonly Place[] = [
  {
    value: "fullnameOverride",
    of: statefulSet,
    at: ["metadata", "name"],
    says: (found, given) => String(given).slice(0, 45).replace(/-$/, "") === found,
  },
  { value: "namespaceOverride", of: statefulSet, at: ["metadata", "namespace"] },
  { value: "customLabels", of: statefulSet, at: labels, says: hasKeys(() => [...ownLabels, "helm.sh/chart"]) },
  { value: "replicas", of: statefulSet, at: ["spec", "replicas"] },
  {
    value: "config",
    of: ["ConfigMap", "-config"],
    at: ["data", "fairlead.yaml"],
    says: (found, _, values) => isDeepStrictEqual(parse(String(found)), configOf(values)),
  },
  {
    value: "prices",
    of: ["ConfigMap", "-prices"],
    at: ["data", "prices.yaml"],
    says: (found, given) => isDeepStrictEqual(parse(String(found)), given),
  },
  {
    value: "image",
    of: statefulSet,
    at: [...container, "image"],
    says: (found, _, values) =>
      isSet(valueAt(values, ["image", "tag"]))
        ? found === imageOf(values)
        : isDeepStrictEqual(String(found).split(/:\d+\.\d+\.\d+(?=@|$)/), imageOf(values).split(":VERSION")),
  },
  { value: "extraArgs", of: statefulSet, at: [...container, "args"], says: endsWith },
  { value: "env", of: statefulSet, at: [...container, "env"] },
  {
    value: "resources",
    of: statefulSet,
    at: [...container, "resources"],
    says: (found, given) => isDeepStrictEqual(mergedValues(found, given), found),
  },
  { value: "nodeSelector", of: statefulSet, at: [...pod, "nodeSelector"] },
  { value: "tolerations", of: statefulSet, at: [...pod, "tolerations"] },
  { value: "priorityClassName", of: statefulSet, at: [...pod, "priorityClassName"] },
  { value: "terminationGracePeriodSeconds", of: statefulSet, at: [...pod, "terminationGracePeriodSeconds"] },
  { value: "automountServiceAccountToken", of: statefulSet, at: [...pod, "automountServiceAccountToken"] },
  {
    value: "podAnnotations",
    of: statefulSet,
    at: ["spec", "template", ...annotations],
    says: hasKeys(() => ["checksum/config"]),
  },
  {
    value: "podLabels",
    of: statefulSet,
    at: ["spec", "template", ...labels],
    says: hasKeys(
      () => ownLabels,
      ({ customLabels }) => keysOf(customLabels),
    ),
  },
  { value: "annotations", of: statefulSet, at: annotations },
  { value: "persistence.size", of: statefulSet, at: [...pod, "volumes", "temporary", "emptyDir", "sizeLimit"] },
  { value: "persistence.storageClass", of: statefulSet, at: [...claim, "spec", "storageClassName"], where: persists },
  { value: "persistence.annotations", of: statefulSet, at: [...claim, ...annotations], where: persists },
  { value: "web.existingSecret", of: statefulSet, at: [...pod, "volumes", "web", "secret", "secretName"] },
  { value: "serviceAccount.name", of: statefulSet, at: [...pod, "serviceAccountName"] },
  { value: "serviceAccount.annotations", of: ["ServiceAccount"], at: annotations },
  { value: "service.port", of: ["Service"], at: ["spec", "ports", "http", "port"] },
  { value: "service.annotations", of: ["Service"], at: annotations, says: hasKeys() },
  {
    value: "networkPolicy.egressPorts",
    of: ["NetworkPolicy"],
    at: ["spec", "egress", "1", "ports"],
    says: (found, given) =>
      isDeepStrictEqual(found, Array.isArray(given) && given.map((port: unknown) => ({ protocol: "TCP", port }))),
  },
  {
    value: "prometheus.releaseLabel",
    of: rule,
    at: [...labels, "release"],
    where: (values) => !isSet(valueAt(values, ["prometheus", "rules", "additionalLabels", "release"])),
  },
  { value: "prometheus.monitor.namespace", of: monitor, at: ["metadata", "namespace"] },
  { value: "prometheus.monitor.additionalLabels", of: monitor, at: labels, says: hasKeys() },
  { value: "prometheus.monitor.honorLabels", of: monitor, at: [...endpoint, "honorLabels"] },
  { value: "prometheus.monitor.interval", of: monitor, at: [...endpoint, "interval"] },
  {
    value: "prometheus.monitor.sampleLimit",
    of: monitor,
    at: ["spec", "sampleLimit"],
    where: (values) => valueAt(values, ["prometheus", "monitor", "sampleLimit"]) !== 0,
  },
  { value: "prometheus.rules.namespace", of: rule, at: ["metadata", "namespace"] },
  { value: "prometheus.rules.additionalLabels", of: rule, at: labels, says: hasKeys() },
  {
    value: "prometheus.rules.content",
    of: rule,
    at: ["spec"],
    says: (found, given) => isDeepStrictEqual(found, parse(String(given)).spec),
  },
  { value: "review.schedule", of: cronJob, at: ["spec", "schedule"] },
  { value: "review.timeZone", of: cronJob, at: ["spec", "timeZone"] },
  {
    value: "review.format",
    of: cronJob,
    at: [...reviewPod, "containers", "review", "args"],
    says: hasArgument("--format="),
    where: keepsReviews,
  },
  {
    value: "review.link",
    of: cronJob,
    at: [...reviewPod, "containers", "review", "args"],
    says: hasArgument("--link="),
  },
  {
    value: "review.user.name",
    of: cronJob,
    at: [...reviewPod, "containers", "review", "args"],
    says: hasArgument("--username="),
  },
  {
    value: "review.user.secretName",
    of: cronJob,
    at: [...reviewPod, "volumes", "user", "secret", "secretName"],
    where: (values) => isSet(valueAt(values, ["review", "user", "name"])),
  },
  { value: "review.webhook.secretName", of: cronJob, at: [...reviewPod, "volumes", "webhook", "secret", "secretName"] },
  {
    value: "review.webhook.key",
    of: cronJob,
    at: [...reviewPod, "volumes", "webhook", "secret", "items", "0", "key"],
    where: (values) => isSet(valueAt(values, ["review", "webhook", "secretName"])),
  },
  { value: "review.caSecret.name", of: cronJob, at: [...reviewPod, "volumes", "ca", "secret", "secretName"] },
  {
    value: "review.persistence.existingClaim",
    of: cronJob,
    at: [...reviewPod, "volumes", "reviews", "persistentVolumeClaim", "claimName"],
  },
  { value: "review.persistence.size", of: ["PersistentVolumeClaim"], at: ["spec", "resources", "requests", "storage"] },
  { value: "review.persistence.storageClass", of: ["PersistentVolumeClaim"], at: ["spec", "storageClassName"] },
];

function persists(values: GivenValues): boolean {
  return valueAt(values, ["persistence", "enabled"]) !== false;
}

/** The values that do not are in objects where they belong, each with what is there. Notes in `seen` which were looked at. */
export function misplacedValues(
  given: GivenValues,
  objects: readonly InstalledObject[],
  seen: Set<string>,
): readonly string[] {
  const values = z.record(z.string(), z.json()).parse(JSON.parse(JSON.stringify(given)));
  const wrong = places.flatMap((place) => {
    const { value, at, says = isDeepStrictEqual, where = () => true } = place;
    const one = valueAt(values, value.split("."));
    const object = objectOf(place, objects);
    if (!isSet(one) || object === undefined || !where(values)) return [];
    seen.add(value);
    const found = valueAt(object, at);
    return says(found, one, values) ? [] : [`${value}: ${JSON.stringify(one)} became ${JSON.stringify(found)}`];
  });
  const extra = z.array(z.json()).parse(values.extraManifests ?? []);
  const lost = extra.filter((manifest) => !objects.some((object) => isDeepStrictEqual(object, manifest)));
  return [...wrong, ...lost.map((manifest) => `extraManifests: no ${JSON.stringify(manifest)}`)];
}

/** The object of a place; where its kind is all that is known of it, that with the shortest name. */
function objectOf(
  { of: [kind, suffix = ""] }: Place,
  objects: readonly InstalledObject[],
): InstalledObject | undefined {
  return objects
    .filter((object) => object.kind === kind && object.metadata.name.endsWith(suffix))
    .toSorted((one, other) => one.metadata.name.length - other.metadata.name.length)[0];
}

/** What is at a path; items of lists by their `name`, or by their number. */
function valueAt(of: unknown, [step, ...path]: readonly string[]): unknown {
  if (step === undefined) return of;
  if (typeof of !== "object" || of === null) return undefined;
  const named: unknown = Array.isArray(of) ? of.find((item: unknown) => valueAt(item, ["name"]) === step) : undefined;
  return valueAt(named ?? Object.getOwnPropertyDescriptor(of, step)?.value, path);
}
