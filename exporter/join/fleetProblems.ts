import type { ClusterState, ObjectKind } from "../model/cluster.ts";
import { type GpuVendor, isUnknownNvidiaResource, vendorOfResources } from "../model/gpuResource.ts";
import type { ClusterNode } from "../model/node.ts";
import type { Pod } from "../model/pod.ts";
import type { Problem } from "../model/problem.ts";
import { shownGpus } from "./shownGpus.ts";

/** What a node's inventory shows about its vendor. */
export interface CountedNode {
  readonly object: ClusterNode;
  /** The GPU resources that it offers. */
  readonly resources: ReadonlyMap<string, unknown>;
  readonly physicalGpus: number | null;
}

/**
 * Problems that are reported once for the whole fleet: unknown resource names below `nvidia.com/` on nodes without other GPUs,
 * and accelerators of other vendors, whose telemetry Fairlead does not read.
 */
export function fleetProblems(nodes: readonly ClusterNode[], counted: readonly CountedNode[]): readonly Problem[] {
  const withGpus = new Set(counted.map(({ object }) => object));
  return [...unknownNames(nodes.filter((node) => !withGpus.has(node))), ...otherVendors(counted)];
}

function unknownNames(nodes: readonly ClusterNode[]): readonly Problem[] {
  const nodesByName = new Map<string, string[]>();
  for (const node of nodes) {
    for (const name of unknownOf(node)) {
      const known = nodesByName.get(name);
      if (known === undefined) nodesByName.set(name, [node.name]);
      else known.push(node.name);
    }
  }
  return [...nodesByName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, names]) => ({
      source: "join",
      code: "gpu-resource-unknown",
      severity: "info",
      subject: name,
      message: `${name} is offered by ${countOf(names.length, "node")} without GPUs (${firstOf(names)}), and nothing says whether it is a GPU; it is not counted`,
      nextStep: `Set gpu.resources["${name}"] in the configuration: the part of a GPU that one of it is, or 0 if it is no GPU.`,
    }));
}

/** Names stay while the object does. */
const unknownOfNode = new WeakMap<ClusterNode, readonly string[]>();

function unknownOf(node: ClusterNode): readonly string[] {
  const known = unknownOfNode.get(node);
  if (known !== undefined) return known;
  const names = Object.keys(node.capacity).filter(
    (name) => (node.capacity[name] ?? 0) > 0 && isUnknownNvidiaResource(name),
  );
  unknownOfNode.set(node, names);
  return names;
}

const vendorNames: Readonly<Record<GpuVendor, string>> = {
  nvidia: "NVIDIA",
  amd: "AMD",
  intel: "Intel",
  habana: "Habana",
  google: "Google",
  aws: "AWS",
};

function otherVendors(counted: readonly CountedNode[]): readonly Problem[] {
  const byVendor = new Map<GpuVendor, CountedNode[]>();
  for (const node of counted) {
    const vendor = vendorOfResources(node.resources.keys());
    if (vendor === undefined || vendor === "nvidia") continue;
    byVendor.set(vendor, [...(byVendor.get(vendor) ?? []), node]);
  }
  return [...byVendor].sort(([a], [b]) => (a < b ? -1 : 1)).map(([vendor, nodes]) => withoutTelemetry(vendor, nodes));
}

function withoutTelemetry(vendor: GpuVendor, nodes: readonly CountedNode[]): Problem {
  const gpus = nodes.reduce((sum, { physicalGpus }) => sum + (physicalGpus ?? 0), 0);
  const names = nodes.map(({ object }) => object.name);
  return {
    source: "join",
    code: "vendor-without-telemetry",
    severity: "info",
    subject: vendorNames[vendor],
    message: `${shownGpus(gpus)} accelerators of ${vendorNames[vendor]} on ${countOf(nodes.length, "node")} (${firstOf(names)}) are counted, and who holds them by request; Fairlead reads no telemetry of them, so that their activity is unknown`,
    nextStep:
      "Nothing is to be done; a pool of theirs is reported by its model, and never answers for another vendor's.",
  };
}

const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

function firstOf(names: readonly string[]): string {
  const [first = "", second] = [...names].sort();
  return second === undefined ? first : `${first} first`;
}

const meaning: Readonly<Partial<Record<ObjectKind, string>>> = {
  nodes: "the devices on telemetry pages are taken as the GPUs",
  pods: "pod labels on telemetry pages are taken as the holdings",
  namespaces: "team rules that read namespaces do not match",
};

/** One line for each missing part of the data, with what is used instead. */
export function coverageProblems(state: ClusterState): readonly Problem[] {
  const problems: Problem[] = [...labelProblems(state.pods)];
  for (const kind of ["nodes", "pods", "namespaces"] as const) {
    if (!state.known.has(kind)) problems.push(missing(kind, meaning[kind] ?? ""));
  }
  for (const kind of ["resourceClaims", "resourceSlices"] as const) {
    if (!state.known.has(kind) && usesClaims(state)) problems.push(missing(kind, "what claims hold is not known"));
  }
  if (state.telemetry.length === 0) {
    problems.push({
      source: "join",
      code: "no-telemetry",
      severity: "warning",
      subject: null,
      message: "no telemetry page was read: every GPU is unobserved",
      nextStep: "Check that dcgm-exporter runs and is found (dcgm.discovery), or give its pages to inspect.",
    });
  }
  return problems;
}

/** How many pods are named; the rest are counted. */
const named = 3;

/** One problem for all pods with GPUs that have too many labels to be kept. */
export function labelProblems(pods: readonly Pod[]): readonly Problem[] {
  const cut = pods.filter(({ labelsLeftOut }) => labelsLeftOut === true);
  if (cut.length === 0) return [];
  const names = cut.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const more = names.length > named ? ` and ${names.length - named} more` : "";
  const first = `${names.slice(0, named).join(", ")}${more}`;
  return [
    {
      source: "join",
      code: "labels-left-out",
      severity: "warning",
      subject: names[0] ?? null,
      message: `${first} ${cut.length === 1 ? "has" : "have"} more labels than are kept (48, and 4,096 characters): those that Fairlead reads by name are, of the others the first`,
      nextStep:
        "Move what no selector asks for into annotations. Nothing is advised that moves these pods, because nobody knows which budgets take them.",
    },
  ];
}

function usesClaims({ pods }: ClusterState): boolean {
  return pods.some((pod) => pod.gpu.claims.length > 0 || pod.gpu.extendedResourceClaim !== null);
}

function missing(kind: ObjectKind, instead: string): Problem {
  return {
    source: "join",
    code: "objects-missing",
    severity: "warning",
    subject: kind,
    message: `no ${kind} were read from the Kubernetes API: ${instead}`,
    nextStep: `Let Fairlead list ${kind.toLowerCase()}, or add \`kubectl get ${kind.toLowerCase()} -A -o json\` to the dump.`,
  };
}
