import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import type { IPolicyRule } from "kubernetes-models/rbac.authorization.k8s.io/v1";
import { z } from "zod";
import type { OptionalRight } from "../../exporter/sources/kubernetes/rights.ts";
import { listOf, textMap } from "./kubernetesPart.ts";
import { autoOrBoolean } from "./observabilitySchema.ts";

type NetworkPolicySpec = NonNullable<INetworkPolicy["spec"]>;
type Peer = NonNullable<NonNullable<NonNullable<NetworkPolicySpec["ingress"]>[number]["from"]>>[number];

const right = (what: string) =>
  autoOrBoolean.default("auto").describe(`${what}; \`auto\`: where the cluster has them.`);

const optional = {
  autoscalers: right("Read HorizontalPodAutoscalers, ScaledObjects (KEDA) and VerticalPodAutoscalers"),
  dynamicResourceAllocation: right("Read resource claims and slices (dynamic resource allocation)"),
  kueue: right("Read the queues and workloads of Kueue"),
  kai: right("Read the queues and pod groups of KAI Scheduler and Run:ai"),
  volcano: right("Read the queues and pod groups of Volcano"),
  karpenter: right("Read the NodePools of Karpenter"),
  volumes: right("Read volume claims and volumes, without which no pod that has one is advised to be moved"),
  workloads: right(
    "Read the owners of pods with GPUs of other kinds (JobSet, Kubeflow, Ray, LeaderWorkerSet, KServe ...)",
  ),
} satisfies Record<OptionalRight, unknown>;

/** What Fairlead may read, and who may reach it. */
export const accessFields = {
  serviceAccount: z
    .strictObject({
      create: z.boolean().default(true).describe("Make a ServiceAccount."),
      name: z.string().default("").describe("Its name; empty: the full name of the release."),
      annotations: textMap.default({}).describe("Its annotations."),
    })
    .prefault({})
    .describe("The account with which Fairlead reads the Kubernetes API."),
  rbac: z
    .strictObject({
      create: z.boolean().default(true).describe("Make ClusterRole, ClusterRoleBinding and the Roles for ConfigMaps."),
      extraRules: listOf<IPolicyRule>().default([]).describe("More rules of the ClusterRole; none is needed."),
      optional: z.strictObject(optional).prefault({}).describe("Reads of what not every cluster has."),
    })
    .prefault({})
    .describe("What Fairlead may read. It may write nothing, and reads no Secret."),
  networkPolicy: z
    .strictObject({
      enabled: z.boolean().default(true).describe("Make a NetworkPolicy."),
      from: listOf<Peer>().default([]).describe("Who may reach the port; empty: everyone in the cluster."),
      egressPorts: z
        .array(z.number().int().min(1).max(65_535))
        .default([443, 6443, 9400, 9090])
        .describe(
          "TCP ports that Fairlead may reach, on any address: the Kubernetes API (443, 6443), dcgm-exporter (9400), Prometheus (9090). DNS is allowed beside them. Empty: only what `extraEgress` allows.",
        ),
      extraEgress: listOf<NonNullable<NetworkPolicySpec["egress"]>[number]>()
        .default([])
        .describe("More rules of what it may reach."),
    })
    .prefault({})
    .describe("The NetworkPolicy."),
};
