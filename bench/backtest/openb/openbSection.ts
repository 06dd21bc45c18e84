import { figure, markdownTable, percent, ranged } from "../markdown.ts";
import { barPlot } from "../svg.ts";
import type { OpenbResult } from "./openbResult.ts";

/** The section of docs/backtest.md about openb. Pure. */
export function openbSection(result: OpenbResult): string {
  const { caseStudy, capacityGpus, seeds, rounds, rows, placements, cut, demand } = result;
  const counts = markdownTable(["count", "paper", "here"], 1, [
    ["jobs", "8,152", figure(caseStudy.jobs)],
    ["jobs with GPUs", "7,064", figure(caseStudy.withGpu)],
    ["of these running", "4,149", figure(caseStudy.runningWithGpu)],
    ["GPUs allocated", "54.3 %", percent(caseStudy.allocatedMilli / caseStudy.capacityMilli)],
    ["jobs with GPUs that wait", "861", figure(caseStudy.pendingWithGpu)],
    ["of all with GPUs", "12.19 %", percent(caseStudy.pendingWithGpu / caseStudy.withGpu, 2)],
  ]);
  const published = new Map([
    ["random", "87.47 %"],
    ["fgd", "95.39 %"],
  ]);
  const placed = markdownTable(
    ["placement", "seeds", "GPUs allocated", "of all", "paper (10 seeds)"],
    1,
    placements.map(({ name, seeds: of, allocatedGpus }) => [
      placementWords.get(name) ?? name,
      of,
      ranged(allocatedGpus, 0),
      percent(allocatedGpus.mean / capacityGpus, 2),
      published.get(name) ?? "–",
    ]),
  );
  const moved = markdownTable(
    [
      "placement",
      "what is done",
      "GPUs allocated",
      "gained",
      "offered",
      "moves",
      "left without a place",
      "work done again, GPU-hours",
      "completed in 24 h, GPU-hours",
      "carried out 4 h later",
      "still wait after 24 h",
      "idle node-hours",
    ],
    2,
    rows.map((row) => [
      row.placement,
      row.approach,
      ranged(row.allocatedGpus, 1),
      ranged(row.gainedGpus, 2),
      row.approach.startsWith("advice") ? figure(row.offered, 1) : "–",
      figure(row.moves, 1),
      figure(row.displaced, 1),
      figure(row.doneAgainGpuHours, 1),
      figure(row.workSoonGpuHours, 1),
      figure(row.workLateGpuHours, 1),
      figure(row.waitingTasks),
      figure(row.idleNodeHours),
    ]),
  );
  return `## openb: advice to move pods in a cluster that is too full

Trace: Alibaba's cluster of the FGD paper (Weng et al., "Beware of Fragmentation", USENIX ATC 2023): ${figure(result.nodes)} nodes, ${figure(capacityGpus)} GPUs.

    npm run backtest -- openb DIR

### The counts of the paper

${counts}

### Filled to ${percent(demand, 0)}

As in the paper, all jobs of the trace and further ones drawn from it are sent in a random order until they ask for ${percent(demand, 0)} of the GPUs; each is
placed once, and whoever finds no place waits. ± is half of the 95 % interval.

${placed}

- **The placement decides far more than any moves after it** (below).
- **The paper's placement depends on how equals are decided.** Its scores are whole numbers from 0 to 100, so that many nodes are equal. With the first of the list
  the published figure is found again, but for a tenth of a percent (seeds, order and ties are not those of the paper); with a random one of them, as kube-scheduler chooses, it allocates less than best fit.
- *All tasks known* places the largest first, and among equals those with the least CPU for their GPUs. It knows what comes and is no bound all the same: the paper's placement is better.

### Moves on top

On top of each placement: nothing; our \`defragment\` advice, looked at once an hour for ${rounds} hours and carried out request by request; and two published deschedulers, at the same
number of moves as the advice that is fully followed, and with moves of their own. The engine searches for seconds in each look at a cluster this full, so this part has every ${cut.everyNode}th node and job of the
trace (${figure(cut.nodes)} nodes, ${figure(cut.capacityGpus)} GPUs) to end in time, and all ${seeds} seeds.

${moved}

![GPUs gained by moves](images/backtest-openb.svg)

- **Our advice gains next to nothing here, and nothing to speak of on top of a good placement.** It looks for at most five moves that let one waiting workload start, with a bounded number of tries, and in
  a cluster where each free GPU lacks CPU or is a remnant there is hardly ever such a plan within these tries. What it offers is cheap: at the same number of moves it gains no less than either descheduler.
- \`fragOnePod\` moves one job of every badly fragmented node and asks for nobody in particular. With moves of its own it gains many times as much, for work done again that is small beside the gain. That is a lead for our advice, which has no such kind.
- \`HighNodeUtilization\` finds next to nothing: at this demand hardly any node is less than half allocated.

What it does not show:

- **Times.** By its timestamps the trace never runs more than 66 GPUs at once, so work is sent without times and nothing ends: job time and p95 wait have no meaning here (more than one in twenty still
  waits after the day in every row). *Completed* is what runs in the 24 hours after the cluster was filled, less the work done again.
- **Money**: most models are undisclosed and have no price. Nodes do not go away; none is ever idle where the figure is 0.
- **What a move really costs.** Best-effort work (\`BE\`) is taken to repeat everything since its start, at a random moment of the time its row ran; latency-sensitive work (\`LS\`) and every restart
  cost ten minutes. The trace has no checkpoints.
- **Owners.** Each job is taken for a pod with a ReplicaSet of its own that may be moved; parts of a GPU for fractions of KAI. Gangs, budgets, queues and priorities are not in the trace.
- **Advice that a person does not follow** is dismissed. Whether it is followed is drawn by its id.
`;
}

/** What placements are called. */
const placementWords: ReadonlyMap<string, string> = new Map([
  ["fgd", "fgd (the paper's own)"],
  ["fgd-any", "fgd, equals decided at random"],
]);

/** The picture of the section. Pure. */
export const openbPlot = ({ rows, cut, seeds }: OpenbResult): string =>
  barPlot(
    `openb at 130 %, ${figure(cut.capacityGpus)} GPUs: GPUs gained by moves (${seeds} seeds, 95 % intervals)`,
    rows
      .filter(({ approach }) => approach !== "nothing" && !approach.includes("20 %") && !approach.includes("50 %"))
      .map(({ placement, approach, gainedGpus: { mean, half } }) => ({
        name: `${placement}: ${approach}`,
        value: mean,
        half,
      })),
    0,
    (value) => figure(value, 2),
  );
