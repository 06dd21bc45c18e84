import type { Analysis } from "../../analysis/analysis.ts";
import { couldTake } from "../../analysis/freeCapacity/nodeRules.ts";
import type { NodeView } from "../../join/snapshot.ts";
import { compareText } from "../../kernel/compareText.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceStep } from "../../model/recommendation.ts";
import { gpuResources, nodeLabels } from "../../model/wellKnown.ts";
import { type Candidate, type Found, foundOf, withhold } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import { momentOrder } from "../momentOrder.ts";
import { unusedSince } from "../savedMoney.ts";
import { cordonStep, labelNode, uncordonStep } from "../steps/nodeSteps.ts";
import { changeRequest } from "../steps/requestSteps.ts";
import { askRelease } from "./ownGpus.ts";
import { type SmallUser, shareQuestion } from "./smallUsers.ts";
import { waitsForNodes } from "./waitsForNodes.ts";
import { countWords, gpuWords, percentWords } from "./words.ts";

/** A node is partitioned only for at least this many users. */
const fewestUsers = 3;

/** Labels of NVIDIA's GPU Operator: its MIG Manager runs on the node and partitions its GPUs as the label `mig.config` asks. */
const migLabels = {
  config: "nvidia.com/mig.config",
  capable: "nvidia.com/mig.capable",
  manager: "nvidia.com/gpu.deploy.mig-manager",
} as const;

/** How the MIG Manager partitions all GPUs of a node. */
interface Cut {
  /** Value of the label: a key of `mig-configs` in the operator's own `default-mig-parted-config`. */
  readonly config: string;
  readonly profile: string;
  readonly perGpu: number;
  readonly memoryBytes: number;
}

const gibibyte = 1024 ** 3;
const cut = (profile: string, perGpu: number, gigabytes: number): Cut => ({
  config: `all-${profile}`,
  profile,
  perGpu,
  memoryBytes: gigabytes * gibibyte,
});

/** Canonical models and their smallest instances (NVIDIA/mig-parted, config-default.yaml); others are left alone. */
const cuts: readonly (readonly [model: RegExp, cut: Cut])[] = [
  [/^(?:A100|H100)(?:-[A-Z0-9]+)?-80GB/, cut("1g.10gb", 7, 10)],
  [/^A100(?:-[A-Z0-9]+)?-40GB/, cut("1g.5gb", 7, 5)],
  [/^A30\b/, cut("1g.6gb", 4, 6)],
];

/**
 * Plans to partition one wholly free node of a pool for small users that have no shared devices to move to, if they give back
 * more GPUs than the node has and nothing waits that could use the node as it is.
 */
export function partitionNode(moment: AdviceMoment, users: readonly SmallUser[]): Found {
  const byPool = [...Map.groupBy(users, ({ pool }) => pool)].sort(([a], [b]) => compareText(a, b));
  const made = byPool.map(([pool, own]) => {
    const found = partitionFor(moment, pool, own);
    if (typeof found !== "string") return found;
    const what = `${countWords(own.length, "workload")} with whole GPUs use at most a quarter of them, and no shared device is free for them`;
    return withhold("share_gpu")(pool, "no-plan", `${what}: ${found}`);
  });
  return foundOf(made);
}

function partitionFor(moment: AdviceMoment, pool: string, users: readonly SmallUser[]): Candidate | string {
  const { analysis, settings } = moment;
  if (users.length < fewestUsers) return `they are fewer than ${fewestUsers}`;
  const found = cuts.find(([model]) => users.every((user) => model.test(user.model)))?.[1];
  if (found === undefined) return "how its GPUs are cut into MIG instances is not known for this model";
  const fitting = users.filter(
    ({ usage, memoryBytes }) => usage.peakActivity <= 1 / found.perGpu && memoryBytes <= found.memoryBytes,
  );
  const free = freeNodes(analysis, pool);
  const [node] = free;
  if (node === undefined)
    return "no node of the pool is wholly free, run by the GPU Operator's MIG Manager and set to strategy mixed: nothing may run on the GPUs while they are cut";
  const index = analysis.snapshot.nodes.indexOf(node);
  const physicalGpus = node.physicalGpus ?? 0;
  const chosen: { readonly user: SmallUser; readonly steps: readonly AdviceStep[] }[] = [];
  let pods = 0;
  for (const user of fitting) {
    if (chosen.length >= settings.maxMoves || pods + user.allocated.length > physicalGpus * found.perGpu) continue;
    // The node's labels and taints must admit the user: they do not change, except for the labels of the GPUs.
    if (!couldTake(node, user.needs) || askRelease(moment, user.allocated).vetoes.length > 0) continue;
    const resource = `${gpuResources.nvidiaMigPrefix}${found.profile}`;
    const changed = changeRequest(moment, user.index, { resource, amount: 1 });
    if (!changed.ok) continue;
    chosen.push({ user, steps: changed.steps });
    pods += user.allocated.length;
  }
  if (chosen.length < fewestUsers || pods <= physicalGpus)
    return `the ${countWords(physicalGpus, "GPU")} of ${node.name} cut into ${found.profile} would serve ${countWords(chosen.length, "workload")} of them with ${countWords(pods, "pod")} within ${settings.maxMoves} moves, which gives back no more GPUs than it takes`;
  const waits = waitsForNodes(analysis, [node]);
  if (waits !== null) return `${waits} waits and could use ${node.name} as it is`;
  const labelled = labelNode(moment, index, migLabels.config, found.config);
  const [cordon, uncordon] = [cordonStep(node, " while its GPUs are cut"), uncordonStep(node)];
  if (!labelled.ok) return labelled.reason;
  if (cordon === null || uncordon === null) return "its name is none that an object of Kubernetes can have";
  const cutting = labelled.steps.map((step) => ({
    ...step,
    precondition: `${step.precondition} No pod holds a GPU of it: cutting a GPU ends whatever runs on it.`,
    waitFor: `Label ${nodeLabels.migConfigState} of node ${node.name} says success, and it offers ${gpuResources.nvidiaMigPrefix}${found.profile}.`,
  }));
  const steps = [cordon, ...cutting, uncordon, ...chosen.flatMap((one) => one.steps)];
  return candidateOf(
    pool,
    node,
    found,
    chosen.map(({ user }) => user),
    steps,
    analysis.snapshot.at,
  );
}

/** Wholly free nodes of one pool that a label can partition, those with the fewest GPUs first. */
function freeNodes(analysis: Analysis, pool: string): readonly NodeView[] {
  const { snapshot, freeCapacities, idleNodes } = analysis;
  const byNode = momentOrder(analysis).nodes;
  const { nodeOf } = momentIndex(analysis);
  const indexOf = ({ name }: NodeView): number => nodeOf(name) ?? -1;
  return snapshot.nodes
    .filter((node, i) => {
      const [freeCapacity, ...others] = freeCapacities.byNode[i] ?? [];
      if (freeCapacity === undefined || others.length > 0 || freeCapacity.pool !== pool || idleNodes.warm.has(i))
        return false;
      const { labels } = node;
      const isCut = labels[migLabels.capable] === "true" && labels[migLabels.manager] === "true";
      if (!isCut || labels[nodeLabels.migStrategy] !== "mixed") return false;
      if (node.ready !== true || node.schedulable !== true || node.physicalGpus !== freeCapacity.wholeGpus)
        return false;
      const isQuiet = node.devices.every((index) => snapshot.devices[index]?.activeUnallocatedAt === null);
      return isQuiet && freeCapacity.isWhollyFree && freeCapacity.hasOnlyWholeGpus && freeCapacity.wholeGpus > 0;
    })
    .sort((a, b) => (a.physicalGpus ?? 0) - (b.physicalGpus ?? 0) || byNode(indexOf(a), indexOf(b)));
}

function candidateOf(
  pool: string,
  node: NodeView,
  { profile, perGpu, config }: Cut,
  users: readonly SmallUser[],
  steps: readonly AdviceStep[],
  at: number,
): Candidate {
  const allocated = users.flatMap((user) => user.allocated);
  const physicalGpus = node.physicalGpus ?? 0;
  const back = allocated.length - physicalGpus;
  const unit = 1 / perGpu;
  const names = users.map(({ workload }) => fullName(workload));
  const teams = new Set(users.map(({ workload }) => workload.team));
  const [team = ""] = teams;
  const peak = Math.max(...users.map(({ usage }) => usage.peakActivity));
  const byNode = new Map<string, number>();
  // Only what is given back beyond the GPUs of the node itself counts as unused.
  for (const one of allocated) byNode.set(one.node, (byNode.get(one.node) ?? 0) + back / allocated.length);
  return {
    kind: "share_gpu",
    beneficiary: { kind: "pool", name: pool },
    targets: [`Node ${node.name}`],
    title: `cut the ${countWords(physicalGpus, "GPU")} of ${node.name} into ${profile} for ${nameWords(names)}: ${countWords(back, "whole GPU")} (${pool}) more ${back === 1 ? "is" : "are"} free then`,
    reason: `${countWords(allocated.length, "pod")} of ${nameWords(names)} hold a whole ${pool} each and use at most ${percentWords(peak)} of it; an instance ${profile} is ${percentWords(unit)}. Nobody holds a GPU of ${node.name}, and nothing waits that could use it. Cut into ${physicalGpus * perGpu} instances it serves all of them, and ${countWords(back, "GPU")} more than it has come free.`,
    evidence: [
      { name: "busiest GPU at its peak", value: percentWords(peak) },
      { name: "instances", value: `${physicalGpus * perGpu} x ${profile}` },
      { name: "GPUs that come free", value: gpuWords(allocated.length) },
      { name: "GPUs that are cut", value: gpuWords(physicalGpus) },
    ],
    fromTeam: teams.size === 1 ? team : "",
    forTeam: "",
    queue: "",
    pool,
    plan: {
      changes: users.map(({ index }) => ({ kind: "shrink", workload: index, gpusPerPod: unit })),
      starts: [],
    },
    steps,
    questions: users.map((user) =>
      shareQuestion(user, { resource: `${gpuResources.nvidiaMigPrefix}${profile}`, unit }, at),
    ),
    disrupted: allocated.map(({ index }) => index),
    gainedGpus: ({ released }) => users.reduce((sum, { index }) => sum + (released.get(index) ?? 0), 0),
    usedUpGpus: physicalGpus,
    unused: unusedSince(byNode, Math.max(...users.map(({ usage }) => usage.since))),
    confidence: {
      level: "low",
      reasons: [
        `${config} must be in the configuration of the MIG Manager (it is in the one that comes with it)`,
        "whether the programs run on an instance of that size, only a trial shows: move one of them first",
        "the label all-disabled makes whole GPUs of them again",
      ],
    },
    guards: ["known", "owner", "node-wholly-free", "waiting-work", "warm-pool"],
    blockedAlternatives: [],
    signs: users.map(({ workload }) => ({
      kind: "request-changed",
      workload: `${workload.kind}/${workload.namespace}/${workload.name}`,
      gpusPerPod: unit,
    })),
    measuredBy: {
      kind: "work-released",
      work: users.map(({ workload }) => `${workload.kind}/${workload.namespace}/${workload.name}`),
      gpus: allocated.length,
    },
  };
}
