import { findSickGpus, type SickGpu } from "../../analysis/health/findSickGpus.ts";
import type { NodeView } from "../../join/snapshot.ts";
import { compareText } from "../../kernel/compareText.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import { causeNames } from "../../model/causeNames.ts";
import { adviceCost } from "../adviceCost.ts";
import {
  type Candidate,
  candidatesPerKind,
  type FindAdvice,
  foundOf,
  type MadeCandidate,
  nothingFound,
  withheldPerKind,
  withhold,
} from "../candidate.ts";
import { decideAct } from "../decideAct.ts";
import { askGuards } from "../guards/guards.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex } from "../momentIndex.ts";
import { remakes } from "../steps/moveSteps.ts";
import { cordonStep } from "../steps/nodeSteps.ts";
import { allSteps } from "../steps/step.ts";
import { evictionStep } from "../steps/workloadSteps.ts";
import { lossWords } from "./idleTexts.ts";
import { type AllocatedPod, leftSignOf, ofWorkload, ownGpus } from "./ownGpus.ts";
import { costWords, countWords, gpuWords } from "./words.ts";

/** A GPU that must be drained, and the pods that hold it. */
interface SickPlace extends SickGpu {
  readonly uuid: string;
  readonly holders: readonly AllocatedPod[];
  /** Whether the API has taken the GPU out, so that nothing can run on it. */
  readonly isTakenOut: boolean;
}

/** A node with GPUs that must be drained. */
interface SickNode {
  readonly node: NodeView;
  readonly gpus: readonly SickPlace[];
  /**
   * `first`: pods that hold one of these GPUs; `evicted`: those of them that may be evicted; `others`: the other pods that hold
   * GPUs of the node.
   */
  readonly first: readonly AllocatedPod[];
  readonly evicted: readonly AllocatedPod[];
  readonly others: readonly AllocatedPod[];
}

/**
 * Finds nodes with a GPU whose fault ends or corrupts the work on it (tier `drain` of the GPUs that need care): the advice is
 * to cordon the node, so that it becomes empty and the GPU can be reset or replaced, and to evict from that GPU the pods that
 * serve requests. Where work would be lost, its owner is asked to restart it elsewhere. Pods on other GPUs of the node may end
 * by themselves. The nodes with the most GPUs that must be drained come first.
 */
export const findDrainNode: FindAdvice = (moment) => {
  const sick = findSickGpus(moment.analysis.snapshot).filter(({ tier }) => tier === "drain");
  if (sick.length === 0) return nothingFound;
  const made = sickNodes(moment, sick).flatMap((one) => [nodeCandidate(moment, one), ...ownerCandidates(moment, one)]);
  const { candidates, withheld } = foundOf(made, withheldPerKind);
  return { candidates: candidates.slice(0, candidatesPerKind), withheld };
};

function sickNodes(moment: AdviceMoment, sick: readonly SickGpu[]): readonly SickNode[] {
  const { analysis } = moment;
  const index = momentIndex(analysis);
  const nodes = [...Map.groupBy(sick, ({ node }) => node)].flatMap(([name, gpus]): SickNode[] => {
    const node = index.node(name);
    if (node === undefined) return [];
    // A GPU that nothing identifies could be any GPU of the node.
    const places = gpus.flatMap((gpu) => (gpu.uuid === null ? [] : placeOf(analysis, node, gpu, gpu.uuid)));
    const all = podsAt(analysis, node, () => true);
    const holding = new Set(places.flatMap(({ holders }) => holders.map(({ index: pod }) => pod)));
    const first = all.filter((one) => holding.has(one.index));
    const others = all.filter((one) => !holding.has(one.index));
    if (places.length === 0) return [];
    return [{ node, gpus: places, first, evicted: evictedFirst(moment, places, first), others }];
  });
  return nodes.sort((a, b) => amountOf(b) - amountOf(a) || compareText(a.node.name, b.node.name));
}

const amountOf = ({ gpus }: SickNode): number => gpus.reduce((sum, one) => sum + one.gpus, 0);

function placeOf(analysis: AdviceMoment["analysis"], node: NodeView, gpu: SickGpu, uuid: string): SickPlace {
  const { devices } = analysis.snapshot;
  const isTakenOut = node.devices.some((index) => devices[index]?.uuid === uuid && devices[index]?.unhealthy === true);
  return { ...gpu, uuid, isTakenOut, holders: podsAt(analysis, node, (other) => other === uuid) };
}

/** The pods that are known to hold those GPUs of a node that are meant, in the order of its devices. */
function podsAt(
  { snapshot }: AdviceMoment["analysis"],
  node: NodeView,
  isMeant: (uuid: string | null) => boolean,
): readonly AllocatedPod[] {
  const found = new Map<number, AllocatedPod>();
  for (const place of node.devices) {
    const device = snapshot.devices[place];
    if (device === undefined || !isMeant(device.uuid)) continue;
    for (const { pod: index, estimated, isSplitAlone } of device.holders) {
      const pod = snapshot.pods[index];
      if (pod === undefined || pod.uid === null || pod.node === null) continue;
      if (estimated && isSplitAlone !== true) continue;
      found.set(index, { index, pod, uid: pod.uid, node: pod.node });
    }
  }
  return [...found.values()];
}

/** Advice to cordon a node, and to evict the pods that lose nothing but a restart. */
function nodeCandidate(moment: AdviceMoment, sick: SickNode): MadeCandidate {
  const { node, gpus, first, evicted, others } = sick;
  const none = withhold("drain_node");
  if (node.schedulable === null) return none(node.name, "no-plan", "it is known from telemetry alone");
  if (node.schedulable === false)
    return none(node.name, "no-plan", "it is cordoned: what is left is to empty it and to reset or replace its GPU");
  const steps = allSteps([
    cordonStep(node, ", so that it comes empty and its GPU can be reset or replaced"),
    ...evicted.map(({ pod }) =>
      evictionStep(pod, {
        title: `Evict pod ${fullName(pod)}: nothing can run on its GPU`,
        waitFor: `A new pod of ${pod.owner?.kind} ${pod.owner?.name} runs on another node, or waits for one.`,
      }),
    ),
  ]);
  if (!steps.ok) return none(node.name, "no-plan", steps.reason);
  const amount = amountOf(sick);
  const disrupted = evicted.map(({ index }) => index);
  const asked = askedOf(sick);
  const pool = node.pools.length === 1 ? (node.pools[0] ?? "") : "";
  const lost = adviceCost(moment, { disrupted: [...asked, ...others].map(({ index }) => index) });
  return {
    kind: "drain_node",
    beneficiary: { kind: "node", name: node.name },
    targets: [`Node ${node.name}`, ...evicted.map(({ pod }) => `Pod ${fullName(pod)}`)],
    title: `drain node ${node.name}: ${causesOf(gpus)} on ${gpuWords(amount)} of its ${gpuWords(node.physicalGpus ?? 0)} ${pool || "GPUs"}`,
    reason: `${gpus.map(({ uuid, cause }) => `${uuid} of node ${node.name} has a fault: ${causeNames[cause]}.`).join(" ")} Work on it fails or is corrupted until it is reset or replaced, and for that the node must be empty.${firstWords(evicted, asked)}${othersWords(others)}`,
    evidence: [
      ...gpus.map(({ uuid, cause }) => ({ name: "GPU", value: `${uuid}: ${causeNames[cause]}` })),
      { name: "pods to move first", value: first.length === 0 ? "none" : namesOf(first) },
      { name: "other pods with GPUs of the node", value: others.length === 0 ? "none" : namesOf(others) },
      { name: "lost if these are stopped now instead", value: lossWords(lost) },
    ],
    fromTeam: "",
    forTeam: "",
    queue: "",
    pool,
    plan: { changes: [], starts: [] },
    steps: steps.steps,
    disrupted,
    gainedGpus: () => amount,
    confidence: {
      level: "high",
      reasons: ["the API has taken the GPU out, or its memory cannot be repaired: it does not heal by itself"],
    },
    guards: ["node-ready", ...(evicted.length === 0 ? [] : ["disruption-budget"])],
    blockedAlternatives: asked.length === 0 ? [] : [`work would be lost with ${namesOf(asked)}: its owner is asked`],
    signs: [{ kind: "nodes-left", nodes: [node.name] }],
    measuredBy: {
      kind: "gpus-drained",
      node: node.name,
      gpus: gpus.map((gpu) => ({ uuid: gpu.uuid, gpus: gpu.gpus })),
    },
  };
}

/**
 * The pods that are evicted: those that serve requests on a GPU that is taken out, whose controllers replace them, and that may
 * all be evicted together.
 */
function evictedFirst(
  moment: AdviceMoment,
  gpus: readonly SickPlace[],
  first: readonly AllocatedPod[],
): readonly AllocatedPod[] {
  const stopped = new Set(
    gpus.flatMap(({ isTakenOut, holders }) => (isTakenOut ? holders.map(({ index }) => index) : [])),
  );
  const evicted: AllocatedPod[] = [];
  for (const one of first) {
    const { pod, index } = one;
    const isServing = pod.workloadClass === "serving" && pod.classGuess === undefined && pod.gang === null;
    if (!stopped.has(index) || !isServing || !remakes.has(pod.owner?.kind ?? "")) continue;
    const pods = [...evicted, one].map((each) => each.index);
    const { vetoes } = askGuards(moment, { pods, how: "move", beneficiary: null });
    if (vetoes.length === 0 && evicted.length < moment.settings.maxMoves) evicted.push(one);
  }
  return evicted;
}

/** Pods whose owners decide when they leave. */
const askedOf = ({ first, evicted }: SickNode): readonly AllocatedPod[] =>
  first.filter((one) => !evicted.includes(one));

/** A question to the owner of each workload that would lose work. */
function ownerCandidates(moment: AdviceMoment, sick: SickNode): readonly Candidate[] {
  return [...Map.groupBy(askedOf(sick), ({ pod }) => pod.workload).values()].flatMap((pods) =>
    ownerCandidate(moment, sick, pods),
  );
}

function ownerCandidate(moment: AdviceMoment, sick: SickNode, pods: readonly AllocatedPod[]): readonly Candidate[] {
  const { analysis, settings } = moment;
  const workload = analysis.snapshot.workloads[pods[0]?.pod.workload ?? -1];
  if (workload === undefined) return [];
  const about = `${workload.kind} ${fullName(workload)}`;
  const gpus = sick.gpus.filter(({ holders }) => holders.some(({ uid }) => pods.some((one) => one.uid === uid)));
  const disrupted = pods.map(({ index }) => index);
  const cost = adviceCost(moment, { disrupted });
  const own = ownGpus(moment, pods);
  const amount = pods.reduce((sum, { pod }) => sum + (pod.gpus ?? 0), 0);
  const worth = { gainedGpuHours: amount * settings.horizonHours, lostGpuHours: cost.lostGpuHours };
  const decision = decideAct({ kind: "drain_node", idle: null, losesWork: true, ...worth }, settings);
  const spent = costWords(analysis.prices, own.byNode, 24);
  const where = `${nameWords(gpus.map(({ uuid }) => uuid))} of node ${sick.node.name}`;
  const loss = `${lossWords(cost)} of work would be done again${cost.isUpperBound ? ": no checkpoint is known" : ""}`;
  return [
    {
      kind: "drain_node",
      ...ofWorkload(workload, own),
      need: ["workload", about],
      title: `ask team ${workload.team} to restart ${fullName(workload)} elsewhere: ${causesOf(gpus)} on its GPU of node ${sick.node.name}`,
      reason: `${about} of team ${workload.team} holds ${gpuWords(amount)} ${own.words} with ${countWords(pods.length, "pod")}, and ${where} has a fault: ${causesOf(gpus)}. Work on it fails or is corrupted.`,
      evidence: [
        { name: "GPU", value: `${where}: ${causesOf(gpus)}` },
        { name: "GPUs allocated", value: gpuWords(amount) },
        { name: "lost if it is restarted now", value: lossWords(cost) },
      ],
      plan: { changes: [], starts: [] },
      steps: [],
      questions: [
        {
          to: `team ${workload.team}`,
          about,
          question: `When may ${about} be restarted from its last checkpoint on another node?`,
          facts: [
            `${where} has a fault that ends or corrupts work: ${causesOf(gpus)}`,
            `restarted now, ${loss}`,
            ...(spent === "" ? [] : [`its pods there cost ${spent} a day`]),
          ],
        },
      ],
      decision,
      disrupted,
      gainedGpus: () => amount,
      confidence: {
        level: "medium",
        reasons: ["whether the work has ended already with its GPU, its owner can see"],
      },
      guards: [],
      blockedAlternatives: [],
      signs: [leftSignOf(pods)],
      measuredBy: { kind: "work-restarted", pods: pods.map(({ uid, pod }) => ({ uid, gpus: pod.gpus ?? 0 })) },
    },
  ];
}

const causesOf = (gpus: readonly SickGpu[]): string =>
  nameWords([...new Set(gpus.map(({ cause }) => causeNames[cause]))]);

const namesOf = (pods: readonly AllocatedPod[]): string => nameWords(pods.map(({ pod }) => fullName(pod)));

function firstWords(evicted: readonly AllocatedPod[], asked: readonly AllocatedPod[]): string {
  const moved =
    evicted.length === 0
      ? ""
      : ` First ${namesOf(evicted)} goes to another node: it serves, and loses no more than a restart.`;
  return `${moved}${asked.length === 0 ? "" : ` The owners of ${namesOf(asked)} are asked when it may be restarted.`}`;
}

const othersWords = (others: readonly AllocatedPod[]): string =>
  others.length === 0
    ? ""
    : ` ${countWords(others.length, "other pod")} with GPUs of the node may end by ${others.length === 1 ? "itself" : "themselves"}.`;
