import { compareText } from "../../kernel/compareText.ts";
import type { Problem } from "../../model/problem.ts";
import type { DiscoveredPod } from "./discover.ts";

/** Exporter pods that are believed; each node has those of at most one controller. */
export interface BelievedExporters {
  readonly pods: readonly DiscoveredPod[];
  /** Pods that look like exporters, but whose data is not used. */
  readonly rejected: readonly DiscoveredPod[];
  readonly problems: readonly Problem[];
  /** Whether the answer stays the same for as long as the pods and nodes do, whatever the time. */
  readonly isSettled: boolean;
}

/** Decides which of the pods that look like exporters speak for their nodes, and remembers what it decided. */
export interface ExporterBelief {
  /**
   * `gpuNodes`: the names of the nodes with GPUs; `null` where they are not known. `now`: seconds of a clock that is never set
   * back.
   */
  believe(pods: readonly DiscoveredPod[], gpuNodes: ReadonlySet<string> | null, now: number): BelievedExporters;
}

/**
 * A newcomer replaces a node's exporter that has been away for this long: `here` if that still has pods on other nodes,
 * `everywhere` if it has none any more. Seconds.
 */
const absence = { here: 600, everywhere: 120 } as const;

/** The exporters of one controller, or one pod without any. */
interface Group {
  readonly key: string;
  readonly isDaemonSet: boolean;
  readonly byNode: Map<string, DiscoveredPod[]>;
  /** Number of nodes with GPUs on which the group has a pod. */
  coverage: number;
  /** Number of nodes for which the group speaks already. */
  trust: number;
  /** Creation time of its oldest pod, seconds since the epoch. */
  oldest: number;
}

/** The exporter that was last used for a node. */
interface Spoken {
  readonly key: string;
  /** Name of one of its pods there, for people. */
  readonly pod: string;
  /** The time since which it has had no pod there; `null` while it has one. */
  readonly absentSince: number | null;
}

/**
 * Anybody who can create a namespace that the configuration names can put pods with an exporter's labels into it, one on each
 * node. So if pods of several controllers are on a node, the controller that is already used for most nodes wins; if none is
 * used yet (after a start), a DaemonSet, then the one on most nodes with GPUs, then the one with the oldest pod, then the
 * first by name. On a node whose exporter is away (its DaemonSet replaces it), a newcomer must wait for a while, unless the
 * controller is gone altogether. Whenever there is a choice, a problem line names both.
 */
export function createExporterBelief(): ExporterBelief {
  let spokenFor: ReadonlyMap<string, Spoken> = new Map();
  return {
    believe(pods, gpuNodes, now) {
      const groups = groupsOf(pods, gpuNodes, trustIn(spokenFor));
      const found: Found = { pods: [], rejected: [], contests: new Map() };
      const next = new Map<string, Spoken>();
      for (const [node, candidates] of candidatesByNode(groups)) {
        const before = spokenFor.get(node);
        const chosen = choose(candidates, before, groups, now);
        if (chosen !== null)
          next.set(node, { key: chosen.key, pod: podName(chosen.byNode.get(node)?.[0]), absentSince: null });
        else if (before !== undefined) next.set(node, absent(before, now));
        note(found, node, candidates, chosen, before);
      }
      for (const [node, before] of spokenFor) {
        const gone = absent(before, now);
        if (!next.has(node) && now - (gone.absentSince ?? now) < absence.here) next.set(node, gone);
      }
      const isSettled = hasSettled(spokenFor, next);
      spokenFor = next;
      const { pods: believed, rejected, contests } = found;
      return { pods: believed, rejected, problems: [...contests.values()].map(contestProblem), isSettled };
    },
  };
}

/** Whether the same exporters speak as before, and none is away: trust and time then change nothing. */
function hasSettled(before: ReadonlyMap<string, Spoken>, now: ReadonlyMap<string, Spoken>): boolean {
  if (before.size !== now.size) return false;
  for (const [node, { key, absentSince }] of now) {
    const known = before.get(node);
    if (absentSince !== null || known?.absentSince !== null || known.key !== key) return false;
  }
  return true;
}

const absent = (spoken: Spoken, now: number): Spoken => ({ ...spoken, absentSince: spoken.absentSince ?? now });

/** The number of nodes for which each controller speaks. */
function trustIn(spokenFor: ReadonlyMap<string, Spoken>): ReadonlyMap<string, number> {
  const trust = new Map<string, number>();
  for (const { key } of spokenFor.values()) trust.set(key, (trust.get(key) ?? 0) + 1);
  return trust;
}

/** Controllers with a pod on each node, the most trusted first. */
function candidatesByNode(groups: ReadonlyMap<string, Group>): ReadonlyMap<string, readonly Group[]> {
  const places = [...groups.values()]
    .sort(inOrderOfTrust)
    .flatMap((group) => [...group.byNode.keys()].map((node) => ({ node, group })));
  const byNode = [...Map.groupBy(places, ({ node }) => node)].sort(([a], [b]) => compareText(a, b));
  return new Map(byNode.map(([node, found]) => [node, found.map(({ group }) => group)]));
}

function groupsOf(
  pods: readonly DiscoveredPod[],
  gpuNodes: ReadonlySet<string> | null,
  trust: ReadonlyMap<string, number>,
): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const pod of pods) {
    if (pod.nodeName === "") continue;
    const { owner = null, namespace, name, nodeName } = pod;
    // A controller that is made anew with its name is the same one; in another namespace nobody can have its name.
    const key = owner === null ? `${namespace}/${name}` : `${namespace}/${owner.kind}/${owner.name}`;
    const isDaemonSet = owner?.kind === "DaemonSet";
    const group: Group = groups.get(key) ?? {
      key,
      isDaemonSet,
      byNode: new Map(),
      coverage: 0,
      trust: trust.get(key) ?? 0,
      oldest: Number.POSITIVE_INFINITY,
    };
    groups.set(key, group);
    group.oldest = Math.min(group.oldest, pod.createdAt ?? Number.POSITIVE_INFINITY);
    const own = group.byNode.get(nodeName);
    if (own !== undefined) own.push(pod);
    else {
      group.byNode.set(nodeName, [pod]);
      if (gpuNodes === null || gpuNodes.has(nodeName)) group.coverage += 1;
    }
  }
  return groups;
}

function inOrderOfTrust(a: Group, b: Group): number {
  return (
    b.trust - a.trust ||
    Number(b.isDaemonSet) - Number(a.isDaemonSet) ||
    b.coverage - a.coverage ||
    (a.oldest === b.oldest ? 0 : a.oldest - b.oldest) ||
    compareText(a.key, b.key)
  );
}

/**
 * The most trusted of the candidates on a node. It is `null` if all are less trusted than the one that was used before, and
 * that one may come back.
 */
function choose(
  candidates: readonly Group[],
  before: Spoken | undefined,
  groups: ReadonlyMap<string, Group>,
  now: number,
): Group | null {
  const [best] = candidates;
  if (best === undefined) return null;
  if (before === undefined || candidates.some(({ key }) => key === before.key)) return best;
  const known = groups.get(before.key);
  if (known !== undefined && best.trust >= known.trust) return best;
  const away = now - (before.absentSince ?? now);
  return away >= (known === undefined ? absence.everywhere : absence.here) ? best : null;
}

interface Contest {
  readonly node: string;
  readonly believed: string;
  readonly rejected: string;
  readonly isAbsent: boolean;
  nodes: number;
}

interface Found {
  readonly pods: DiscoveredPod[];
  readonly rejected: DiscoveredPod[];
  /**
   * Keyed by the accepted controller and the namespace of the rejected one, which makes one line however many pods there are.
   */
  readonly contests: Map<string, Contest>;
}

const podName = (pod: DiscoveredPod | undefined): string => (pod === undefined ? "" : `${pod.namespace}/${pod.name}`);

function note(
  { pods, rejected, contests }: Found,
  node: string,
  candidates: readonly Group[],
  chosen: Group | null,
  before: Spoken | undefined,
): void {
  for (const group of candidates) {
    const own = group.byNode.get(node) ?? [];
    (group === chosen ? pods : rejected).push(...own);
    if (group === chosen) continue;
    const key = `${chosen?.key ?? before?.key}|${own[0]?.namespace}`;
    const known = contests.get(key);
    if (known !== undefined) known.nodes += 1;
    else {
      const believed = chosen === null ? (before?.pod ?? "") : podName(chosen.byNode.get(node)?.[0]);
      contests.set(key, { node, believed, rejected: podName(own[0]), isAbsent: chosen === null, nodes: 1 });
    }
  }
}

function contestProblem({ node, believed, rejected, isAbsent, nodes }: Contest): Problem {
  const others = nodes === 1 ? "" : `, as on ${nodes - 1} other nodes`;
  const fact = isAbsent
    ? `${rejected} looks like the exporter of node ${node}, for which ${believed} spoke until now`
    : `${believed} and ${rejected} both look like the exporter of node ${node}`;
  return {
    source: "dcgm",
    code: "several-exporters",
    severity: "warning",
    subject: node,
    message: `${fact}${others}; ${isAbsent ? "nothing is taken of it" : `${believed} alone is believed`}`,
    nextStep:
      "Remove the one that should not be there, or narrow dcgm.discovery to the namespace and labels of yours: whoever may put pods there can speak for nodes.",
  };
}
