import type { LevelFit } from "../../analysis/topology/topology.ts";
import type { topologyMetrics } from "../../catalogue/topology.ts";
import { gangSizeName } from "../../model/topology.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** How often gangs fit into the domains of each level; there are no series where objects were not read. */
export const topologyProducers: Producers<keyof typeof topologyMetrics> = {
  fairlead_topology_domains: (input) => ofLevels(input, ({ domains }) => domains.length),
  fairlead_topology_free_domains: (input) => ofLevels(input, ({ freeDomains }) => freeDomains),
  fairlead_topology_nodes_outside: (input) => ofLevels(input, ({ nodesOutside }) => nodesOutside),
  fairlead_topology_gang_slots: (input) => ofGangs(input, ({ slots }) => slots),
  fairlead_topology_possible_gang_slots: (input) => ofGangs(input, ({ possibleSlots }) => possibleSlots),
  fairlead_topology_unusable_gpus: (input) => ofLevels(input, ({ unusableGpus }) => unusableGpus),
};

function levelsOf({ moment }: FamilyInput) {
  if (!moment?.analysis.snapshot.coverage.objects) return [];
  return moment.analysis.topology.pools.flatMap(({ pool, levels }) => levels.map((fit) => ({ pool, fit })));
}

function ofLevels(input: FamilyInput, of: (fit: LevelFit) => number | null) {
  return levelsOf(input).map(({ pool, fit }) => ({ labels: { pool, level: fit.level }, value: of(fit) }));
}

function ofGangs(input: FamilyInput, of: (gang: LevelFit["gangs"][number]) => number) {
  return levelsOf(input).flatMap(({ pool, fit }) =>
    fit.gangs.map((gang) => ({
      labels: { pool, level: fit.level, gang_gpus: gangSizeName(gang.gpus) },
      value: of(gang),
    })),
  );
}
