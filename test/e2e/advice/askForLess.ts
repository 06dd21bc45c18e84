import { expect } from "vitest";
import type { MemoryPlay } from "../../../cli/demo/playInMemory.ts";
import type { Recommendation } from "../../../exporter/model/recommendation.ts";
import { nameIn, trulyAllocated } from "./trueEffect.ts";

/** What the pods of a Deployment ask for from now on; `null` takes a resource away. */
type Amounts = Readonly<Record<string, string | null>>;

/** The owner of a Deployment of one pod finds that it may ask for fewer GPUs, and changes its template. */
export async function askForFewer(play: MemoryPlay, { targets, effect }: Recommendation): Promise<void> {
  const [target = ""] = targets;
  const fewer = trulyAllocated(play.cluster.truth(), nameIn(target)) - effect.gainedGpus.worst;
  await askFor(play, target, { "nvidia.com/gpu": `${fewer}` });
}

/** The owners of Deployments find that a part of a GPU is enough, and change their templates. */
export async function askForPart(play: MemoryPlay, { targets }: Recommendation, part: string): Promise<void> {
  for (const target of targets) await askFor(play, target, { "nvidia.com/gpu": null, [part]: "1" });
}

async function askFor({ write }: MemoryPlay, target: string, amounts: Amounts): Promise<void> {
  const [namespace = "", name = ""] = nameIn(target).split("/");
  const containers = [{ name: "server", resources: { limits: amounts, requests: amounts } }];
  const { code, message } = await write({
    verb: "PATCH",
    path: `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`,
    contentType: "application/strategic-merge-patch+json",
    body: { spec: { template: { spec: { containers } } } },
  });
  expect(code, message).toBe(200);
}
