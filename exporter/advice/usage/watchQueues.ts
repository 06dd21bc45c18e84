// Needed for the goal `advice-quiet` (docs/performance.md).

import type { Analysis } from "../../analysis/analysis.ts";
import { queueKey } from "../../analysis/fairness/shortSince.ts";
import type { QueueView } from "../../join/queues/queueing.ts";
import { once } from "../../kernel/once.ts";

/** The most that a queue of a domain has held and asked for since `since`. */
export interface QueueUsage {
  readonly since: number;
  readonly peakDemand: number;
}

/** What identifies a record of a queue from one moment to the next. */
type QueueName = Pick<QueueView, "scheduler" | "kind" | "name" | "domain">;

/** What was watched of the queues until a moment. */
export interface QueueWatch {
  /** By `queueKey`. */
  readonly queues: ReadonlyMap<string, QueueUsage>;
  /** The same in the order of the records of the last moment. */
  readonly columns?: QueueColumns;
}

interface QueueColumns {
  readonly names: readonly QueueName[];
  /** The names of the domains. */
  readonly domains: readonly string[];
  readonly since: Float64Array;
  readonly peakDemand: Float64Array;
}

const noColumns: QueueColumns = {
  names: [],
  domains: [],
  since: new Float64Array(),
  peakDemand: new Float64Array(),
};

/** The watch of all queues after one more moment. Most records are where they were, so that hardly any is looked up. */
export function watchQueues(before: QueueWatch, { snapshot }: Pick<Analysis, "snapshot">): QueueWatch {
  const { queues } = snapshot.queueing;
  const last = before.columns ?? noColumns;
  const domains = snapshot.queueing.domains.map(({ name }) => name);
  const isSameDomain = domains.map((name, i) => last.domains[i] === name);
  const since = new Float64Array(queues.length).fill(snapshot.at);
  const peakDemand = new Float64Array(queues.length);
  const moved: number[] = [];
  for (let place = 0; place < queues.length; place += 1) {
    const queue = queues[place];
    if (queue === undefined) continue;
    const demand = queue.allocated + queue.pending;
    if (isSameDomain[queue.domain] === true && isSameQueue(last.names[place], queue)) {
      since[place] = last.since[place] ?? snapshot.at;
      peakDemand[place] = Math.max(last.peakDemand[place] ?? demand, demand);
    } else {
      moved.push(place);
      peakDemand[place] = demand;
    }
  }
  for (const place of moved) {
    const queue = queues[place];
    const known = queue === undefined ? undefined : before.queues.get(queueKey(queue, domains[queue.domain] ?? ""));
    if (known === undefined) continue;
    since[place] = known.since;
    peakDemand[place] = Math.max(known.peakDemand, peakDemand[place] ?? 0);
  }
  const isSame = moved.length === 0 && queues.length === last.names.length;
  const names = isSame ? last.names : queues.map(namedQueue);
  const columns: QueueColumns = { names, domains, since, peakDemand };
  const byKey = once(() => mapOf(columns));
  return {
    get queues() {
      return byKey();
    },
    columns,
  };
}

const namedQueue = ({ scheduler, kind, name, domain }: QueueView): QueueName => ({ scheduler, kind, name, domain });

const isSameQueue = (one: QueueName | undefined, { scheduler, kind, name, domain }: QueueView): boolean =>
  one !== undefined && one.name === name && one.domain === domain && one.kind === kind && one.scheduler === scheduler;

function mapOf({ names, domains, since, peakDemand }: QueueColumns): ReadonlyMap<string, QueueUsage> {
  return new Map(
    names.map((name, i) => [
      queueKey(name, domains[name.domain] ?? ""),
      { since: since[i] ?? 0, peakDemand: peakDemand[i] ?? 0 },
    ]),
  );
}
