import type { ClusterNode } from "../model/node.ts";
import { nodeLabels } from "../model/wellKnown.ts";

const mebibyte = 1024 * 1024;

/** Memory in MiB as `nvidia-smi` shows it, by canonical model prefix, where the name does not carry it. */
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
