import { nameWords } from "../../kernel/nameWords.ts";
import { stemsOf } from "../../kernel/stemOfName.ts";
import type { AdviceStep, WithheldAdvice } from "../../model/recommendation.ts";
import {
  type Candidate,
  candidatesPerKind,
  type FindAdvice,
  nothingFound,
  withheldPerKind,
  withhold,
} from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { unusedSince } from "../savedMoney.ts";
import { changeRequest } from "../steps/requestSteps.ts";
import { smallActivity } from "../usage/observeWorkloads.ts";
import { findGangsToStart, type GangsToStart } from "./gangsToStart.ts";
import { askRelease, ownGpus, vetoWords } from "./ownGpus.ts";
import { partitionNode } from "./partitionNode.ts";
import { findSharedUnits, type GivenUnits, giveUnits } from "./sharedUnits.ts";
import { findSmallUsers, type SmallUser, shareQuestion, smallMemoryRatio } from "./smallUsers.ts";
import { countWords, durationWords, gpuWords, hourlyCostWords, percentWords } from "./words.ts";

/** A small user that may be moved, with what it would get. */
interface Sharer {
  readonly user: SmallUser;
  readonly given: GivenUnits;
  readonly steps: readonly AdviceStep[];
  readonly guards: readonly string[];
}

/**
 * Finds workloads whose pods hold a whole GPU each and use at most a quarter of it, to move them onto free MIG instances or
 * time-sliced replicas that the cluster already offers, or else onto a free node that is partitioned for them. There is one
 * plan for each team and pool.
 */
export const findShareGpu: FindAdvice = (moment) => {
  const { analysis, settings } = moment;
  const withheld: WithheldAdvice[] = [];
  const users = findSmallUsers(moment);
  if (users.length === 0) return nothingFound;
  const units = findSharedUnits(analysis);
  const groups = new Map<string, Sharer[]>();
  const left: SmallUser[] = [];
  for (const user of users) {
    const { team } = user.workload;
    const key = JSON.stringify([team, user.pool]);
    const group = groups.get(key) ?? [];
    if (group.length >= settings.maxMoves) continue;
    const given = giveUnits(units, user);
    if (given === null) {
      left.push(user);
      continue;
    }
    const sharer = sharerOf(moment, user, given);
    if ("user" in sharer) {
      group.push(sharer);
      groups.set(key, group);
    } else withheld.push(sharer);
  }
  const candidates: Candidate[] = [];
  if (groups.size > 0) {
    const toStart = findGangsToStart(analysis);
    for (const group of [...groups.values()].sort((a, b) => gainOf(b) - gainOf(a))) {
      if (candidates.length >= candidatesPerKind) break;
      const made = candidateOf(moment, group, toStart);
      if (made !== null) candidates.push(made);
    }
  }
  const partitioned = partitionNode(moment, left);
  return {
    candidates: [...candidates, ...partitioned.candidates].slice(0, candidatesPerKind),
    withheld: [...withheld, ...partitioned.withheld].slice(0, withheldPerKind),
  };
};

const nameOf = ({ workload: { namespace, name } }: SmallUser): string => `${namespace}/${name}`;

const gainOf = (group: readonly Sharer[]): number =>
  group.reduce((sum, { user, given }) => sum + user.allocated.length * (1 - given.unit), 0);

function sharerOf(moment: AdviceMoment, user: SmallUser, given: GivenUnits): Sharer | WithheldAdvice {
  const none = withhold("share_gpu");
  const { peakActivity } = user.usage;
  const what = `it used at most ${percentWords(peakActivity)} of each GPU, and ${given.resource} would do`;
  const changed = changeRequest(moment, user.index, { resource: given.resource, amount: 1 });
  if (!changed.ok) return none(nameOf(user), "no-plan", `${what}: ${changed.reason}`);
  const guards = askRelease(moment, user.allocated);
  const veto = vetoWords(guards);
  if (veto !== null) return none(nameOf(user), "guard", `${what}: ${veto}`);
  return { user, given, steps: changed.steps, guards: guards.checked };
}

function candidateOf(moment: AdviceMoment, group: readonly Sharer[], toStart: GangsToStart): Candidate | null {
  const [first] = group;
  if (first === undefined) return null;
  const { snapshot, prices } = moment.analysis;
  const { team, queue } = first.user.workload;
  const { pool } = first.user;
  const allocated = group.flatMap(({ user }) => user.allocated);
  const gpus = allocated.length;
  const byNode = new Map<string, number>();
  for (const { user, given } of group)
    for (const { node } of user.allocated) byNode.set(node, (byNode.get(node) ?? 0) + 1 - given.unit);
  const price = hourlyCostWords(prices, byNode);
  const names = group.map(({ user }) => nameOf(user));
  const resources = [...new Set(group.map(({ given }) => given.resource))].sort();
  const peak = Math.max(...group.map(({ user }) => user.usage.peakActivity));
  const memory = Math.max(...group.map(({ user }) => user.usage.peakMemoryRatio ?? 1));
  const watchedSince = Math.max(...group.map(({ user }) => user.usage.since));
  const watchedFor = durationWords(snapshot.at - watchedSince);
  const targetNodes = [...new Set(group.flatMap(({ given }) => given.nodes))].sort();
  const cost = price === "" ? "" : ` What they do not use costs ${price}.`;
  const isReplica = resources.some((resource) => !resource.includes("/mig-"));
  const work = group.map(({ user }) => `${user.workload.kind}/${nameOf(user)}`);
  return {
    kind: "share_gpu",
    beneficiary: { kind: "team", name: team },
    targets: group.map(({ user }) => `${user.workload.kind} ${nameOf(user)}`),
    title: `ask team ${team} whether ${nameWords(resources)} instead of ${countWords(gpus, "whole GPU")} (${pool}) is enough for ${nameWords(stemsOf(names))}`,
    reason: `${countWords(gpus, "pod")} of team ${team} hold a whole ${pool} each. In ${watchedFor} none used more than ${percentWords(peak)} of its GPU or ${percentWords(memory)} of its memory, and ${nameWords(resources)} is free on ${nameWords(targetNodes)}.${cost}`,
    evidence: [
      { name: "watched for", value: watchedFor },
      {
        name: "busiest GPU at its peak",
        value: `${percentWords(peak)} (small: at most ${percentWords(smallActivity)})`,
      },
      {
        name: "memory at its peak",
        value: `${percentWords(memory)} (small: at most ${percentWords(smallMemoryRatio)})`,
      },
      ...group.map(({ user, given }) => ({
        name: nameOf(user),
        value: `${countWords(user.allocated.length, "pod")} onto ${given.resource}, ${gpuWords(given.unit)} GPUs each`,
      })),
    ],
    fromTeam: team,
    forTeam: "",
    queue: group.every(({ user }) => user.workload.queue === queue) ? (queue ?? "") : "",
    pool,
    plan: {
      changes: group.map(({ user, given }) => ({
        kind: "shrink",
        workload: user.index,
        gpusPerPod: given.unit,
      })),
      starts: toStart(ownGpus(moment, allocated)),
    },
    steps: group.flatMap(({ steps }) => steps),
    questions: group.map(({ user, given }) => shareQuestion(user, given, snapshot.at)),
    disrupted: allocated.map(({ index }) => index),
    gainedGpus: ({ released }) => group.reduce((sum, { user }) => sum + (released.get(user.index) ?? 0), 0),
    unused: unusedSince(byNode, watchedSince),
    confidence: {
      level: isReplica ? "low" : "medium",
      reasons: [
        `no sample of ${watchedFor} shows more than that`,
        "what they do between two samples is not known: try one of them first",
        ...(isReplica ? ["replicas share their GPU's memory: nothing keeps one pod from taking all of it"] : []),
      ],
    },
    guards: first.guards,
    blockedAlternatives: [],
    signs: group.map(({ user, given }) => ({
      kind: "request-changed",
      workload: `${user.workload.kind}/${nameOf(user)}`,
      gpusPerPod: given.unit,
    })),
    measuredBy: { kind: "work-released", work, gpus },
  };
}
