import type { Analysis } from "../../analysis/analysis.ts";
import type { LevelDomains } from "../../analysis/topology/levels.ts";
import { createRequirements, type GangRequirement } from "../../analysis/topology/requiredLevels.ts";
import type { WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import { oncePer } from "../../kernel/once.ts";
import { momentIndex } from "../momentIndex.ts";

/** Returns what a waiting gang requires of the cluster's topology at a moment; `null`: nothing that is known. */
export const requirementsOf: (analysis: Analysis) => (gang: WaitingGang) => GangRequirement | null = oncePer(
  ({ levels, snapshot }: Analysis) => createRequirements(levels, snapshot.queueObjects),
);

/** Nodes (indices) on which pods must not be placed if they are to be in one domain; `null`: they may be anywhere. */
export type Outside = ReadonlySet<number> | null;

/** Where the parts of a gang may be placed so that what it requires of the topology holds. */
export interface GangDomains {
  /** For the gang as a whole: one entry for each domain that may hold all of it. */
  readonly whole: readonly Outside[];
  /** The same for a part that is placed by itself. */
  readonly ofPart: (part: WaitingPart) => readonly Outside[];
}

const anywhere: readonly Outside[] = [null];
const unbound: GangDomains = { whole: anywhere, ofPart: () => anywhere };

/**
 * The domains of a waiting gang; a gang that requires nothing has one for everything. Where some of its members run, the
 * others have to be in their domain.
 */
export function gangDomains(analysis: Analysis, gang: WaitingGang): GangDomains {
  const requirement = requirementsOf(analysis)(gang);
  if (requirement === null) return unbound;
  const running = runningNodes(analysis, gang);
  const rangesOf = (part: number): readonly Outside[] => {
    const required = requirement.parts[part] ?? null;
    if (required === null) return anywhere;
    return required.flatMap((level) =>
      outsideOf(level).filter((outside) => !running.some((node) => outside.has(node))),
    );
  };
  if (requirement.byPart) return { whole: anywhere, ofPart: (part) => rangesOf(gang.parts.indexOf(part)) };
  return { whole: rangesOf(0), ofPart: () => anywhere };
}

/** For each domain of a level: the nodes that are not in it. */
const outsideOf = oncePer(({ domains, domainOfNode }: LevelDomains): readonly ReadonlySet<number>[] =>
  domains.map((_, domain) => {
    const outside = new Set<number>();
    for (let node = 0; node < domainOfNode.length; node++) if (domainOfNode[node] !== domain) outside.add(node);
    return outside;
  }),
);

/** The nodes (indices) of those members of a gang that run. */
export function runningNodes(analysis: Analysis, { uid }: WaitingGang): readonly number[] {
  const index = momentIndex(analysis);
  return index.gangMembers(uid).flatMap((pod) => index.nodeOf(analysis.snapshot.pods[pod]?.node ?? "") ?? []);
}
