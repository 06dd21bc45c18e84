import type { StrandedReason } from "../../model/fragmentation.ts";
import { fitsOutcome, type OutcomeCode, outcomes } from "./caseTable.ts";
import type { JudgedShape } from "./countShapes.ts";
import type { FragmentationTable } from "./fragmentationTable.ts";

/** Says why no typical pod can use the fully free GPUs of a row; `null`: one can, or no typical pod asks for GPUs. */
export function createStranding(
  { columns }: FragmentationTable,
  shapes: readonly JudgedShape[],
): (row: number) => StrandedReason | null {
  const asked = shapes.flatMap(({ key, demand }) => {
    const codes = columns.get(key)?.codes;
    return demand === null || codes === undefined ? [] : [{ codes, isForGpus: demand.physicalGpus > 0 }];
  });
  return (row) => {
    let seen = 0;
    for (const { codes, isForGpus } of asked) {
      const code = codes[row] ?? outcomes.noAccess;
      if (isForGpus && code === fitsOutcome) return null;
      // Replicas and MIG instances are no use of a whole GPU.
      seen |= bit(isForGpus || code === outcomes.noAccess ? code : outcomes.lackGpu);
    }
    return seen === 0 ? null : reasonOf(seen);
  };
}

const bit = (code: OutcomeCode): number => 1 << code;

/** The reason of the outcomes that there are, as bits. */
function reasonOf(seen: number): StrandedReason {
  const has = (code: OutcomeCode): boolean => (seen & bit(code)) !== 0;
  if (seen === bit(outcomes.noAccess)) return "constraint";
  const [lacksCpuAlone, lacksMemoryAlone] = [has(outcomes.lackCpu), has(outcomes.lackMemory)];
  if (!lacksCpuAlone && !lacksMemoryAlone && !has(outcomes.lackCpuAndMemory)) return "gpus";
  // What is missing for all shapes for which enough GPUs are free, whatever else some of them lack.
  if (lacksCpuAlone && !lacksMemoryAlone) return "cpu";
  return lacksMemoryAlone && !lacksCpuAlone ? "memory" : "cpu_and_memory";
}
