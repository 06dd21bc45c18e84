import type { GpuNode } from "./gpuNodes.ts";

const gpu = "nvidia.com/gpu";

export const nodes: readonly GpuNode[] = ["a", "b", "c"].map((letter) => ({
  name: `a100-${letter}`,
  product: "NVIDIA-A100-SXM4-80GB",
  gpus: 8,
}));

/** A queue of `scheduling.volcano.sh/v1beta1`. */
export const queueObject = (name: string, spec: object): object => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name },
  spec,
});

/** GPUs with as many CPUs and as much memory as a node has for each of them. */
export const gpuShare = (gpus: number): object => ({
  cpu: String(16 * gpus),
  memory: `${128 * gpus}Gi`,
  [gpu]: String(gpus),
});

/** A job of Volcano in the namespace `team-QUEUE`; without webhooks nothing is defaulted, so all is said. */
export interface VolcanoJob {
  readonly queue: string;
  readonly name: string;
  readonly pods: number;
  readonly gpus: number;
  /** Fewer pods than this do not start. */
  readonly minAvailable: number;
  /** GPUs named in limits only, as the device plugin's documentation does: then `minResources` does not have them. */
  readonly onlyLimits?: boolean;
}

export const jobObject = ({ queue, name, pods, gpus, minAvailable, onlyLimits = false }: VolcanoJob): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name },
  spec: {
    queue,
    minAvailable,
    maxRetry: 3,
    schedulerName: "volcano",
    tasks: [
      {
        name: "worker",
        replicas: pods,
        minAvailable,
        template: {
          spec: {
            restartPolicy: "Never",
            schedulerName: "volcano",
            containers: [
              {
                name: "main",
                image: "none",
                resources: {
                  requests: { cpu: "2", memory: "4Gi", ...(onlyLimits ? {} : { [gpu]: String(gpus) }) },
                  limits: { [gpu]: String(gpus) },
                },
              },
            ],
          },
        },
      },
    ],
  },
});
