import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { Advice } from "../../../exporter/model/recommendation.ts";
import { type GangSize, gangSizes } from "../../../exporter/model/topology.ts";

/** Sizes of gangs, in GPUs, whose slots are shown: racks of the demo have no more. */
export const shownSizes = [8, 16] as const satisfies readonly GangSize[];

/** The capacity of one rack for gangs. */
export interface RackSlots {
  readonly rack: string;
  readonly nodes: number;
  readonly wholeFreeNodes: number;
  /** Physical GPUs. */
  readonly freeGpus: number;
  /** Gangs of each of `shownSizes` that could start there now. */
  readonly slots: readonly number[];
}

/** A gang that waits because no rack takes all of it. */
export interface BlockedGang {
  /** `NAMESPACE/NAME`. */
  readonly name: string;
  readonly gpus: number | null;
  readonly ageSeconds: number | null;
  /** The level within one of whose domains it must be; `null` if it is not known. */
  readonly level: string | null;
  /** Titles of open advice for it. */
  readonly advice: readonly string[];
}

/** The slots of the racks by the level of the topology with this name, and the gangs that wait for one. */
export interface RackView {
  readonly level: string;
  readonly racks: readonly RackSlots[];
  readonly blocked: readonly BlockedGang[];
}

/** What the racks have for gangs at one moment. Pure. */
export function rackView({ topology, waiting, snapshot }: Analysis, advice: Advice, level: string): RackView {
  const racks = topology.pools.flatMap(({ levels }) =>
    levels
      .filter(({ level: name }) => name === level)
      .flatMap(({ domains }) =>
        domains.map(({ domain, nodes, wholeFreeNodes, freeGpus, slots }): RackSlots => {
          const shown = shownSizes.map((size) => slots[gangSizes.indexOf(size)] ?? 0);
          return { rack: domain, nodes, wholeFreeNodes, freeGpus, slots: shown };
        }),
      ),
  );
  const blocked = waiting.work.flatMap(({ gang: index, cause, ageSeconds, blockingLevel }): readonly BlockedGang[] => {
    const gang = snapshot.queueing.gangs[index];
    if (gang === undefined || cause !== "topology") return [];
    const name = `${gang.namespace}/${gang.name}`;
    const own = advice.recommendations.filter(
      ({ state, beneficiary }) => state === "open" && beneficiary.name === name,
    );
    return [{ name, gpus: gang.gpus, ageSeconds, level: blockingLevel ?? null, advice: own.map(({ title }) => title) }];
  });
  return { level, racks, blocked };
}
