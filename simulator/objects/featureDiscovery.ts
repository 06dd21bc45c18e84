import { nodeLabels } from "../../exporter/model/wellKnown.ts";
import type { PhysicalGpu, SimNode } from "../cluster/world.ts";
import { memoryOfProfile, slicesOfProfile } from "../gpuModels.ts";

/**
 * Labels of GPU Feature Discovery (NVIDIA/k8s-device-plugin, internal/lm). On a node with two models, the labels and the count
 * describe the model of the last GPU only, as the real one may do.
 */
export function featureLabels(node: SimNode): Readonly<Record<string, string>> {
  const shown = node.physicalGpus.at(-1);
  if (shown === undefined) return {};
  // Nodes that the DRA driver serves have no device plugin, and therefore no labels that count for it.
  if (!node.spec.featureDiscovery || node.spec.mode.kind === "dra") return { [nodeLabels.gpuPresent]: "true" };
  const { model } = shown;
  const physicalGpus = node.physicalGpus.filter((physicalGpu) => physicalGpu.model === model);
  const [major, minor] = model.computeCapability.split(".");
  return {
    [nodeLabels.gpuPresent]: "true",
    [nodeLabels.gpuProduct]: model.product,
    [nodeLabels.gpuCount]: String(physicalGpus.length),
    [nodeLabels.gpuMemoryMiB]: String(model.memoryMiB),
    [nodeLabels.gpuReplicas]: "1",
    [nodeLabels.gpuSharingStrategy]: "none",
    "nvidia.com/gpu.family": model.family,
    "nvidia.com/gpu.compute.major": major ?? "0",
    "nvidia.com/gpu.compute.minor": minor ?? "0",
    "nvidia.com/gpu.deploy.dcgm-exporter": "true",
    "nvidia.com/mig.capable": String(model.migSlices > 0),
    "nvidia.com/cuda.driver-version.full": driverVersion,
    [nodeLabels.vgpuPresent]: String(node.spec.mode.kind === "vgpu-guest"),
    ...modeLabels(node, shown, physicalGpus),
  };
}

/** The driver version of all nodes. */
export const driverVersion = "580.105.08";

function modeLabels(
  node: SimNode,
  shown: PhysicalGpu,
  physicalGpus: readonly PhysicalGpu[],
): Readonly<Record<string, string>> {
  const { mode } = node.spec;
  const { product } = shown.model;
  switch (mode.kind) {
    case "time-slicing":
    case "mps":
      return {
        [nodeLabels.gpuReplicas]: String(mode.replicas),
        [nodeLabels.gpuSharingStrategy]: mode.kind,
        [nodeLabels.gpuProduct]: mode.renamed ? product : `${product}-SHARED`,
      };
    case "mig-single": {
      const instances = physicalGpus.reduce((sum, physicalGpu) => sum + physicalGpu.units.length, 0);
      return {
        [nodeLabels.migStrategy]: "single",
        [nodeLabels.migConfigState]: "success",
        [nodeLabels.gpuProduct]: `${product}-MIG-${mode.profile}`,
        [nodeLabels.gpuCount]: String(instances),
        [nodeLabels.gpuMemoryMiB]: String(memoryOfProfile(mode.profile)),
      };
    }
    case "mig-mixed":
      return {
        [nodeLabels.migStrategy]: "mixed",
        [nodeLabels.migConfigState]: "success",
        [nodeLabels.gpuReplicas]: "0",
        ...profileLabels(product, physicalGpus),
      };
    case "whole":
    case "kai":
    case "hami":
    case "vgpu-guest":
    case "dra":
      return {};
  }
}

function profileLabels(product: string, physicalGpus: readonly PhysicalGpu[]): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  const profiles = physicalGpus.flatMap((physicalGpu) => physicalGpu.units.map((unit) => unit.profile ?? ""));
  for (const profile of new Set(profiles)) {
    const prefix = `nvidia.com/mig-${profile}`;
    labels[`${prefix}.count`] = String(profiles.filter((other) => other === profile).length);
    labels[`${prefix}.memory`] = String(memoryOfProfile(profile));
    labels[`${prefix}.product`] = `${product}-MIG-${profile}`;
    labels[`${prefix}.replicas`] = "1";
    labels[`${prefix}.sharing-strategy`] = "none";
    labels[`${prefix}.slices.gi`] = String(slicesOfProfile(profile));
    labels[`${prefix}.slices.ci`] = String(slicesOfProfile(profile));
  }
  return labels;
}
