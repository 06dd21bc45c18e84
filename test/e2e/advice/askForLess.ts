import { expect } from "vitest";
import type { MemoryPlay } from "../../../cli/demo/playInMemory.ts";
import type { Recommendation } from "../../../exporter/model/recommendation.ts";
import { nameIn, trulyHeld } from "./trueEffect.ts";

/** The owner of a Deployment of one pod finds that it may ask for less, and changes its template. */
export async function askForLess({ cluster, write }: MemoryPlay, { targets, effect }: Recommendation): Promise<void> {
  const [namespace = "", name = ""] = nameIn(targets[0] ?? "").split("/");
  const fewer = trulyHeld(cluster.truth(), `${namespace}/${name}`) - effect.gainedGpus.worst;
  const amounts = { "nvidia.com/gpu": `${fewer}` };
  const containers = [{ name: "server", resources: { limits: amounts, requests: amounts } }];
  const { code, message } = await write({
    verb: "PATCH",
    path: `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`,
    contentType: "application/strategic-merge-patch+json",
    body: { spec: { template: { spec: { containers } } } },
  });
  expect(code, message).toBe(200);
}
