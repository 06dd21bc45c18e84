import type {
  IAffinity,
  IContainer,
  IEnvVar,
  ILocalObjectReference,
  IPodSecurityContext,
  IResourceRequirements,
  ISecurityContext,
  IToleration,
  ITopologySpreadConstraint,
  IVolume,
  IVolumeMount,
} from "kubernetes-models/v1";
import { z } from "zod";
import { listOf, mapOf, textMap } from "./kubernetesPart.ts";

/** What a chart's container image is called; the same names as in other charts. */
export const imageFields = {
  image: z
    .strictObject({
      registry: z.string().default("").describe("Registry that has your build of the image (deploy/image)."),
      repository: z.string().min(1).default("fairlead").describe("Name of the image in the registry."),
      tag: z.string().default("").describe("Tag; empty: the version of the application."),
      sha: z.string().default("").describe("Digest of the image (sha256, without its prefix); pins it beside the tag."),
      pullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).default("IfNotPresent").describe("When it is pulled."),
    })
    .prefault({})
    .describe("The container image."),
  imagePullSecrets: listOf<ILocalObjectReference>().default([]).describe("Secrets with which the kubelet pulls it."),
};

/** Where and how pods run. */
export const podFields = {
  extraArgs: z
    .array(z.string())
    .default([])
    .describe("More arguments of `fairlead serve`, such as `--log.level=debug`."),
  env: listOf<IEnvVar>().default([]).describe("Environment variables, such as `OTEL_SERVICE_NAME`."),
  extraVolumes: listOf<IVolume>().default([]).describe("Volumes, such as a Secret with a token of a Prometheus."),
  extraVolumeMounts: listOf<IVolumeMount>().default([]).describe("Where the container sees them."),
  extraContainers: listOf<IContainer>()
    .default([])
    .describe("Containers beside Fairlead's, such as a proxy that authenticates."),
  resources: mapOf<IResourceRequirements>()
    .default({ requests: { cpu: "250m", memory: "512Mi" }, limits: { memory: "1Gi" } })
    .describe("What a replica asks for and may use; by size of the cluster: docs/operations.md."),
  nodeSelector: textMap.default({}).describe("Labels that its node must have."),
  affinity: mapOf<IAffinity>().default({}).describe("Affinity of its pods."),
  tolerations: listOf<IToleration>().default([]).describe("Taints that its pods tolerate."),
  topologySpreadConstraints: listOf<ITopologySpreadConstraint>()
    .default([])
    .describe("How replicas are spread; empty: over nodes, where there are several."),
  priorityClassName: z.string().default("").describe("Priority class of its pods."),
  terminationGracePeriodSeconds: z
    .number()
    .int()
    .min(1)
    .max(3600)
    .default(60)
    .describe("How long a replica may take to end and to write the last of its ledger."),
  podAnnotations: textMap.default({}).describe("Annotations of its pods."),
  podLabels: textMap.default({}).describe("Labels of its pods."),
  annotations: textMap.default({}).describe("Annotations of the StatefulSet."),
  automountServiceAccountToken: z
    .boolean()
    .default(true)
    .describe("Whether its pods get the token with which they read the Kubernetes API."),
  securityContext: mapOf<IPodSecurityContext>()
    .default({
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      fsGroup: 65_532,
      fsGroupChangePolicy: "OnRootMismatch",
      seccompProfile: { type: "RuntimeDefault" },
    })
    .describe(
      "Security context of pods. Where the platform chooses user and group, set `runAsUser`, `runAsGroup` and `fsGroup` to null.",
    ),
  containerSecurityContext: mapOf<ISecurityContext>()
    .default({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } })
    .describe("Security context of containers."),
};
