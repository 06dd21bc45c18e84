import type { ExplainedPart } from "./schema.ts";

/** Devices of one node with the same holder, in the same states for the same reason: what a reader sees as one line. */
export interface AlikeParts {
  /** The number of devices, at least 1. */
  readonly count: number;
  /** The sum of their parts; the percentages in its reason are ranges. */
  readonly part: ExplainedPart;
  /** The name of the device, or how many devices of the node they are: `8 of 8 GPUs, the same`. */
  readonly device: string;
}

/**
 * Folds parts that are alike into one; the results are in the order of the first part of each. Pure; the GPUs of the result add
 * up to those of `parts`.
 */
export function alikeParts(parts: readonly ExplainedPart[]): readonly AlikeParts[] {
  const ofNode = Map.groupBy(parts, kindOnNode);
  return [...Map.groupBy(parts, likeness).values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [folded(first, group, ofNode.get(kindOnNode(first))?.length ?? 0)];
  });
}

const kindOnNode = ({ node, profile }: ExplainedPart): string => JSON.stringify([node, profile]);

const percents = /\d+(?= %)/g;

const likeness = ({ node, profile, holder, knownFrom, estimated, states, why }: ExplainedPart): string =>
  JSON.stringify([node, profile, holder, knownFrom, estimated, Object.keys(states), why.replace(percents, "")]);

function folded(first: ExplainedPart, group: readonly ExplainedPart[], ofNode: number): AlikeParts {
  if (group.length === 1) return { count: 1, part: first, device: deviceText(first) };
  const noun = first.profile === null ? "GPUs" : `${first.profile} instances`;
  const states: Record<string, number> = {};
  for (const { states: own } of group)
    for (const [state, amount] of Object.entries(own)) states[state] = (states[state] ?? 0) + (amount ?? 0);
  const gpus = group.reduce((sum, part) => sum + part.gpus, 0);
  return {
    count: group.length,
    part: { ...first, gpus, states, why: rangeText(group.map(({ why }) => why)) },
    device: `${group.length} of ${ofNode} ${noun}, the same`,
  };
}

function deviceText({ uuid, gpuInstance, profile }: ExplainedPart): string {
  const whole = uuid ?? "a GPU without identity";
  return gpuInstance === null ? whole : `${whole}/${gpuInstance}${profile === null ? "" : ` ${profile}`}`;
}

/** Folds sentences that differ only in their percentages into one, in which each percentage is a range. */
function rangeText(texts: readonly string[]): string {
  const values = texts.map((text) => (text.match(percents) ?? []).map(Number));
  let at = 0;
  return (texts[0] ?? "").replace(percents, () => {
    const own = values.map((list) => list[at] ?? 0);
    at += 1;
    const [low, high] = [Math.min(...own), Math.max(...own)];
    return low === high ? `${low}` : `${low} to ${high}`;
  });
}
