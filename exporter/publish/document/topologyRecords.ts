import { z } from "zod";
import type { Analysis } from "../../analysis/analysis.ts";
import type { DomainFit, LevelFit } from "../../analysis/topology/topology.ts";
import { topologySources } from "../../model/topology.ts";
import { gpus } from "./schemaParts.ts";

/** The greatest number of domains of a level that are listed: those with the most free GPUs. */
const listedDomains = 1000;

const slots = z.number().int();

/** How often gangs fit into the domains of one level. */
export const topologyLevel = z
  .strictObject({
    level: z.string().describe("The configured name, the node label, or the tier of HyperNodes."),
    source: z.enum(topologySources),
    domainCount: z.number().int().describe("Domains with nodes of the pool."),
    freeDomains: z.number().int().describe("Domains in which all nodes of the pool are wholly free."),
    nodesOutside: z.number().int().describe("Nodes in no domain of the level, because they lack a label of it."),
    freeGpusOutside: gpus.describe("What is free on them, parts of GPUs included."),
    freeGpus: gpus.describe("What is free in the domains, parts of GPUs included."),
    unusableGpus: gpus
      .nullable()
      .describe("What of it gangs are expected not to be able to use; null: no empty domain could take any gang."),
    gangs: z
      .array(
        z.strictObject({
          gpus: z.number().int().describe("GPUs of the whole gang."),
          gpusPerPod: z.number().int(),
          pods: z.number().int(),
          slots: slots.describe("Gangs that could start now side by side, each within one domain."),
          possibleSlots: slots.describe("The same if every node were empty and ready."),
        }),
      )
      .describe("For gangs of several sizes."),
    domains: z
      .array(
        z.strictObject({
          domain: z.string(),
          nodes: z.number().int(),
          wholeFreeNodes: z.number().int(),
          freeGpus: gpus,
          slots: z.array(slots).describe("Gangs that could start in this domain, parallel to `gangs`."),
        }),
      )
      .describe(`Ordered by name; at most ${listedDomains}, those with the most free GPUs.`),
  })
  .meta({ id: "TopologyLevel", description: "How often gangs fit into the domains of a level of the topology." });

type TopologyLevelRecord = z.infer<typeof topologyLevel>;

/** The levels of each pool; a pool without any is absent, and so are all where objects were not read. */
export function topologyRecords({
  topology,
  snapshot,
}: Pick<Analysis, "topology" | "snapshot">): ReadonlyMap<
  string,
  { readonly topology: readonly TopologyLevelRecord[] }
> {
  if (!snapshot.coverage.objects) return new Map();
  return new Map(topology.pools.map(({ pool, levels }) => [pool, { topology: levels.map(levelRecord) }]));
}

function levelRecord({ domains, gangs, ...level }: LevelFit): TopologyLevelRecord {
  return {
    ...level,
    domainCount: domains.length,
    gangs: gangs.map((gang) => ({ ...gang })),
    domains: listed(domains).map((domain) => ({ ...domain, slots: [...domain.slots] })),
  };
}

function listed(domains: readonly DomainFit[]): readonly DomainFit[] {
  if (domains.length <= listedDomains) return domains;
  const kept = new Set([...domains].sort((a, b) => b.freeGpus - a.freeGpus).slice(0, listedDomains));
  return domains.filter((domain) => kept.has(domain));
}
