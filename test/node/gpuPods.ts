/** A pod that sleeps with what it asks for, and ends at once. */
export const podWith = (namespace: string, name: string, resources: object, more: object = {}): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: "main",
          image: "fairlead.test/busybox:1",
          imagePullPolicy: "Never",
          command: ["sleep", "100000"],
          resources,
        },
      ],
      ...more,
    },
  });

/** A pod that asks for GPUs. */
export const gpuPod = (namespace: string, name: string, gpus: number): string =>
  podWith(namespace, name, { limits: { "nvidia.com/gpu": gpus } });
