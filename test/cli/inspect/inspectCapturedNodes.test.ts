import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { documentOfDump } from "../dumpFolder.ts";

const captured = fileURLToPath(new URL("../../captured/", import.meta.url));

/** What a person reads off the object of a folder, written down before it was counted (test/captured/SOURCES.md). */
const truthSchema = z.strictObject({
  node: z.string(),
  physicalGpus: z.int().nullable(),
  allocatable: z.number().optional(),
  /** What every name of the model has in it. */
  model: z.string().optional(),
  /** Whether two witnesses of the object count differently, so that a line must name both. */
  conflict: z.boolean().default(false),
  vendor: z.enum(["nvidia", "amd", "habana", "aws"]).nullable(),
  why: z.string(),
});

type Truth = z.infer<typeof truthSchema>;

const truths = new Map<string, Truth>();
for (const folder of readdirSync(captured)) {
  const path = `${captured}${folder}`;
  if (!existsSync(`${path}/node.yaml`)) continue;
  const truth = truthSchema.parse(JSON.parse(readFileSync(`${path}/expected-objects.json`, "utf8")));
  truths.set(folder.slice("objects-".length), truth);
}

/** The document of what a folder shows: a Node, a ResourceSlice, or both. */
function documentOf(...folders: readonly string[]) {
  const files = folders.flatMap((folder) =>
    ["node.yaml", "resourceslice.yaml"]
      .map((name) => `${captured}objects-${folder}/${name}`)
      .filter((path) => existsSync(path)),
  );
  return documentOfDump(files[0] ?? "", ...files.slice(1));
}

const letters = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, "");

/** Where the answer of `inspect` is another one than the person's, in words; empty where they agree. */
async function faultsOf(folder: string, truth: Truth): Promise<readonly string[]> {
  const { nodes, problems } = await documentOf(folder);
  const node = nodes.find((found) => found.name === truth.node);
  const faults: string[] = [];
  // A node without GPUs has no record, or one that says so.
  const counted = node === undefined ? 0 : node.physicalGpus;
  if (counted !== truth.physicalGpus) faults.push(`${counted} GPUs for ${truth.physicalGpus}`);
  if (truth.physicalGpus === null && !problems.some(({ subject }) => subject?.includes(truth.node)))
    faults.push("no line says that the count is unknown");
  if (truth.physicalGpus === 0 && problems.some(({ subject }) => subject?.includes(truth.node)))
    faults.push("a line about a node without GPUs");
  if (truth.allocatable !== undefined && node?.allocatable !== truth.allocatable)
    faults.push(`${node?.allocatable} allocatable for ${truth.allocatable}`);
  if (problems.some(({ code }) => code === "gpu-count-conflict") !== truth.conflict)
    faults.push(truth.conflict ? "no line says that two counts differ" : "a line about counts that do not differ");
  const models = node?.gpuModels ?? [];
  const { model } = truth;
  if (model !== undefined && (models.length === 0 || !models.every((name) => letters(name).includes(letters(model)))))
    faults.push(`model ${models.join(", ") || "unknown"} for ${model}`);
  return faults;
}

describe("inspect of a captured node says how many GPUs a person reads off it", () => {
  it("has at least 24 nodes of public sources to read", () => {
    expect(truths.size).toBeGreaterThanOrEqual(24);
  });

  it.each([...truths])("%s", async (folder, truth) => {
    expect(await faultsOf(folder, truth)).toEqual([]);
  });
});

describe("other vendors' accelerators beside NVIDIA's", () => {
  const others = [...truths].filter(([, { vendor }]) => vendor !== null && vendor !== "nvidia");

  it.each(others)("%s shares no pool with them", async (folder, truth) => {
    const { nodes } = await documentOf("hostdev-beside-gpus", folder);
    const poolsOf = (name: string) => nodes.find((found) => found.name === name)?.pools ?? [];
    const own = poolsOf(truth.node);
    expect(own).not.toEqual([]);
    expect(poolsOf("node1").filter((pool) => own.includes(pool))).toEqual([]);
  });
});
