import { nodeLabels } from "../../exporter/model/wellKnown.ts";
import type { Workload } from "../cluster/world.ts";
import { gpuModels } from "../gpuModels.ts";
import type { WorkloadSpec } from "../scenario.ts";
import { requestedResources } from "./resources.ts";

/** The name of the one container of a workload's pods, as pages show it too. */
export function containerName({ spec }: Pick<Workload, "spec">): string {
  switch (spec.kind) {
    case "PyTorchJob":
      return "pytorch";
    case "Deployment":
    case "LeaderWorkerSet":
      return "server";
    case "Notebook":
    case "StatefulSet":
      return "notebook";
    case "Job":
    case "JobSet":
    case "PodGroup":
    case "Pod":
      return "trainer";
  }
}

/** Tolerations of the taint that some clouds put on GPU nodes. */
export const tolerations = [{ key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }];

/**
 * The template of a workload's pods. People who write one name GPUs under `limits` alone; requests of the same amount are in
 * the pods, and in what Kueue makes of a template (`isDefaulted`).
 */
export function podTemplateOf(workload: Workload, isDefaulted = false): object {
  const { cpuMilli, memoryMiB, request } = workload.spec;
  const amounts = requestedResources(request);
  const requests = { cpu: `${cpuMilli}m`, memory: `${memoryMiB}Mi`, ...(isDefaulted ? amounts : {}) };
  return {
    metadata: {},
    spec: {
      containers: [{ name: containerName(workload), resources: { limits: amounts, requests } }],
      ...nodeChoice(workload.spec),
      tolerations,
    },
  };
}

/**
 * The fields that keep a pod on the nodes that its request is meant for. Kueue itself chooses the node of work that asks for a
 * topology (`assigned`), and its selector leaves no other one.
 */
export function nodeChoice({ request, models, topology }: WorkloadSpec, assigned: string | null = null): object {
  if (topology !== undefined && assigned !== null) return { nodeSelector: { [nodeLabels.hostname]: assigned } };
  if (request.kind === "replicas") return { nodeSelector: { [nodeLabels.gpuSharingStrategy]: request.strategy } };
  if (request.kind === "mig" && request.strategy === "mig-single") {
    return { nodeSelector: { [nodeLabels.migStrategy]: "single" } };
  }
  const products = models.map((name) => gpuModels[name].product);
  const [only] = products;
  if (only === undefined || request.kind !== "physicalGpus") return {};
  if (products.length === 1) return { nodeSelector: { [nodeLabels.gpuProduct]: only } };
  const matchExpressions = [{ key: nodeLabels.gpuProduct, operator: "In", values: products }];
  return {
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  };
}
