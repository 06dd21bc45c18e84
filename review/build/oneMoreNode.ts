import type { Waits } from "../document/parts.ts";
import type { OneMoreNode } from "../document/use.ts";
import { replayWithNode } from "../oneMoreNode/replayWithNode.ts";
import type { DomainPools } from "./demand.ts";
import type { DomainHour } from "./domainHours.ts";
import { askTable, type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";
import { askWaits, waitsOf } from "./waits.ts";

const maxRows = 100_000;
/** Hours of a mean month. */
const hoursOfMonth = 730;
/** How far a mean number of GPUs may be from a whole one: nodes come and go within a window. */
const nearlyWhole = 0.02;

/** A mean node of a pool. */
interface PoolNode {
  /** GPUs of a node; `null`: its nodes have different numbers of GPUs. */
  readonly gpus: number | null;
  /** What a node costs per month, by currency. */
  readonly costsPerMonth: Readonly<Record<string, number>>;
}

/** Asks what one node more would have done for the waits of each quota domain. */
export async function askOneMoreNode(
  accounts: ReviewAccounts,
  question: ReviewQuestion,
  domains: ReadonlyMap<string, readonly DomainHour[]>,
  pools: DomainPools,
): Promise<Part<ReadonlyMap<string, OneMoreNode>>> {
  const nodes = await askPoolNodes(accounts, question);
  if (!nodes.ok) return nodes;
  const queues = await askQueues(accounts, question);
  if (!queues.ok) return queues;
  const waits = await askWaits(accounts, question, ["queue", "sizeClass"]);
  if (!waits.ok) return waits;
  const found = [...domains].map(([domain, hours]): readonly [string, OneMoreNode] => {
    const domainsOf = (queue: string | null): ReadonlySet<string> => queues.value.get(queue ?? "") ?? new Set();
    const own = waits.value.filter(({ values }) => domainsOf(values[0] ?? null).has(domain));
    const [pool, ...others] = pools.get(domain) ?? [];
    const seen = {
      hours,
      waits: own.map((one) => ({ sizeClass: one.values[1] ?? "unknown", ...one.waits })),
      node: pool === undefined ? null : (nodes.value.get(pool) ?? null),
      mixed:
        others.length > 0
          ? "the domain has several pools, and which of them its work would use is not known"
          : own.some(({ values }) => domainsOf(values[0] ?? null).size > 1)
            ? "its queues also wait for other pools, and their waits are not kept apart"
            : null,
    };
    return [domain, oneMoreNode(question, seen)];
  });
  return part(new Map(found));
}

interface SeenDomain {
  readonly hours: readonly DomainHour[];
  readonly waits: readonly (Waits & { readonly sizeClass: string })[];
  readonly node: PoolNode | null;
  /** Why its waits are not those of one pool alone; `null`: they are. */
  readonly mixed: string | null;
}

function oneMoreNode({ days }: ReviewQuestion, { hours, waits, node, mixed }: SeenDomain): OneMoreNode {
  const nodeGpus = node?.gpus ?? null;
  const p95Seconds = mixed === null ? waitsOf(waits.flatMap(({ buckets }) => buckets)).p95Seconds : null;
  const answer =
    mixed !== null
      ? unknown(mixed)
      : nodeGpus === null
        ? unknown("its nodes have different numbers of GPUs, or none was seen")
        : replayWithNode({
            hours: hours.filter(({ at }) => at >= days.from && at < days.to),
            windowHours: (days.to - days.from) / 3600,
            waits: waits.map(({ sizeClass, count, buckets }) => ({
              sizeClass,
              count,
              seconds: buckets.reduce((sum, { seconds }) => sum + seconds, 0),
            })),
            p95Seconds,
            nodeGpus,
          });
  return {
    gpus: nodeGpus,
    p95Seconds,
    lowSeconds: answer.known ? answer.lowSeconds : null,
    highSeconds: answer.known ? answer.highSeconds : null,
    costsPerMonth: { ...node?.costsPerMonth },
    reason: answer.known ? null : answer.reason,
  };
}

const unknown = (reason: string) => ({ known: false, reason }) as const;

/** Asks for the quota domains of each queue, by the name of the queue. */
async function askQueues(
  accounts: ReviewAccounts,
  { days }: ReviewQuestion,
): Promise<Part<ReadonlyMap<string, ReadonlySet<string>>>> {
  const asked = await askTable(accounts, days, "queues", ["queue", "domain"]);
  if (!asked.ok) return asked;
  const queues = new Map<string, Set<string>>();
  for (const { values } of asked.value) {
    const [queue, domain] = [values[0] ?? "", values[1] ?? ""];
    queues.set(queue, (queues.get(queue) ?? new Set()).add(domain));
  }
  return part(queues);
}

/** Asks for the GPUs and the cost of a mean node of each pool, by the name of the pool: GPU time divided by node time. */
async function askPoolNodes(
  accounts: ReviewAccounts,
  { days }: ReviewQuestion,
): Promise<Part<ReadonlyMap<string, PoolNode>>> {
  const { from, to } = days;
  const time = await accounts.query({ from, to, groupBy: ["pool"], where: new Map(), limit: maxRows });
  if (!time.ok) return time;
  const asked = await askTable(accounts, days, "nodes", ["pool", "currency"]);
  if (!asked.ok) return asked;
  const gpuSeconds = new Map(time.answer.rows.map((row) => [row.values[0] ?? "", row.gpuSeconds]));
  const nodes = [...Map.groupBy(asked.value, ({ values }) => values[0] ?? "")].map(
    ([pool, rows]): readonly [string, PoolNode] => {
      const seconds = rows.reduce((sum, { amounts }) => sum + (amounts.nodeSeconds ?? 0), 0);
      const mean = seconds > 0 ? (gpuSeconds.get(pool) ?? 0) / seconds : 0;
      const whole = Math.round(mean);
      const costs = rows.flatMap(({ values, amounts }): readonly (readonly [string, number])[] => {
        const [currency, priced] = [values[1] ?? null, amounts.pricedNodeSeconds ?? 0];
        if (currency === null || !(priced > 0)) return [];
        return [[currency, ((amounts.cost ?? 0) / priced) * 3600 * hoursOfMonth]];
      });
      const isKnown = whole > 0 && Math.abs(mean - whole) <= nearlyWhole * whole;
      return [pool, { gpus: isKnown ? whole : null, costsPerMonth: Object.fromEntries(costs) }];
    },
  );
  return part(new Map(nodes));
}
