import { createHash } from "node:crypto";
import { z } from "zod";
import { type Admin, until } from "../kubernetesAdmin.ts";

const reservationPods = "/api/v1/namespaces/kai-resource-reservation/pods";
const indexAnnotation = "run.ai/reserve_for_gpu_index";

const pod = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  status: z.looseObject({ phase: z.string() }),
});

/**
 * Creates pods that each ask for a part of a GPU, as KAI's admission webhook would leave them, and waits until all run. For
 * each GPU KAI makes a pod that reserves it; the program in that pod would say which GPU it got, and this does instead.
 */
export async function runFractions(admin: Admin, queue: string, names: readonly string[], part: string): Promise<void> {
  const namespace = `/api/v1/namespaces/team-${queue}`;
  for (const name of names) {
    const configMap = `${name}-shared-gpu`;
    for (const map of [`${configMap}-0`, `${configMap}-0-evar`]) {
      await admin.send("POST", `${namespace}/configmaps`, { metadata: { name: map }, data: {} });
    }
    await admin.send("POST", `${namespace}/pods`, {
      metadata: {
        name,
        labels: { "kai.scheduler/queue": queue },
        annotations: { "gpu-fraction": part, "runai/shared-gpu-configmap": configMap },
      },
      spec: {
        restartPolicy: "Never",
        schedulerName: "kai-scheduler",
        containers: [
          {
            name: "main",
            image: "none",
            resources: { requests: { cpu: "1", memory: "1Gi" } },
            env: [
              {
                name: "NVIDIA_VISIBLE_DEVICES",
                valueFrom: {
                  configMapKeyRef: { name: `${configMap}-0`, key: "NVIDIA_VISIBLE_DEVICES", optional: true },
                },
              },
            ],
          },
        ],
      },
    });
  }
  await until("all fractions run", async () => {
    const reserving = z.array(pod).parse((await admin.send("GET", reservationPods)).items);
    for (const { metadata, ...rest } of reserving) {
      if (indexAnnotation in metadata.annotations) continue;
      const annotations = { ...metadata.annotations, [indexAnnotation]: uuidOf(metadata.name) };
      const body = { ...rest, metadata: { ...metadata, annotations } };
      await admin.send("PUT", `${reservationPods}/${metadata.name}`, body).catch(() => {}); // it has changed: once more
    }
    const pods = z.array(pod).parse((await admin.send("GET", `${namespace}/pods`)).items);
    return names.every((name) =>
      pods.some(({ metadata, status }) => metadata.name === name && status.phase === "Running"),
    );
  });
}

/** One GPU for each reservation. */
function uuidOf(reservation: string): string {
  const digits = createHash("sha256").update(reservation).digest("hex");
  return `GPU-${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`;
}
