import { createHash } from "node:crypto";
import { z } from "zod";
import { until } from "../kubernetesAdmin.ts";
import type { KaiCluster } from "./kaiCluster.ts";
import { createPodAnew } from "./kaiPodAnew.ts";

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
 * A pod that KAI takes away is made anew, as its controller would: KAI's binder deletes a pod whose reservation it does not
 * see, also when only its cache is late.
 */
export async function runFractions(
  cluster: Pick<KaiCluster, "admin" | "kai">,
  queue: string,
  names: readonly string[],
  part: string,
): Promise<void> {
  const { admin, kai } = cluster;
  const namespace = `team-${queue}`;
  const namespacePath = `/api/v1/namespaces/${namespace}`;
  for (const name of names) {
    for (const map of [`${configMapOf(name)}-0`, `${configMapOf(name)}-0-evar`]) {
      await admin.send("POST", `${namespacePath}/configmaps`, { metadata: { name: map }, data: {} });
    }
  }
  let last = "";
  await until("all fractions run", async () => {
    const reserving = z.array(pod).parse((await admin.send("GET", reservationPods)).items);
    for (const { metadata, ...rest } of reserving) {
      if (indexAnnotation in metadata.annotations) continue;
      const annotations = { ...metadata.annotations, [indexAnnotation]: uuidOf(metadata.name) };
      const body = { ...rest, metadata: { ...metadata, annotations } };
      await admin.send("PUT", `${reservationPods}/${metadata.name}`, body).catch(() => {}); // it has changed: once more
    }
    const pods = z.array(pod).parse((await admin.send("GET", `${namespacePath}/pods`)).items);
    const phases = new Map(pods.map(({ metadata, status }) => [metadata.name, status.phase]));
    last = JSON.stringify([...phases]);
    for (const name of names) {
      if (!phases.has(name)) await createPodAnew(admin, namespace, name, fraction(name, queue, part));
    }
    return names.every((name) => phases.get(name) === "Running");
  }).catch(async (error: unknown) => {
    throw new Error(`${error}; there are ${last}\n${await kai.logTail()}`);
  });
}

const configMapOf = (name: string): string => `${name}-shared-gpu`;

function fraction(name: string, queue: string, part: string): object {
  return {
    metadata: {
      name,
      labels: { "kai.scheduler/queue": queue },
      annotations: { "gpu-fraction": part, "runai/shared-gpu-configmap": configMapOf(name) },
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
                configMapKeyRef: { name: `${configMapOf(name)}-0`, key: "NVIDIA_VISIBLE_DEVICES", optional: true },
              },
            },
          ],
        },
      ],
    },
  };
}

/** One GPU for each reservation. */
function uuidOf(reservation: string): string {
  const digits = createHash("sha256").update(reservation).digest("hex");
  return `GPU-${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`;
}
