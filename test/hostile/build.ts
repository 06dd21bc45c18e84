/** One GPU's rows, as dcgm-exporter writes them. */
export function physicalGpu(uuid: string, host: string, gpu = 0, utilization = "37", extra = ""): string {
  const labels = `gpu="${gpu}",UUID="${uuid}",device="nvidia${gpu}",modelName="NVIDIA A100-SXM4-80GB",Hostname="${host}"${extra}`;
  return `DCGM_FI_DEV_GPU_UTIL{${labels}} ${utilization}\nDCGM_FI_DEV_FB_USED{${labels}} 1024\nDCGM_FI_DEV_FB_FREE{${labels}} 80000\n`;
}

/** A node with GPUs that the dump's pages show. */
export function node(name: string, gpus: unknown = "2", labels: Readonly<Record<string, unknown>> = {}): object {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid: `uid-${name}`, labels },
    status: { capacity: { "nvidia.com/gpu": gpus }, allocatable: { "nvidia.com/gpu": gpus } },
  };
}

/** A running pod with one GPU on gpu-1. */
export function pod(name: string, change: { metadata?: object; spec?: object; resources?: object } = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "research", uid: `uid-${name}`, ...change.metadata },
    spec: {
      nodeName: "gpu-1",
      containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": "1" }, ...change.resources } }],
      ...change.spec,
    },
    status: { phase: "Running", startTime: "2026-11-20T10:00:00Z" },
  };
}

/** YAML of a few lines that expands to 43 million texts. */
export const aliasBomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${"bcdefgh"
  .split("")
  .map((l, i) => `${l}: &${l} [${Array(9).fill(`*${"abcdefg"[i]}`).join(", ")}]`)
  .join("\n")}\n`;
/** A Job that another Job owns. */
export const owned = (name: string, by: string): object => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: {
    name,
    namespace: "research",
    uid: `uid-${name}`,
    ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: by, uid: `uid-${by}`, controller: true }],
  },
});
