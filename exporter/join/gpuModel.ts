import { type GpuVendor, gpuResourceOf } from "../model/gpuResource.ts";
import type { ClusterNode } from "../model/node.ts";
import { gpuModelLabels, nodeLabels } from "../model/wellKnown.ts";

/** The model of GPUs for which nothing reports one. */
export const unknownModel = "unknown";

/** Cloud and scheduler spellings that no rule turns into the vendor's name. Keys are lower case. */
const spellings: Readonly<Record<string, string>> = {
  "nvidia-tesla-k80": "K80",
  "nvidia-tesla-p4": "P4",
  "nvidia-tesla-p100": "P100-PCIE-16GB",
  "nvidia-tesla-v100": "V100-SXM2-16GB",
  "nvidia-tesla-t4": "T4",
  "nvidia-tesla-a100": "A100-SXM4-40GB",
  "nvidia-a100-80gb": "A100-SXM4-80GB",
  "nvidia-l4": "L4",
  "nvidia-h100-80gb": "H100-80GB-HBM3",
  "nvidia-h100-mega-80gb": "H100-80GB-HBM3",
  "nvidia-h200-141gb": "H200",
  "nvidia-b200": "B200",
  "nvidia-gb200": "GB200",
};

/**
 * One canonical name per model: vendor words, sharing and MIG suffixes stripped, blanks as dashes
 * (`NVIDIA A100-SXM4-80GB`, `NVIDIA-A100-SXM4-80GB-SHARED` and `NVIDIA-A100-SXM4-80GB-MIG-1g.10gb` are one model).
 * `null` for text that names no model.
 */
export function canonicalModel(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const known = knownModels.get(text);
  if (known !== undefined) return known;
  const model = modelIn(text);
  // Names come from the cluster and have no end; a fleet has few.
  if (knownModels.size >= mostKnownModels) knownModels.clear();
  if (text.length <= 200) knownModels.set(text, model);
  return model;
}

const mostKnownModels = 500;

/** Models by their spellings, so that each spelling is converted once. */
const knownModels = new Map<string, string | null>();

function modelIn(text: string): string | null {
  const dashed = text
    .trim()
    .slice(0, 100)
    .replace(/[\s_]+/g, "-");
  const spelling = dashed.toLowerCase();
  // A page may call a GPU `constructor`: only own keys are spellings.
  if (Object.hasOwn(spellings, spelling)) return spellings[spelling] ?? null;
  const bare = dashed
    .replace(/^(?:nvidia-)+/i, "")
    .replace(/^tesla-/i, "")
    .replace(/-MIG-.*$/i, "")
    .replace(/-SHARED$/i, "");
  if (bare === "" || /^nvidia$/i.test(bare)) return null;
  return bare === bare.toLowerCase() ? bare.toUpperCase() : bare;
}

/** The model that a node's labels name, best source first; `null` when none does. */
export function labelledModel(node: ClusterNode): string | null {
  for (const label of gpuModelLabels) {
    const model = canonicalModel(node.labels[label]);
    if (model !== null) return model;
  }
  return null;
}

/** The names of GPUs that only their resource distinguishes. */
const modelOfVendor: Readonly<Record<GpuVendor, string | null>> = {
  nvidia: null,
  amd: "AMD-GPU",
  intel: "Intel-GPU",
  habana: "Gaudi",
  google: "TPU",
  aws: "Neuron",
};

/**
 * The model that resource names alone show: the GPU of a passthrough function (`nvidia.com/GA102GL_A10`) or of a vGPU type
 * (`nvidia.com/NVIDIA_A10-12Q`), else the vendor; `null` where they name neither, or several.
 */
export function modelOfResources(resources: readonly string[]): string | null {
  const models = new Set(resources.map(modelOfResource));
  const [model = null] = models;
  return models.size === 1 ? model : null;
}

function modelOfResource(resource: string): string | null {
  const vendor = gpuResourceOf(resource)?.vendor;
  if (vendor === undefined || vendor !== "nvidia") return vendor === undefined ? null : modelOfVendor[vendor];
  const name = /^nvidia\.com\/(?:[A-Z]{1,2}\d{3}[A-Z]{0,4}_|(?:GRID|NVIDIA)_)(.+?)(?:-(?:\d-)?\d{1,3}[QCBA])?$/.exec(
    resource,
  )?.[1];
  return canonicalModel(name);
}

const mebibyte = 1024 * 1024;

/** Memory in MiB as `nvidia-smi` shows it, by the start of the canonical model, for models whose name does not contain it. */
const memoryMiB: readonly (readonly [prefix: string, mebibytes: number])[] = [
  ["A10G", 23028],
  ["A10", 23028],
  ["A30", 24576],
  ["A40", 46068],
  ["B200", 183359],
  ["GB200", 189471],
  ["GH200", 97871],
  ["H100-NVL", 95830],
  ["H100-PCIe", 81559],
  ["H200", 143771],
  ["H20", 97871],
  ["K80", 11441],
  ["L40", 46068],
  ["L40S", 46068],
  ["L4", 23034],
  ["P4", 7680],
  ["T4", 15360],
];

/** Memory of one GPU of a canonical model: the number in its name (`A100-SXM4-80GB`), else a table; `null` when neither. */
export function memoryOfModel(model: string): number | null {
  // `GH200 480GB`: that is the memory of its CPU.
  const named = model.startsWith("GH200") ? undefined : /(?:^|-)(\d{1,4})GB(?:-|$)/.exec(model)?.[1];
  if (named !== undefined) return Number(named) * 1024 * mebibyte;
  const listed = memoryMiB.find(([prefix]) => model === prefix || model.startsWith(`${prefix}-`));
  return listed === undefined ? null : listed[1] * mebibyte;
}

/** Memory of one GPU by GFD's label; `null` if it is absent or describes MIG instances. */
export function labelledMemory(node: ClusterNode): number | null {
  if (/-MIG-/.test(node.labels[nodeLabels.gpuProduct] ?? "")) return null;
  const text = node.labels[nodeLabels.gpuMemoryMiB];
  if (text === undefined || !/^\d{1,9}$/.test(text) || Number(text) === 0) return null;
  return Number(text) * mebibyte;
}
