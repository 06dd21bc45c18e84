import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { FairleadDocument } from "../../exporter/publish/document/schema.ts";
import { type AllocatedGpus, allocatedByKubelet } from "./allocatedGpus.ts";
import type { RealNode } from "./realNode.ts";

const listSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), namespace: z.string().optional(), uid: z.string() }),
      spec: z.object({ containers: z.array(z.object({ image: z.string() })).default([]) }).default({ containers: [] }),
      status: z
        .object({ podIP: z.string().optional(), addresses: z.array(z.object({ address: z.string() })).default([]) })
        .default({ addresses: [] }),
    }),
  ),
});

const parsed = (list: string) => listSchema.parse(JSON.parse(list)).items;

/** Names of the objects of a list, with their namespaces. */
export const namesOf = (list: string): readonly string[] =>
  parsed(list)
    .map(({ metadata: { namespace = "", name } }) => `${namespace}/${name}`)
    .toSorted();

/** Names that every cluster has, or every one with the GPU Operator: they say nothing about one. */
const everywhere = new Set([
  "default",
  "kube-system",
  "kube-public",
  "kube-node-lease",
  "gpu-operator",
  "nvidia-dcgm-exporter",
]);

const kinds = [
  ...["nodes", "namespaces", "pods"].map((kind) => `/api/v1/${kind}`),
  "/apis/resource.k8s.io/v1/resourceclaims",
  "/apis/resource.k8s.io/v1/resourceslices",
  "/apis/apps/v1/deployments",
  "/apis/apps/v1/daemonsets",
];

/** What would say whose cluster this is: names, identities and addresses of its objects, images, UUIDs of GPUs. */
export async function tellingNames(node: RealNode): Promise<readonly string[]> {
  const objects = (await Promise.all(kinds.map(async (kind) => await node.get(kind)))).flatMap(parsed);
  const texts = objects.flatMap(({ metadata: { name, namespace = "", uid }, spec, status }) => [
    ...[name, namespace, uid, status.podIP ?? ""],
    ...spec.containers.map(({ image }) => image),
    ...status.addresses.map(({ address }) => address),
  ]);
  const all = new Set([...texts, ...Object.keys(await allocatedByKubelet(node))]);
  return [...all].filter((text) => text !== "" && !everywhere.has(text));
}

/** Those of the names that are in a file of a folder, or in the name of one. */
export function namesIn(folder: string, names: readonly string[]): readonly string[] {
  const text = readdirSync(folder)
    .map((file) => `${file}\n${readFileSync(join(folder, file), "utf8")}`)
    .join("\n");
  const words = new Set([...(text.match(/[\w.-]+/g) ?? []), ...(text.match(/[\w.:/-]+/g) ?? [])]);
  return names.filter((name) => words.has(name));
}

/** Who holds which GPU, as `allocatedByKubelet` says it. */
export function holdersOf(devices: FairleadDocument["devices"]): AllocatedGpus {
  const entries = devices.flatMap(({ uuid, holders }) =>
    holders.map((by): readonly [string, string] => [uuid ?? "?", `${by.namespace}/${by.pod}`]),
  );
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
