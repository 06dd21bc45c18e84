import { bareRecord } from "../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../model/node.ts";
import type { Pod } from "../model/pod.ts";
import type { PodNeeds } from "../model/queues/podNeeds.ts";

/** What pods ask for from their nodes, one object for each content. */
export interface NeedsCache {
  readonly byContent: Map<string, PodNeeds>;
  /** Texts of affinities and tolerations, which many pods share. */
  readonly textOf: WeakMap<object, string>;
  /** At this number of entries, those that no pod has any more are forgotten. */
  limit: number;
}

const fewest = 1000;

/** A cache that has seen nothing. */
export const createNeedsCache = (): NeedsCache => ({ byContent: new Map(), textOf: new WeakMap(), limit: fewest });

/**
 * What a pod asks of its node: requests of its own resources (a fraction or a claim is in none of them; `PodView.gpus` says),
 * CPU in cores, memory in bytes, and its rules. Pods with the same requests get the same object.
 */
export function needsOf(pod: Pod, cache: NeedsCache): PodNeeds {
  const key = contentKey(pod, cache);
  const known = cache.byContent.get(key);
  if (known !== undefined) return known;
  const { nodeSelector, nodeAffinity, tolerations } = pod;
  const needs: PodNeeds = { requests: requestsOf(pod), nodeSelector, nodeAffinity, tolerations };
  cache.byContent.set(key, needs);
  return needs;
}

function requestsOf({ gpu, cpuMilli, memoryBytes }: Pod): ResourceAmounts {
  const requests = bareRecord<number>();
  if (cpuMilli > 0) requests.cpu = cpuMilli / 1000;
  if (memoryBytes > 0) requests.memory = memoryBytes;
  return Object.assign(requests, gpu.resources);
}

/** A text that pods with equal needs share, and that differs for different needs. */
function contentKey(pod: Pod, { textOf }: NeedsCache): string {
  const { gpu, cpuMilli, memoryBytes, nodeSelector, nodeAffinity, tolerations } = pod;
  let key = `${cpuMilli} ${memoryBytes}`;
  for (const resource of sortedKeys(gpu.resources)) key += ` ${gpu.resources[resource]}${whole(resource)}`;
  key += "|";
  for (const label of sortedKeys(nodeSelector)) key += whole(label) + whole(nodeSelector[label] ?? "");
  return `${key}|${contentOf(nodeAffinity, textOf)}|${contentOf(tolerations, textOf)}`;
}

/** A text with its length before it, so that joined texts cannot be confused. */
const whole = (text: string): string => `${text.length}:${text}`;

function contentOf(rules: readonly unknown[], textOf: WeakMap<object, string>): string {
  if (rules.length === 0) return "";
  const known = textOf.get(rules);
  if (known !== undefined) return known;
  const text = JSON.stringify(rules);
  textOf.set(rules, text);
  return text;
}

/** The keys of a record in order; most records have one key at most. */
function sortedKeys(record: Readonly<Record<string, unknown>>): readonly string[] {
  const keys = Object.keys(record);
  return keys.length < 2 ? keys : keys.sort();
}

/** Forgets what no pod asks for any more; searched for only when there are many. */
export function forgetNeeds(cache: NeedsCache, pods: readonly { readonly needs: PodNeeds | null }[]): void {
  const { byContent } = cache;
  if (byContent.size <= cache.limit) return;
  const asked = new Set<PodNeeds | null>();
  for (const { needs } of pods) asked.add(needs);
  for (const [key, needs] of byContent) if (!asked.has(needs)) byContent.delete(key);
  cache.limit = 2 * byContent.size + fewest;
}
