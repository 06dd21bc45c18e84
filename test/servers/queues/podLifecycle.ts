import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Admin } from "../kubernetesAdmin.ts";
import { run } from "./jobPods.ts";

const pod = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string(), deletionTimestamp: z.string().optional() }),
  spec: z.looseObject({ nodeName: z.string().optional() }),
  status: z.looseObject({ phase: z.string() }),
});

const PERIOD_MS = 150;

/**
 * Does for pods what kubelet does: a bound one runs, a deleted one is gone. Call what it returns to end that. `runs` writes the
 * status of a pod that runs.
 */
export function livePods(admin: Admin, runs: typeof run = run): () => Promise<void> {
  let ended = false;
  const live = async (): Promise<void> => {
    while (!ended) {
      const { items } = await admin.send("GET", "/api/v1/pods");
      for (const found of z.array(pod).parse(items)) {
        const { metadata, spec, status } = found;
        const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
        if (metadata.deletionTimestamp !== undefined) {
          await admin.send("DELETE", `${path}?gracePeriodSeconds=0`).catch(() => {}); // a controller was faster
        } else if (spec.nodeName !== undefined && status.phase === "Pending") {
          await runs(admin, path, found).catch(() => {}); // it has changed: the next round sees it anew
        }
      }
      await sleep(PERIOD_MS);
    }
  };
  const living = live();
  return async () => {
    ended = true;
    await living;
  };
}
