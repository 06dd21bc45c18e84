import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import type { KubernetesState } from "../../../exporter/sources/kubernetes/state.ts";
import { claimant, page, reading } from "../../join/clusterBuilder.ts";

const gpu = "nvidia.com/gpu";

/** What dcgm-exporter would say on each node: which pod has which GPUs, in the order of the pods, all of them busy. */
export function busyGpus({ nodes, pods }: KubernetesState): readonly TelemetryPage[] {
  const receivedAt = Date.now() / 1000;
  return nodes.map(({ name, capacity }) => {
    const claimants = pods
      .filter(({ nodeName, phase }) => nodeName === name && phase === "Running")
      .flatMap((pod) =>
        Array.from({ length: pod.gpu.resources[gpu] ?? 0 }, () => claimant(pod.name, { namespace: pod.namespace })),
      );
    const devices = Array.from({ length: capacity[gpu] ?? 0 }, (_, index) => {
      const holder = claimants[index];
      const device = reading(`GPU-${name}-${index}`, holder === undefined ? 0 : 0.9);
      return { ...device, claimants: holder === undefined ? [] : [holder] };
    });
    return page(name, devices, { receivedAt });
  });
}
