/**
 * Measures what 2,000 queues in five levels with 50,000 waiting workloads add to a cycle (finding what is in each queue,
 * entitlement, why everything waits, the schedulers' own numbers, lint), compared with parsing the DCGM pages of the same
 * 10,000 nodes. Every queue has a quota in eight flavors, the on-demand and the spot nodes of four models, and most of the
 * waiting work may go to either kind of nodes. With fewer nodes, there are fewer queues and less work in proportion.
 *
 *     node --expose-gc bench/queues.ts [--nodes=10000] [--samples=7]
 */
import { nodeLabels } from "../exporter/model/wellKnown.ts";
import { createFleet } from "./fleetState.ts";
import { compare, ratioByRounds } from "./measure.ts";
import { pagesPerRun, parseContender } from "./parsedPages.ts";
import { type Answer, ask, type QuestionOptions } from "./question.ts";
import { createQueueFleet, flavorsOf } from "./queueObjects.ts";
import { watcher } from "./queueWatcher.ts";

/** The amounts at full size; a smaller cluster has them in proportion. */
const full = { nodes: 10_000, queues: 2_000, waiting: 50_000 } as const;
/**
 * Guarantee of each queue in each flavor, per node of the cluster: in sum about four fifths of the GPUs that are not shared.
 */
const guaranteedPerNode = 1 / 1500;

async function question({ nodes, samples, progress }: QuestionOptions): Promise<Answer> {
  progress("making pages, nodes and queues");
  const products = [
    ...new Set(
      createFleet(nodes)
        .state()
        .nodes.map((node) => node.labels[nodeLabels.gpuProduct] ?? ""),
    ),
  ];
  const parse = parseContender();
  const share = nodes / full.nodes;
  const queueFleet = createQueueFleet(products, {
    queues: full.queues * share,
    waiting: full.waiting * share,
    nominal: guaranteedPerNode * full.nodes,
  });
  const plain = watcher("join and analyse", nodes, null);
  const queued = watcher("join and analyse with queues", nodes, queueFleet);
  progress("measuring");
  const taken = await compare([parse, plain, queued], { samples, warmUps: 3 });
  const cpuOf = (name: string): number => taken.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  const pagesMs = (cpuOf("parse") * nodes) / pagesPerRun;
  const queuesMs = cpuOf("join and analyse with queues") - cpuOf("join and analyse");
  const wallOf = (name: string): number => taken.find((one) => one.name === name)?.wallMs ?? Number.NaN;
  const queueing = queued.last()?.snapshot.queueing;
  const judged = queued.last()?.fairness.domains.filter((domain) => (domain?.pending ?? 0) > 0);
  if (judged?.length !== flavorsOf(products).length) throw new Error("not every domain was judged");
  const names = new Set(queueing?.queues.filter(({ kind }) => kind === "ClusterQueue").map(({ name }) => name));
  const figures = {
    clusterQueues: names.size,
    queueRecords: queueing?.queues.length ?? Number.NaN,
    waitingGangs: queueing?.gangs.length ?? Number.NaN,
    queuesMs,
    queuesWallMs: wallOf("join and analyse with queues") - wallOf("join and analyse"),
    parseAllPagesMs: pagesMs,
    ratioOfQueuesToParse: ratioByRounds(
      taken,
      (ms) => (ms("join and analyse with queues") - ms("join and analyse")) / ((ms("parse") * nodes) / pagesPerRun),
    ),
  };
  return { measurements: taken, figures, notes: [JSON.stringify(figures)] };
}

await ask("queues", question);
