import type { PlayedCluster } from "../../cli/demo/playCluster.ts";
import { unassigned } from "../../exporter/join/teamOf.ts";
import type { Truth } from "../../simulator/truth.ts";

/** What really happened to a team's GPUs, GPU-seconds. */
export interface TeamTime {
  allocated: number;
  active: number;
  /** GPUs that were taken or given back: each may be counted one step late. */
  changedGpus: number;
}

/** The truth over time, added up in steps finer than the exporter's cycle, by nothing but the simulator's own words. */
export interface TrueTime {
  readonly teams: ReadonlyMap<string, TeamTime>;
  physicalGpuSeconds: number;
  seconds: number;
}

const fineSeconds = 10;

/**
 * Plays `cycles` cycles of `cycleSeconds`, and integrates what the simulator knows every ten seconds: what is so at the
 * begin of ten seconds is so until their end.
 */
export async function playAndIntegrate(
  cluster: PlayedCluster,
  cycles: number,
  cycleSeconds: number,
  afterEach: (cycle: number) => void,
): Promise<TrueTime> {
  const teams = new Map<string, TeamTime>();
  const time: TrueTime = { teams, physicalGpuSeconds: 0, seconds: 0 };
  let holders = new Map<string, { readonly team: string; readonly share: number }>();
  const look = (seconds: number): void => {
    const truth = cluster.simulator.truth();
    const now = holdersOf(truth);
    countChanges(teams, holders, now);
    holders = now;
    addUp(teams, truth, seconds);
    time.physicalGpuSeconds += seconds * truth.nodes.reduce((sum, node) => sum + node.physicalGpus, 0);
    time.seconds += seconds;
  };
  for (let cycle = 0; cycle < cycles; cycle++) {
    for (let at = fineSeconds; at < cycleSeconds; at += fineSeconds) {
      look(fineSeconds);
      cluster.simulator.advance(fineSeconds);
    }
    look(fineSeconds);
    await cluster.step(fineSeconds);
    afterEach(cycle);
  }
  return time;
}

function holdersOf(truth: Truth): Map<string, { readonly team: string; readonly share: number }> {
  const holders = new Map<string, { readonly team: string; readonly share: number }>();
  for (const physicalGpu of truth.physicalGpus) {
    for (const { namespace, pod, team, share } of physicalGpu.holders)
      holders.set(JSON.stringify([physicalGpu.uuid, namespace, pod]), { team: team ?? unassigned, share });
  }
  return holders;
}

type Holders = ReturnType<typeof holdersOf>;

function countChanges(teams: Map<string, TeamTime>, before: Holders, after: Holders): void {
  // The first look finds everything held: that is no change.
  if (before.size === 0) return;
  for (const [key, { team, share }] of after) if (!before.has(key)) timeOf(teams, team).changedGpus += share;
  for (const [key, { team, share }] of before) if (!after.has(key)) timeOf(teams, team).changedGpus += share;
}

function addUp(teams: Map<string, TeamTime>, truth: Truth, seconds: number): void {
  for (const { team, allocated, active } of truth.teams) {
    const time = timeOf(teams, team ?? unassigned);
    time.allocated += allocated * seconds;
    time.active += active * seconds;
  }
}

function timeOf(teams: Map<string, TeamTime>, team: string): TeamTime {
  const time = teams.get(team) ?? { allocated: 0, active: 0, changedGpus: 0 };
  teams.set(team, time);
  return time;
}
