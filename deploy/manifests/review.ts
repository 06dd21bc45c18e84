import type { ICronJob } from "kubernetes-models/batch/v1";
import type { IConfigMap, IPersistentVolumeClaim } from "kubernetes-models/v1";
import {
  all,
  choose,
  constant,
  type Expression,
  equals,
  expression,
  isSet,
  merged,
  not,
  text,
  textMap,
  value,
  valueBlock,
} from "../template/expression.ts";
import { optional, spread } from "../template/template.ts";
import { containerPort } from "../values/containerPort.ts";
import { asYaml, configFolder, configOfReview } from "./configMaps.ts";
import { type Manifest, manifest } from "./manifest.ts";
import { customLabels, fullname, image, labels, namespace, nameWith, replicasName, selectorLabels } from "./names.ts";
import { servicePort } from "./services.ts";
import { containerSecurityContext, hasReplicas, replicas, securityContext, webScheme } from "./statefulSet.ts";

const isWanted = value("review.enabled", ({ review }) => review.enabled);
const format = value("review.format", ({ review }) => review.format);
const link = value("review.link", ({ review }) => review.link);
const webhookSecret = value("review.webhook.secretName", ({ review }) => review.webhook.secretName);
const webhookKey = value("review.webhook.key", ({ review }) => review.webhook.key);
const userName = value("review.user.name", ({ review }) => review.user.name);
const userSecret = value("review.user.secretName", ({ review }) => review.user.secretName);
const userKey = value("review.user.key", ({ review }) => review.user.key);
const caSecret = value("review.caSecret.name", ({ review }) => review.caSecret.name);
const caKey = value("review.caSecret.key", ({ review }) => review.caSecret.key);
const existingClaim = value("review.persistence.existingClaim", ({ review }) => review.persistence.existingClaim);
const storageClass = value("review.persistence.storageClass", ({ review }) => review.persistence.storageClass);
const resources = valueBlock("review.resources", ({ review }) => review.resources);
const pullSecrets = valueBlock("imagePullSecrets", (values) => values.imagePullSecrets);

const claimName = nameWith("reviews");
const configName = nameWith("review");
const reviewLabels = textMap({ "app.kubernetes.io/component": constant("review") });
const folders = {
  reviews: "/reviews",
  config: configFolder,
  webhook: "/etc/fairlead-webhook",
  user: "/etc/fairlead-user",
  ca: "/etc/fairlead-ca",
};

const serviceUrl = text`--url=${webScheme}://${fullname}.${namespace}.svc:${servicePort}`;
const ofService: Expression<readonly string[]> = expression("block", `list (${serviceUrl.pipeline})`, (context) => [
  serviceUrl.resolve(context),
]);
const ofReplicas: Expression<readonly string[]> = expression(
  "block",
  `splitList "," (regexReplaceAll "[0-9]+" (join "," (until (${replicas.pipeline}))) (printf "--url=%s://%s-\${0}.%s.%s.svc:${containerPort}" (${webScheme.pipeline}) (${fullname.pipeline}) (${replicasName.pipeline}) (${namespace.pipeline})))`,
  (context) => {
    const [of, name, service, space] = [webScheme, fullname, replicasName, namespace].map((one) =>
      one.resolve(context),
    );
    return Array.from(
      { length: replicas.resolve(context) },
      (_, index) => `--url=${of}://${name}-${index}.${service}.${space}.svc:${containerPort}`,
    );
  },
);

/** The address of the Service, or those of all replicas: then each hour is taken from the ledger that covered more of it. */
const addresses = choose(hasReplicas, ofReplicas, ofService);

const extension = choose(equals(format, "markdown"), constant("md"), text`${format}`);

/** Writes the review of the last week. It asks Fairlead over HTTP, and gets no token of the Kubernetes API. */
export const reviewCronJob: Manifest = manifest<ICronJob>(
  "review-cronjob.yaml",
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: nameWith("review"), namespace, labels: merged(reviewLabels, labels) },
    spec: {
      schedule: value("review.schedule", ({ review }) => review.schedule),
      timeZone: value("review.timeZone", ({ review }) => review.timeZone),
      concurrencyPolicy: "Forbid",
      startingDeadlineSeconds: 3600,
      jobTemplate: {
        spec: {
          backoffLimit: 2,
          activeDeadlineSeconds: 900,
          template: {
            metadata: { labels: merged(reviewLabels, selectorLabels, customLabels) },
            spec: {
              restartPolicy: "Never",
              automountServiceAccountToken: false,
              enableServiceLinks: false,
              securityContext: optional(isSet(securityContext), securityContext),
              imagePullSecrets: optional(isSet(pullSecrets), pullSecrets),
              containers: [
                {
                  name: "review",
                  image,
                  imagePullPolicy: value("image.pullPolicy", (values) => values.image.pullPolicy),
                  args: [
                    "review",
                    spread(addresses),
                    optional(hasReplicas, `--config.file=${folders.config}/review.yaml`),
                    "--week=last",
                    text`--format=${format}`,
                    text`--output=${constant(folders.reviews)}/{window}.${extension}`,
                    optional(isSet(userName), text`--username=${userName}`),
                    optional(isSet(userName), `--password-file=${folders.user}/password`),
                    optional(isSet(caSecret), `--ca-file=${folders.ca}/ca.crt`),
                    optional(isSet(webhookSecret), `--post-summary-file=${folders.webhook}/address`),
                    optional(isSet(link), text`--link=${link}`),
                  ],
                  resources: optional(isSet(resources), resources),
                  securityContext: optional(isSet(containerSecurityContext), containerSecurityContext),
                  volumeMounts: [
                    { name: "reviews", mountPath: folders.reviews },
                    { name: "temporary", mountPath: "/tmp" },
                    optional(hasReplicas, { name: "config", mountPath: folders.config, readOnly: true }),
                    optional(isSet(webhookSecret), { name: "webhook", mountPath: folders.webhook, readOnly: true }),
                    optional(isSet(userName), { name: "user", mountPath: folders.user, readOnly: true }),
                    optional(isSet(caSecret), { name: "ca", mountPath: folders.ca, readOnly: true }),
                  ],
                },
              ],
              volumes: [
                {
                  name: "reviews",
                  persistentVolumeClaim: { claimName: choose(isSet(existingClaim), existingClaim, claimName) },
                },
                {
                  name: "temporary",
                  emptyDir: { sizeLimit: value("review.temporarySize", ({ review }) => review.temporarySize) },
                },
                optional(hasReplicas, { name: "config", configMap: { name: configName } }),
                optional(isSet(webhookSecret), {
                  name: "webhook",
                  secret: { secretName: webhookSecret, items: [{ key: webhookKey, path: "address" }] },
                }),
                optional(isSet(userName), {
                  name: "user",
                  secret: { secretName: userSecret, items: [{ key: userKey, path: "password" }] },
                }),
                optional(isSet(caSecret), {
                  name: "ca",
                  secret: { secretName: caSecret, items: [{ key: caKey, path: "ca.crt" }] },
                }),
              ],
            },
          },
        },
      },
    },
  },
  isWanted,
);

/** Budgets and whom they are charged to, for reviews of several ledgers; a single replica knows them itself. */
export const reviewConfigMap: Manifest = manifest<IConfigMap>(
  "review-configmap.yaml",
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: configName, namespace, labels: merged(reviewLabels, labels) },
    data: { "review.yaml": asYaml(configOfReview) },
  },
  isWanted,
);

/** Where reviews are kept. It outlives the release. */
export const reviewClaim: Manifest = manifest<IPersistentVolumeClaim>(
  "review-persistentvolumeclaim.yaml",
  {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: claimName,
      namespace,
      labels: merged(reviewLabels, labels),
      annotations: { "helm.sh/resource-policy": "keep" },
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: optional(isSet(storageClass), storageClass),
      resources: {
        requests: { storage: value("review.persistence.size", ({ review }) => review.persistence.size) },
      },
    },
  },
  all(isWanted, not(isSet(existingClaim))),
);
