import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { type DomainRooms, withLabels } from "./domainRooms.ts";
import { type NodeRoom, podsIn } from "./nodeRoom.ts";
import { couldTake, takesNow } from "./nodeRules.ts";
import { packs } from "./pack.ts";
import { demandKey, gpuTolerance, type PodDemand, podDemand, rulesKey } from "./podDemand.ts";

/** Pods that are alike and must be placed together with others. */
export interface PlacedPods {
  /** Index into `Queueing.domains`. */
  readonly domain: number;
  readonly pods: number;
  readonly gpusPerPod: number;
  readonly needs: PodNeeds;
}

/** Whether pods can be placed: `never` is about nodes as they would be when empty, the others about what is free now. */
export type PlacementVerdict = "never" | "too-little" | "scattered" | "fits";

/** Nodes with something free that take pods of one kind. */
interface OpenNodes {
  readonly rooms: readonly NodeRoom[];
  readonly free: number;
}

/** Pods of one kind in one domain: what is asked once for all of them. */
interface PodKind {
  readonly id: number;
  readonly demand: PodDemand;
  readonly open: OpenNodes;
  /** Whether any node that is there could take one, if it were empty. */
  readonly isPossible: boolean;
  /** Whether so many fit onto the nodes as they are, without others. */
  readonly fits: (pods: number) => boolean;
}

/** The nodes for pods with the same rules, and what was asked of them, by demand. */
interface RuledNodes {
  readonly open: OpenNodes;
  readonly kinds: Map<string, PodKind>;
}

/** Answers for gangs of one moment; what is alike is asked once. */
export interface Placement {
  verdict(parts: readonly PlacedPods[]): PlacementVerdict;
}

/** A new Placement over the domains of a moment. */
export function createPlacement(domains: readonly DomainRooms[]): Placement {
  /** By domain and rules. */
  const ruled = domains.map(() => new Map<string, RuledNodes>());
  const packed = new Map<string, boolean>();
  let numbered = 0;

  /** Parts of gangs often share the object that says what they need. */
  const byNeeds = domains.map(
    () => new Map<PodNeeds, { readonly gpusPerPod: number; readonly kind: PodKind | null }>(),
  );
  const kindOf = (pods: PlacedPods): PodKind | null => {
    const { domain, gpusPerPod, needs } = pods;
    const known = byNeeds[domain]?.get(needs);
    if (known?.gpusPerPod === gpusPerPod) return known.kind;
    const kind = findKind(pods);
    byNeeds[domain]?.set(needs, { gpusPerPod, kind });
    return kind;
  };

  const findKind = ({ domain: index, gpusPerPod, needs }: PlacedPods): PodKind | null => {
    const [domain, byRules] = [domains[index], ruled[index]];
    if (domain === undefined || byRules === undefined) return null;
    const rules = rulesKey(needs);
    const nodes = byRules.get(rules) ?? { open: openFor(domain, needs), kinds: new Map() };
    if (nodes.kinds.size === 0) byRules.set(rules, nodes);
    const demand = podDemand(gpusPerPod, needs);
    const key = demandKey(demand);
    const known = nodes.kinds.get(key);
    if (known !== undefined) return known;
    const fits = createCount(nodes.open.rooms, demand);
    const isPossible = fits(1) || isPossibleIn(domain, needs, demand);
    numbered += 1;
    const kind: PodKind = { id: numbered, demand, open: nodes.open, isPossible, fits };
    nodes.kinds.set(key, kind);
    return kind;
  };

  const fitsTogether = (group: readonly Asked[]): boolean => {
    const key = group.map(({ kind, pods }) => `${pods}x${kind.id}`).join();
    const known = packed.get(key);
    if (known !== undefined) return known;
    const fits = packs(group.map(({ kind, pods }) => ({ demand: kind.demand, pods, rooms: kind.open.rooms })));
    packed.set(key, fits);
    return fits;
  };

  return {
    verdict(parts) {
      const asked: Asked[] = [];
      for (const part of parts) {
        const kind = kindOf(part);
        if (kind === null || !kind.isPossible) return "never";
        asked.push({ domain: part.domain, kind, pods: part.pods });
      }
      if (asksTooMuch(asked, domains)) return "too-little";
      if (asked.some(({ kind, pods }) => !kind.fits(pods))) return "scattered";
      if (asked.length < 2) return "fits";
      const together = [...Map.groupBy(asked, ({ domain }) => domain).values()];
      return together.every((group) => group.length < 2 || fitsTogether(group)) ? "fits" : "scattered";
    },
  };
}

/** Counts how many pods fit onto nodes, those with the most free GPUs first, and no further than was ever asked. */
function createCount(rooms: readonly NodeRoom[], demand: PodDemand): (pods: number) => boolean {
  let counted = 0;
  let next = rooms.length - 1;
  return (pods) => {
    for (; counted < pods && next >= 0; next--) {
      const now = rooms[next]?.now ?? null;
      if (now !== null) counted += podsIn(now, demand);
    }
    return counted >= pods;
  };
}

/** Pods of one kind of a gang. */
interface Asked {
  readonly domain: number;
  readonly kind: PodKind;
  readonly pods: number;
}

/** Less is free on the nodes that take the pods of a kind than they ask for, or in a domain than all kinds together do. */
function asksTooMuch(asked: readonly Asked[], domains: readonly DomainRooms[]): boolean {
  for (const { kind, pods } of asked) if (pods * kind.demand.gpus > kind.open.free + gpuTolerance) return true;
  if (asked.length < 2) return false;
  const sums = new Map<number, number>();
  for (const { domain, kind, pods } of asked) sums.set(domain, (sums.get(domain) ?? 0) + pods * kind.demand.gpus);
  return [...sums].some(([domain, gpus]) => gpus > (domains[domain]?.free ?? 0) + gpuTolerance);
}

function openFor(domain: DomainRooms, needs: PodNeeds): OpenNodes {
  const rooms = withLabels(domain.open, domain.labelsOfOpen, needs.nodeSelector).filter(({ node }) =>
    takesNow(node, needs),
  );
  return { rooms, free: rooms.reduce((sum, { now }) => sum + (now?.gpus ?? 0), 0) };
}

function isPossibleIn(domain: DomainRooms, needs: PodNeeds, demand: PodDemand): boolean {
  return withLabels(domain.nodes, domain.labelsOfNodes, needs.nodeSelector).some(
    ({ node, whole, isUncounted }) => (isUncounted || podsIn(whole(), demand) > 0) && couldTake(node, needs),
  );
}
