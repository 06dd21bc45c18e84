import type { IStatefulSet } from "kubernetes-models/apps/v1";
import {
  constant,
  type Expression,
  expression,
  isAbove,
  isSet,
  merged,
  not,
  textMap,
  value,
  valueBlock,
  valueNumber,
} from "../template/expression.ts";
import { optional, spread } from "../template/template.ts";
import { containerPort, probePort } from "../values/containerPort.ts";
import { configFolder, configName, configOfChart, ledgerFolder, pricesName, webFolder } from "./configMaps.ts";
import { type Manifest, manifest } from "./manifest.ts";
import {
  checksum,
  customLabels,
  fullname,
  image,
  labels,
  namespace,
  replicasName,
  selectorLabels,
  serviceAccountName,
} from "./names.ts";

export const replicas = valueNumber("replicas", (values) => values.replicas);
export const hasReplicas = isAbove(replicas, 1);
export const hasTls = value("web.tls", ({ web }) => web.tls);
export const webSecret = value("web.existingSecret", ({ web }) => web.existingSecret);
const hasPrices = isSet(valueBlock("prices", ({ prices }) => prices));
const persists = value("persistence.enabled", ({ persistence }) => persistence.enabled);
const ledgerSize = value("persistence.size", ({ persistence }) => persistence.size);
const storageClass = value("persistence.storageClass", ({ persistence }) => persistence.storageClass);
const priorityClass = value("priorityClassName", (values) => values.priorityClassName);
const spreadGiven = valueBlock("topologySpreadConstraints", (values) => values.topologySpreadConstraints);
const resources = valueBlock("resources", (values) => values.resources);
export const securityContext = valueBlock("securityContext", (values) => values.securityContext);
export const containerSecurityContext = valueBlock(
  "containerSecurityContext",
  (values) => values.containerSecurityContext,
);
const nodeSelector = valueBlock("nodeSelector", (values) => values.nodeSelector);
const affinity = valueBlock("affinity", (values) => values.affinity);
const tolerations = valueBlock("tolerations", (values) => values.tolerations);
const pullSecrets = valueBlock("imagePullSecrets", (values) => values.imagePullSecrets);
const annotations = valueBlock("annotations", (values) => values.annotations);
const environment = valueBlock("env", ({ env }) => env);
const claimAnnotations = valueBlock("persistence.annotations", ({ persistence }) => persistence.annotations);

/** How Fairlead is asked: `https` where it speaks TLS. */
export const webScheme: Expression<"http" | "https"> = expression(
  "scalar",
  `ternary "https" "http" ${hasTls.pipeline}`,
  (context) => (hasTls.resolve(context) ? "https" : "http"),
);

/** The kubelet asks on a port where nobody else does, always by plain HTTP. */
const probe = (path: string) => ({ path, port: "probes" });

const arguments_ = [
  constant(`--config.file=${configFolder}/fairlead.yaml`),
  constant(`--web.listen-address=:${containerPort}`),
  constant(`--health-probe-bind-address=:${probePort}`),
];

/** Fairlead itself. */
export const statefulSet: Manifest = manifest<IStatefulSet>("statefulset.yaml", {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: {
    name: fullname,
    namespace,
    labels,
    annotations: optional(isSet(annotations), annotations),
  },
  spec: {
    replicas,
    serviceName: replicasName,
    // The replicas know nothing of each other: they need not start in an order.
    podManagementPolicy: "Parallel",
    updateStrategy: { type: "RollingUpdate" },
    // An update goes on once the new replica has covered a cycle or two, so that one is always worth reading.
    minReadySeconds: 60,
    selector: { matchLabels: selectorLabels },
    template: {
      metadata: {
        // No versions: a chart that changes nothing of the pods must not restart them.
        labels: merged(
          selectorLabels,
          customLabels,
          valueBlock("podLabels", ({ podLabels }) => podLabels),
        ),
        annotations: merged(
          textMap({
            "kubectl.kubernetes.io/default-container": constant("fairlead"),
            "checksum/config": checksum(configOfChart),
          }),
          valueBlock("podAnnotations", ({ podAnnotations }) => podAnnotations),
        ),
      },
      spec: {
        serviceAccountName,
        automountServiceAccountToken: value(
          "automountServiceAccountToken",
          (values) => values.automountServiceAccountToken,
        ),
        enableServiceLinks: false,
        terminationGracePeriodSeconds: valueNumber(
          "terminationGracePeriodSeconds",
          (values) => values.terminationGracePeriodSeconds,
        ),
        securityContext: optional(isSet(securityContext), securityContext),
        imagePullSecrets: optional(isSet(pullSecrets), pullSecrets),
        priorityClassName: optional(isSet(priorityClass), priorityClass),
        containers: [
          {
            name: "fairlead",
            image,
            imagePullPolicy: value("image.pullPolicy", (values) => values.image.pullPolicy),
            args: [
              "serve",
              ...arguments_,
              optional(isSet(webSecret), `--web.config.file=${webFolder}/web-config.yml`),
              spread(valueBlock("extraArgs", ({ extraArgs }) => extraArgs)),
            ],
            env: optional(isSet(environment), environment),
            ports: [
              { name: "http", containerPort, protocol: "TCP" },
              { name: "probes", containerPort: probePort, protocol: "TCP" },
            ],
            // The first list of a large cluster takes a while; none of these asks whether anything else is well.
            startupProbe: { httpGet: probe("/livez"), periodSeconds: 5, failureThreshold: 36 },
            livenessProbe: { httpGet: probe("/livez"), periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 4 },
            readinessProbe: { httpGet: probe("/readyz"), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
            resources: optional(isSet(resources), resources),
            securityContext: optional(isSet(containerSecurityContext), containerSecurityContext),
            volumeMounts: [
              { name: "config", mountPath: configFolder, readOnly: true },
              { name: "ledger", mountPath: ledgerFolder },
              { name: "temporary", mountPath: "/tmp" },
              optional(isSet(webSecret), { name: "web", mountPath: webFolder, readOnly: true }),
              spread(valueBlock("extraVolumeMounts", ({ extraVolumeMounts }) => extraVolumeMounts)),
            ],
          },
          spread(valueBlock("extraContainers", ({ extraContainers }) => extraContainers)),
        ],
        nodeSelector: optional(isSet(nodeSelector), nodeSelector),
        affinity: optional(isSet(affinity), affinity),
        tolerations: optional(isSet(tolerations), tolerations),
        topologySpreadConstraints: [
          spread(spreadGiven),
          optional(not(isSet(spreadGiven)), {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: selectorLabels },
          }),
        ],
        volumes: [
          {
            name: "config",
            projected: {
              sources: [{ configMap: { name: configName } }, optional(hasPrices, { configMap: { name: pricesName } })],
            },
          },
          // Copies of the ledger that somebody asks for are made here, one at a time: as large as a ledger may be.
          { name: "temporary", emptyDir: { sizeLimit: ledgerSize } },
          optional(not(persists), { name: "ledger", emptyDir: { sizeLimit: ledgerSize } }),
          optional(isSet(webSecret), { name: "web", secret: { secretName: webSecret } }),
          spread(valueBlock("extraVolumes", ({ extraVolumes }) => extraVolumes)),
        ],
      },
    },
    persistentVolumeClaimRetentionPolicy: optional(persists, { whenDeleted: "Retain", whenScaled: "Retain" }),
    volumeClaimTemplates: optional(persists, [
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: {
          name: "ledger",
          labels: selectorLabels,
          annotations: optional(isSet(claimAnnotations), claimAnnotations),
        },
        spec: {
          accessModes: valueBlock("persistence.accessModes", ({ persistence }) => persistence.accessModes),
          storageClassName: optional(isSet(storageClass), storageClass),
          resources: { requests: { storage: ledgerSize } },
        },
      },
    ]),
  },
});
