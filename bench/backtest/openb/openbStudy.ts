import { createRandomStream } from "../../../simulator/random.ts";
import type { Engine } from "../engine.ts";
import { estimate, rounded } from "../intervals.ts";
import { caseStudyOf } from "./caseStudy.ts";
import { type Descheduler, fragOnePod, highNodeUtilization } from "./deschedulers.ts";
import { drawTasks, type FilledCluster, fill } from "./fill.ts";
import { followAdvice, type Round } from "./followAdvice.ts";
import { type TypicalTask, typicalTasks } from "./fragmentation.ts";
import { type LiveCluster, liveCluster } from "./liveCluster.ts";
import type { OpenbResult } from "./openbResult.ts";
import type { OpenbTrace } from "./openbTrace.ts";
import { type Task, unallocatedGpus } from "./packing.ts";
import { placeAllKnown } from "./placeAllKnown.ts";
import { createPolicy, type Policy, type PolicyName, policyNames } from "./policies.ts";

/** How much is replayed. */
export interface OpenbOptions {
  readonly seeds: number;
  /** What is sent to the cluster, as a multiple of its GPUs. */
  readonly demand: number;
  readonly rounds: number;
  /** Seeds for which the paper's placement is also played with equals decided at random. */
  readonly anySeeds: number;
  /** Advice and deschedulers are played on every so many-th node, with as many of the jobs: they take much longer. */
  readonly everyNode: number;
  /** Moves that the deschedulers may make in their second row. */
  readonly moves: number;
  readonly engine: () => Engine;
  readonly progress: (text: string) => void;
}

const placements: readonly PolicyName[] = ["random", "best-fit", "fgd"];
const obediences = [0.2, 0.5, 1] as const;
/** Hours after which the outcome is looked at: the horizon of the advice. */
const horizonHours = 24;
/** Minutes from the moment that advice is shown until it is carried out. */
const delays = { soon: 5, late: 240 } as const;

/** The placement that knows all tasks before the first is placed. */
const knowsAll = "all tasks known, best fit";

/** What one approach came to on one seed. */
interface Outcome {
  readonly placement: PolicyName;
  readonly approach: string;
  readonly allocatedGpus: number;
  readonly gainedGpus: number;
  readonly offered: number;
  readonly moves: number;
  readonly displaced: number;
  readonly doneAgainGpuHours: number;
  readonly workSoonGpuHours: number;
  readonly workLateGpuHours: number;
  readonly waitingTasks: number;
  readonly idleNodeHours: number;
}

/** Replays the case study, the filled clusters and what can be done with them. The same options give the same result. */
export function openbStudy(trace: OpenbTrace, options: OpenbOptions): OpenbResult {
  const cut = cutTrace(trace, options.everyNode);
  return {
    trace: "openb",
    caseStudy: caseStudyOf(trace),
    capacityGpus: gpusOf(trace),
    nodes: trace.nodes.length,
    seeds: options.seeds,
    demand: options.demand,
    rounds: options.rounds,
    placements: placementsOf(trace, options),
    cut: { nodes: cut.nodes.length, capacityGpus: gpusOf(cut), everyNode: options.everyNode },
    rows: summed(movesOf(cut, options)),
  };
}

const gpusOf = ({ nodes }: OpenbTrace): number => nodes.reduce((sum, { gpus }) => sum + gpus, 0);

/** Every so many-th node and job of a trace. */
const cutTrace = ({ nodes, pods }: OpenbTrace, every: number): OpenbTrace => ({
  nodes: nodes.filter((_, i) => i % every === 0),
  pods: pods.filter((_, i) => i % every === 0),
});

/** What each placement allocates of the whole cluster. */
function placementsOf(
  trace: OpenbTrace,
  { seeds, anySeeds, demand, progress }: OpenbOptions,
): OpenbResult["placements"] {
  const typical = typicalTasks(trace.pods);
  const found = new Map<string, number[]>([...policyNames, knowsAll].map((name) => [name, []]));
  for (let seed = 1; seed <= seeds; seed++) {
    const tasks = drawTasks(trace, demand, createRandomStream(seed));
    for (const name of policyNames) {
      if (name === "fgd-any" && seed > anySeeds) continue;
      const policy = createPolicy(name, typical, createRandomStream(1000 + seed));
      found.get(name)?.push(gpusOf(trace) - unallocatedGpus(fill(trace, tasks, policy).packing));
    }
    found.get(knowsAll)?.push(gpusOf(trace) - unallocatedGpus(placeAllKnown(trace, tasks)));
    progress(`placements: seed ${seed} of ${seeds}`);
  }
  return [...found].map(([name, gpus]) => ({ name, seeds: gpus.length, allocatedGpus: estimate(gpus) }));
}

/** What advice and deschedulers come to, on each placement and seed. */
function movesOf(trace: OpenbTrace, options: OpenbOptions): readonly Outcome[] {
  const typical = typicalTasks(trace.pods);
  const outcomes: Outcome[] = [];
  for (let seed = 1; seed <= options.seeds; seed++) {
    const tasks = drawTasks(trace, options.demand, createRandomStream(seed));
    for (const placement of placements) {
      const policy = createPolicy(placement, typical, createRandomStream(1000 + seed));
      const filled = fill(trace, tasks, policy);
      outcomes.push(...ofSeed({ placement, tasks, filled, policy, capacity: gpusOf(trace), typical, seed }, options));
    }
    options.progress(`moves: seed ${seed} of ${options.seeds}`);
  }
  return outcomes;
}

interface Filled {
  readonly placement: PolicyName;
  readonly tasks: readonly Task[];
  readonly filled: FilledCluster;
  readonly policy: Policy;
  readonly capacity: number;
  readonly typical: readonly TypicalTask[];
  readonly seed: number;
}

function ofSeed(one: Filled, { rounds, moves, engine }: OpenbOptions): readonly Outcome[] {
  const outcomes: Outcome[] = [];
  const add = (approach: string, play: (cluster: LiveCluster) => readonly Round[]): Outcome => {
    const cluster = liveCluster(one.filled, one.tasks, one.policy);
    const outcome = outcomeOf(one, approach, cluster, play(cluster));
    outcomes.push(outcome);
    return outcome;
  };
  add("nothing", () => []);
  let fullyObeyed = 0;
  for (const obedience of obediences) {
    const followers = { obedience, seed: one.seed, rounds };
    const { moves: made } = add(`advice, ${obedience * 100} % followed`, (cluster) =>
      followAdvice(cluster, engine(), followers),
    );
    fullyObeyed = made;
  }
  const deschedulers: readonly (readonly [string, Descheduler])[] = [
    ["HighNodeUtilization", highNodeUtilization],
    ["fragOnePod", fragOnePod(one.typical)],
  ];
  for (const [name, descheduler] of deschedulers)
    for (const [words, most] of [
      ["as many moves", fullyObeyed],
      [`up to ${moves} moves`, moves],
    ] as const)
      add(`${name}, ${words}`, (cluster) => {
        const before = unallocatedGpus(cluster.packing);
        descheduler(cluster, most);
        return [{ offered: 0, carriedOut: 0, gainedGpus: before - unallocatedGpus(cluster.packing) }];
      });
  return outcomes;
}

function outcomeOf(
  { placement, capacity, filled }: Filled,
  approach: string,
  { packing, waiting, tally }: LiveCluster,
  rounds: readonly Round[],
): Outcome {
  const before = capacity - unallocatedGpus(filled.packing);
  const isAdvice = approach.startsWith("advice");
  const worked = (delayMinutes: number): number =>
    rounds.reduce((sum, { gainedGpus }, round) => {
      const from = isAdvice ? round + delayMinutes / 60 : 0;
      return sum + gainedGpus * (horizonHours - from);
    }, before * horizonHours) - tally.doneAgainGpuHours;
  return {
    placement,
    approach,
    allocatedGpus: capacity - unallocatedGpus(packing),
    gainedGpus: rounds.reduce((sum, { gainedGpus }) => sum + gainedGpus, 0),
    offered: rounds.reduce((sum, { offered }) => sum + offered, 0),
    moves: tally.moves,
    displaced: tally.displaced,
    doneAgainGpuHours: tally.doneAgainGpuHours,
    workSoonGpuHours: worked(delays.soon),
    workLateGpuHours: worked(delays.late),
    waitingTasks: waiting.filter(({ gpus }) => gpus > 0).length,
    idleNodeHours: packing.nodes.filter(({ tasks }) => tasks.size === 0).length * horizonHours,
  };
}

/** One row for each placement and approach, in the order in which they were played. */
function summed(outcomes: readonly Outcome[]): OpenbResult["rows"] {
  const groups = Map.groupBy(outcomes, ({ placement, approach }) => `${placement}|${approach}`);
  return [...groups.values()].map((group) => {
    const [first] = group;
    const mean = (of: (one: Outcome) => number): number => rounded(estimate(group.map(of)).mean);
    return {
      placement: first?.placement ?? "",
      approach: first?.approach ?? "",
      allocatedGpus: estimate(group.map((one) => one.allocatedGpus)),
      gainedGpus: estimate(group.map((one) => one.gainedGpus)),
      offered: mean((one) => one.offered),
      moves: mean((one) => one.moves),
      displaced: mean((one) => one.displaced),
      doneAgainGpuHours: mean((one) => one.doneAgainGpuHours),
      workSoonGpuHours: mean((one) => one.workSoonGpuHours),
      workLateGpuHours: mean((one) => one.workLateGpuHours),
      waitingTasks: mean((one) => one.waitingTasks),
      idleNodeHours: mean((one) => one.idleNodeHours),
    };
  });
}
