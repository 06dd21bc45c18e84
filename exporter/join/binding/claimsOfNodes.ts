import type { ResourceClaim } from "../../model/cluster.ts";
import type { Pod } from "../../model/pod.ts";
import { type DraDevices, draDeviceKey } from "../draDevices.ts";
import { isGpuResult } from "../holdings/claims.ts";

/** Which claims concern which nodes. */
export interface ClaimsOfNodes {
  /** Claims that pods of a node have or name, and those that were given MIG devices of it. */
  readonly byNode: ReadonlyMap<string, readonly ResourceClaim[]>;
  /** Nodes that share a claim among their pods: what one of them holds depends on the others. */
  readonly tied: readonly (readonly string[])[];
}

const none: ClaimsOfNodes = { byNode: new Map(), tied: [] };

/** Finds the nodes that each claim concerns. */
export function claimsOfNodes(
  claims: readonly ResourceClaim[],
  draDevices: DraDevices,
  holding: ReadonlyMap<string, readonly Pod[]>,
): ClaimsOfNodes {
  if (claims.length === 0) return none;
  const byNode = new Map<string, Set<ResourceClaim>>();
  const byName = new Map<string, ResourceClaim>(claims.map((claim) => [`${claim.namespace}/${claim.name}`, claim]));
  const nodeOfPod = new Map<string, string>();
  for (const [node, pods] of holding) {
    for (const pod of pods) {
      nodeOfPod.set(pod.uid, node);
      for (const claim of claimsNamedBy(pod, byName)) addTo(byNode, node, claim);
    }
  }
  const groups = createGroups();
  for (const claim of claims) {
    const nodes = claim.reservedForPods.flatMap((uid) => nodeOfPod.get(uid) ?? []);
    for (const node of nodes) addTo(byNode, node, claim);
    for (const node of nodesOfMig(claim, draDevices)) addTo(byNode, node, claim);
    if (claim.allocated.some((result) => !result.adminAccess && isGpuResult(result, draDevices))) groups.tie(nodes);
  }
  const lists = [...byNode].map(([node, found]) => [node, [...found]] as const);
  return { byNode: new Map(lists), tied: groups.all() };
}

function claimsNamedBy({ gpu, namespace }: Pod, byName: ReadonlyMap<string, ResourceClaim>): readonly ResourceClaim[] {
  if (gpu.claims.length === 0 && gpu.extendedResourceClaim === null) return [];
  const names = [...gpu.claims.map(({ claimName }) => claimName), gpu.extendedResourceClaim];
  return names.flatMap((name) => (name === null ? [] : (byName.get(`${namespace}/${name}`) ?? [])));
}

function addTo(byNode: Map<string, Set<ResourceClaim>>, node: string, claim: ResourceClaim): void {
  const known = byNode.get(node);
  if (known === undefined) byNode.set(node, new Set([claim]));
  else known.add(claim);
}

/** Nodes whose MIG devices were given to a claim. */
function nodesOfMig({ allocated }: ResourceClaim, draDevices: DraDevices): readonly string[] {
  return allocated.flatMap(({ driver, pool, device }) => {
    const described = draDevices.get(draDeviceKey(driver, pool, device));
    return described === undefined || described.profile === null ? [] : [described.node];
  });
}

/** Groups of names in which any two are tied, directly or through others. */
function createGroups() {
  const groupOf = new Map<string, Set<string>>();
  const merge = (a: string, b: string): void => {
    const one = groupOf.get(a) ?? new Set([a]);
    const other = groupOf.get(b) ?? new Set([b]);
    const [small, large] = one.size < other.size ? [one, other] : [other, one];
    for (const name of [...small, a, b]) {
      large.add(name);
      groupOf.set(name, large);
    }
  };
  return {
    tie(names: readonly string[]): void {
      const [first, ...others] = new Set(names);
      if (first === undefined) return;
      for (const name of others) merge(first, name);
    },
    all: (): readonly (readonly string[])[] => [...new Set(groupOf.values())].map((group) => [...group].sort()),
  };
}
