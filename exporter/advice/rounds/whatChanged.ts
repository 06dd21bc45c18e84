// Needed for the goal `advice-contended` (docs/performance.md).

import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceMoment } from "../moment.ts";
import { momentIndex } from "../momentIndex.ts";
import {
  budgetsAround,
  doesNothing,
  findingText,
  gangText,
  isIdle,
  type NodeInput,
  nodeInput,
  type PlanInputs,
  type PodInput,
  podText,
  queueInput,
  usageText,
} from "./planInputs.ts";

/**
 * What has changed in a moment of that on which a plan rests, in words; `null`: the plan holds as it was worked out. A node may
 * have more free than then, and more may be owed to a queue: what the plan needs is there still.
 */
export function whatChanged(inputs: PlanInputs, moment: AdviceMoment): string | null {
  return (
    firstOf(inputs.pods, (pod) => changeOfPod(pod, moment)) ??
    firstOf(inputs.nodes, (node) => changeOfNode(node, moment)) ??
    changeOfGangs(inputs.gangs, moment) ??
    firstOf(inputs.queues, ([name, { text, owed }]) => {
      const now = queueInput(moment.analysis, name);
      if (now.text !== text) return `the quota of queue ${name} has changed`;
      return now.owed < owed - gpuTolerance ? `less is owed to queue ${name}` : null;
    }) ??
    firstOf(inputs.usages, ([key, { text }]) => {
      const usage = moment.usage.workloads.get(key);
      return usage === undefined || usageText(usage) !== text ? `${key} has used more since` : null;
    }) ??
    firstOf(inputs.budgets, ([namespace, text]) =>
      budgetsAround(moment.analysis, namespace)[1] === text ? null : `a disruption budget in ${namespace} has changed`,
    ) ??
    changeOfFindings(inputs.findings, moment)
  );
}

function firstOf<Item>(items: Iterable<Item>, change: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = change(item);
    if (found !== null) return found;
  }
  return null;
}

function changeOfPod(input: PodInput, { analysis }: AdviceMoment): string | null {
  const { uid, node, name, text, isHolder, didNothing } = input;
  const { pods } = analysis.snapshot;
  const held = momentIndex(analysis).holderOn(node, uid);
  if (held === undefined && isHolder) return `pod ${name} holds its GPUs no more`;
  const index = held ?? pods.findIndex((pod) => pod.uid === uid);
  const pod = pods[index];
  if (pod === undefined) return `pod ${name} is gone`;
  if (podText(pod) !== text) return `pod ${name} has changed`;
  return didNothing && !doesNothing(analysis, index) ? `pod ${name} works again` : null;
}

function changeOfNode(
  { name, text, allocated, requests, wasIdle }: NodeInput,
  { analysis }: AdviceMoment,
): string | null {
  const index = momentIndex(analysis).nodeOf(name) ?? -1;
  const view = analysis.snapshot.nodes[index];
  if (view === undefined) return `node ${name} is gone`;
  const now = nodeInput(analysis, view);
  if (now.text !== text) return `node ${name} has changed`;
  if (wasIdle && !isIdle(analysis, index)) return `node ${name} is idle no more`;
  const isLess =
    now.allocated.some((gpus, i) => gpus > (allocated[i] ?? 0) + gpuTolerance) ||
    (now.requests?.cpuMilli ?? 0) > (requests?.cpuMilli ?? 0) ||
    (now.requests?.memoryBytes ?? 0) > (requests?.memoryBytes ?? 0) ||
    (now.requests?.pods ?? 0) > (requests?.pods ?? 0);
  return isLess ? `node ${name} has less free` : null;
}

function changeOfGangs(inputs: PlanInputs["gangs"], { analysis }: AdviceMoment): string | null {
  const { gangs, queues } = analysis.snapshot.queueing;
  return firstOf(inputs, ([uid, { name, text, queues: own }]) => {
    // Mostly it still waits in its queue; a queue may also have another index now.
    const there = own.flatMap((queue) => queues[queue]?.gangs ?? []).find((gang) => gangs[gang]?.uid === uid);
    const now = there === undefined ? gangs.find((gang) => gang.uid === uid) : gangs[there];
    if (now === undefined) return `${name} does not wait any more`;
    return gangText(now) === text ? null : `${name} asks for something else`;
  });
}

function changeOfFindings(findings: PlanInputs["findings"], { analysis }: AdviceMoment): string | null {
  if (findings.length === 0) return null;
  const now = new Set(analysis.findings.map((finding) => findingText(finding.kind, finding)));
  return findings.every((text) => now.has(text)) ? null : "what was configured badly has changed";
}
