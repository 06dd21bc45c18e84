import { domainFinder } from "../../join/queues/domainOfNode.ts";
import type { QuotaDomain } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { Finding } from "./finding.ts";

/** The guarantees of the queues of one scheduler in one domain, as their author wrote them. Physical GPUs. */
interface SchedulerPromise {
  readonly scheduler: QueueScheduler;
  readonly gpus: number;
}

/**
 * Domains in which queues are promised more GPUs than there are, by one scheduler alone or by several together. The physical
 * number of GPUs counts, so that a cordoned or broken node causes no finding.
 */
export function quotaFindings(snapshot: Snapshot): readonly Finding[] {
  const { domains, queues } = snapshot.queueing;
  const promises = domains.map((): SchedulerPromise[] => []);
  for (const { kind, scheduler, domain, declaredGuarantee: gpus } of queues)
    if (kind === "Scheduler" && gpus !== undefined && gpus > gpuTolerance) promises[domain]?.push({ scheduler, gpus });
  // What can be given out is no more than what there is: mostly nothing needs to be counted.
  if (promises.every((ofDomain, index) => sumOf(ofDomain) <= (domains[index]?.capacity ?? 0))) return [];
  const uncounted = uncountedDomains(snapshot);
  return domains.flatMap((domain, index): readonly Finding[] => {
    const ofDomain = promises[index] ?? [];
    const physicalGpus = domain.capacity + (domain.outOfService ?? 0);
    if (uncounted.has(index) || physicalGpus === 0) return [];
    const alone = ofDomain.filter(({ gpus }) => gpus > physicalGpus + gpuTolerance);
    if (alone.length > 0) return alone.map((promise) => aboveCapacity(domain, promise, physicalGpus));
    const sum = sumOf(ofDomain);
    return sum > physicalGpus + gpuTolerance ? [promisedTwice(domain, ofDomain, sum, physicalGpus)] : [];
  });
}

const sumOf = (promises: readonly SchedulerPromise[]): number => promises.reduce((total, { gpus }) => total + gpus, 0);

/** Domains (indices) some of whose GPUs are not counted. */
function uncountedDomains({ queueing, nodes }: Snapshot): ReadonlySet<number | null> {
  const uncounted = nodes.filter(({ physicalGpus }) => physicalGpus === null);
  const domainOf = domainFinder(queueing.domains);
  return new Set(uncounted.flatMap(({ name, pools }) => pools.map((pool) => domainOf(pool, name))));
}

function aboveCapacity(domain: QuotaDomain, { scheduler, gpus }: SchedulerPromise, physicalGpus: number): Finding {
  const over = rounded(gpus - physicalGpus);
  return {
    code: "quota-above-capacity",
    scheduler,
    kind: "QuotaDomain",
    name: domain.name,
    reason: `${ownersOf[scheduler]} (${fieldsOf[scheduler]}) are promised ${rounded(gpus)} GPUs together, but ${rounded(physicalGpus)} are there: ${over} too many. Not all can have what they are sure of at the same time, and work may be admitted that finds no node.`,
    change: `Lower guarantees by ${over} GPUs in all, or add nodes to ${domain.name}.`,
  };
}

/** Reports promises of several schedulers: each scheduler's promises fit alone, but none of them knows the others'. */
function promisedTwice(
  domain: QuotaDomain,
  promises: readonly SchedulerPromise[],
  sum: number,
  physicalGpus: number,
): Finding {
  const over = rounded(sum - physicalGpus);
  const most = promises.reduce((a, b) => (b.gpus > a.gpus ? b : a));
  const each = promises
    .map(({ scheduler, gpus }) => `${rounded(gpus)} by ${productName[scheduler]} (${fieldsOf[scheduler]})`)
    .join(" and ");
  return {
    code: "quota-promised-twice",
    scheduler: most.scheduler,
    kind: "QuotaDomain",
    name: domain.name,
    reason: `The same ${rounded(physicalGpus)} GPUs are promised by several schedulers: ${each}, which is ${rounded(sum)} in all and ${over} too many. Each counts only what its own queues hold, so that work which one of them admits within its quota finds GPUs that the other has given out.`,
    change: `Lower the guarantees of ${promises.map(({ scheduler }) => productName[scheduler]).join(" or ")} by ${over} GPUs in all, give each scheduler nodes of its own, or add nodes to ${domain.name}.`,
  };
}

const ownersOf = { kueue: "ClusterQueues and Cohorts", kai: "Top queues", volcano: "Queues", none: "Teams" } as const;
const fieldsOf = { kueue: "nominalQuota", kai: "quota", volcano: "guarantee or deserved", none: "guarantee" } as const;

const productName = { kueue: "Kueue", kai: "KAI", volcano: "Volcano", none: "teams" } as const;

const rounded = (gpus: number): number => Math.round(gpus * 1000) / 1000;
