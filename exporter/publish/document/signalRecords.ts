import type { Analysis } from "../../analysis/analysis.ts";
import type { PoolSignals } from "../../analysis/signals/measureSignals.ts";
import { noWork, workRatios } from "../../analysis/signals/workSums.ts";
import type { PoolRecord, TeamRecord } from "./schema.ts";

/** The signals of a pool: what is reported by no GPU is left out. A pool without devices reports nothing. */
export function signalRecord(signals: PoolSignals | undefined): PoolRecord["signals"] {
  return {
    reported: aboveZero(signals?.reported ?? {}),
    ...workRatios(signals?.work ?? noWork()),
    stallUnknown: aboveZero(signals?.stallUnknown ?? {}),
  };
}

/** How hard the GPUs of each team work, by pool. */
export function workRecords({ signals }: Analysis): ReadonlyMap<string, TeamRecord["work"]> {
  return new Map(
    [...Map.groupBy(signals.teams, ({ team }) => team)].map(([team, pools]) => [
      team,
      pools.map(({ pool, work }) => ({ pool, ...workRatios(work) })),
    ]),
  );
}

function aboveZero<Name extends string>(
  amounts: Readonly<Partial<Record<Name, number>>>,
): Partial<Record<Name, number>> {
  const kept: Partial<Record<Name, number>> = {};
  for (const name in amounts) if ((amounts[name] ?? 0) > 1e-9) kept[name] = amounts[name];
  return kept;
}
