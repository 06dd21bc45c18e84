import type { JsonValue } from "../../exporter/model/recommendation.ts";
import { gpuResources } from "../../exporter/model/wellKnown.ts";
import { at, itemsAt, numberAt, sameJson, textsAt } from "../json.ts";
import { requestedResources } from "../objects/resources.ts";
import type { GpuRequest, WorkloadSpec } from "../scenario.ts";

/** What a workload asks for once its pods are made by this template; the same spec where it asks for the same. */
export function specFromTemplate(spec: WorkloadSpec, template: JsonValue | undefined): WorkloadSpec {
  const [container] = itemsAt(template, "spec", "containers");
  if (container === undefined) return spec;
  const amounts = { ...textsAt(container, "resources", "requests"), ...textsAt(container, "resources", "limits") };
  const numbers = at(container, "resources", "limits");
  const asked = Object.keys({ ...amounts, ...(typeof numbers === "object" ? numbers : {}) })
    .filter((name) => name.startsWith(gpuResources.nvidiaPrefix))
    .map((name) => [name, String(numberAt(container, "resources", "limits", name) ?? amounts[name] ?? "")] as const);
  const gpus = Object.fromEntries(asked);
  const cpuMilli = milliCores(amounts.cpu) ?? spec.cpuMilli;
  const memoryMiB = mebibytes(amounts.memory) ?? spec.memoryMiB;
  const request = sameJson(gpus, requestedResources(spec.request)) ? spec.request : requestOf(spec.request, gpus);
  if (request === spec.request && cpuMilli === spec.cpuMilli && memoryMiB === spec.memoryMiB) return spec;
  return { ...spec, request, cpuMilli, memoryMiB };
}

function requestOf(before: GpuRequest, gpus: Readonly<Record<string, string>>): GpuRequest {
  for (const [name, amount] of Object.entries(gpus)) {
    const count = Number(amount);
    if (!Number.isInteger(count) || count <= 0) continue;
    if (name.startsWith(gpuResources.nvidiaMigPrefix)) {
      return { kind: "mig", profile: name.slice(gpuResources.nvidiaMigPrefix.length), count, strategy: "mig-mixed" };
    }
    if (name === gpuResources.nvidiaShared) return { kind: "replicas", count, strategy: "time-slicing", renamed: true };
    if (name !== gpuResources.nvidia) continue;
    return before.kind === "replicas" || before.kind === "extended-resource"
      ? { ...before, count }
      : { kind: "physicalGpus", count };
  }
  return before.kind === "claim" || before.kind === "fraction" ? before : { kind: "none" };
}

function milliCores(text: string | undefined): number | null {
  const match = /^(\d+)(m?)$/.exec(text ?? "");
  return match === null ? null : Number(match[1]) * (match[2] === "m" ? 1 : 1000);
}

function mebibytes(text: string | undefined): number | null {
  const match = /^(\d+)(Mi|Gi)$/.exec(text ?? "");
  return match === null ? null : Number(match[1]) * (match[2] === "Mi" ? 1 : 1024);
}
