import type { GpuModelName } from "../../../../simulator/gpuModels.ts";
import { createRandomStream, type RandomStream } from "../../../../simulator/random.ts";
import type { GpuRequest, Habit, NodeMode, NodeSpec, PlacedPod, Scenario } from "../../../../simulator/scenario.ts";
import { adviceScenario, lasting } from "../../../../simulator/scenarios/advice/parts.ts";
import { gpuNode, workloadOf } from "../../../../simulator/scenarios/parts.ts";
import { drawFault, laterFault, type PlannedFault } from "./nodeFaults.ts";
import { type PageKind, pageKinds } from "./pages.ts";
import { type ActivityShape, aloneShapes, gangShapes, partShapes } from "./shapes.ts";

/** A cluster and what is true of it, by what was drawn and not by what anybody finds. */
export interface MixedCluster {
  readonly scenario: Scenario;
  /** What each team does: every workload is of a team of its own. */
  readonly shapes: ReadonlyMap<string, ActivityShape>;
  /** What the page of each node shows. */
  readonly pages: ReadonlyMap<string, PageKind>;
  readonly faults: readonly PlannedFault[];
}

const wholeModels = ["H100", "H100", "A100", "V100M32", "T4", "L4"] as const satisfies readonly GpuModelName[];

/** How a GPU is shared or cut, and how many hold a part of it. */
const partModes: readonly [PartNode, ...PartNode[]] = [
  { mode: { kind: "time-slicing", replicas: 2, renamed: false }, holders: 2 },
  { mode: { kind: "time-slicing", replicas: 2, renamed: false }, holders: 1 },
  { mode: { kind: "mig-mixed", layouts: [["3g.40gb", "3g.40gb"]] }, holders: 2 },
];

interface PartNode {
  readonly mode: NodeMode;
  readonly holders: number;
}

/** Nodes with one pod on all of their GPUs, or two that share them. */
const aloneNodes = 8;
const gangNodes = 3;

/**
 * A mixed cluster: eight nodes with work of all shapes, three with a gang, one whose GPU is shared or cut, and one that nobody
 * holds; each with a page of any kind, and on four nodes something goes wrong. One seed always gives the same cluster.
 */
export function mixedCluster(seed: number): MixedCluster {
  const random = createRandomStream(seed ^ 0x2545f491);
  const drawing = { random, shapes: new Map<string, ActivityShape>(), pages: new Map<string, PageKind>() };
  const alone = Array.from({ length: aloneNodes }, (_, i) => drawAlone(drawing, `alone-${i}`));
  const gang = drawGang(drawing);
  const part = drawPart(drawing);
  const nodes = [...alone.map(({ node }) => node), ...gang.nodes, part.node, drawNode(drawing, "empty-0", "H100", 2)];
  const sick = new Set(Array.from({ length: 4 }, () => random.between(0, nodes.length - 1)));
  const faults = nodes.flatMap((node, i) => (sick.has(i) ? [drawFault(random, node)] : []));
  const scenario = adviceScenario(`mixed-${seed}`, {
    warmupSeconds: 0,
    nodes,
    namespaces: [...drawing.shapes.keys()].map((name) => ({ name, team: name })),
    placed: alone.flatMap(({ placed }) => placed),
    habits: [gang.habit, ...part.habits],
    laterFaults: faults.map(laterFault),
  });
  return { scenario, shapes: drawing.shapes, pages: drawing.pages, faults };
}

interface Drawing {
  readonly random: RandomStream;
  readonly shapes: Map<string, ActivityShape>;
  readonly pages: Map<string, PageKind>;
}

function drawNode(
  { random, pages }: Drawing,
  name: string,
  model: GpuModelName,
  gpus: number,
  mode: NodeMode = { kind: "whole" },
): NodeSpec {
  const page = random.pick<PageKind>(pageKinds);
  pages.set(name, page);
  return gpuNode(name, model, gpus, mode, { exporter: page.exporter });
}

/** One more workload of a shape, of a team of its own. */
function drawWork({ random, shapes }: Drawing, shape: ActivityShape, request: GpuRequest, model: GpuModelName) {
  const team = `team-${shapes.size + 1}`;
  shapes.set(team, shape);
  const { kind, activity, work, pods = 1 } = shape;
  return { team, workload: workloadOf(kind, team, pods, request, activity, { models: [model], ...work(random) }) };
}

function drawAlone(drawing: Drawing, name: string): { readonly node: NodeSpec; readonly placed: readonly PlacedPod[] } {
  const { random } = drawing;
  const model = random.pick(wholeModels);
  const node = drawNode(drawing, name, model, 4);
  const [first, ...others] = aloneShapes;
  const parts = random.pick([
    [[0, 1, 2, 3]],
    [
      [0, 1],
      [2, 3],
    ],
    [[0], [1, 2, 3]],
  ]);
  const placed = parts.map((physicalGpus): PlacedPod => {
    const shape = random.pick<ActivityShape>([first, ...others]);
    const request = { kind: "physicalGpus", count: physicalGpus.length } as const;
    const { team, workload } = drawWork(drawing, shape, request, model);
    return { name: `${team}-0`, workload, node: name, physicalGpus, ageSeconds: 0 };
  });
  return { node, placed };
}

function drawGang(drawing: Drawing): { readonly nodes: readonly NodeSpec[]; readonly habit: Habit } {
  // No other node has GPUs of this model.
  const model = "A30";
  const nodes = Array.from({ length: gangNodes }, (_, i) => drawNode(drawing, `gang-${i}`, model, 2));
  const shape = drawing.random.pick<ActivityShape>(gangShapes);
  const { team, workload } = drawWork(drawing, shape, { kind: "physicalGpus", count: 2 }, model);
  return { nodes, habit: lasting(team, workload, 1) };
}

function drawPart(drawing: Drawing): { readonly node: NodeSpec; readonly habits: readonly Habit[] } {
  const { random } = drawing;
  const { mode, holders } = random.pick(partModes);
  const node = drawNode(drawing, "part-0", "A100", 1, mode);
  const request: GpuRequest =
    mode.kind === "mig-mixed"
      ? { kind: "mig", profile: "3g.40gb", count: 1, strategy: "mig-mixed" }
      : { kind: "replicas", count: 1, strategy: "time-slicing", renamed: false };
  const habits = Array.from({ length: holders }, () => {
    const { team, workload } = drawWork(drawing, random.pick<ActivityShape>(partShapes), request, "A100");
    return lasting(team, { ...workload, models: [] }, 1);
  });
  return { node, habits };
}
