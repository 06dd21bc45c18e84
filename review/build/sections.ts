import type { JobsAnswer } from "../../exporter/accounts/ledger/jobsQuery.ts";
import type { PriceRow } from "../../exporter/accounts/ledger/priceQuery.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { UsedPrices } from "../document/head.ts";
import type { Review } from "../document/review.ts";
import { askActions } from "./actions.ts";
import { type DomainPools, demandRows } from "./demand.ts";
import { askDomainHours, type DomainHour } from "./domainHours.ts";
import { askFaults } from "./faults.ts";
import { askFragmentation, askIdleNodes } from "./idleNodes.ts";
import { jobsOf, shownJobs } from "./jobs.ts";
import { askNotAdvised } from "./notAdvised.ts";
import { askOneMoreNode } from "./oneMoreNode.ts";
import type { PoolTime } from "./poolTime.ts";
import { runwayRows, runwayWeeks } from "./runway.ts";
import { askServing } from "./serving.ts";
import { type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";
import { askStartTimes } from "./startTimes.ts";
import { askTopology } from "./topology.ts";
import { askWaitTables } from "./waits.ts";

/** The sections that only a ledger can fill, and the answers behind them that other sections need. */
export interface Sections
  extends Pick<
    Review,
    | "demand"
    | "waits"
    | "startTimes"
    | "idleNodes"
    | "fragmentation"
    | "topology"
    | "faults"
    | "serving"
    | "jobs"
    | "runway"
    | "actions"
    | "lastActions"
    | "lastActionsLeftOut"
    | "notAdvised"
    | "notAdvisedLeftOut"
    | "trackRecords"
    | "notes"
  > {
  readonly prices: UsedPrices[];
  readonly jobsAnswer: JobsAnswer | null;
}

const none: Sections = {
  demand: null,
  waits: null,
  startTimes: null,
  idleNodes: null,
  fragmentation: null,
  topology: null,
  faults: null,
  serving: null,
  jobs: null,
  runway: null,
  actions: null,
  lastActions: null,
  lastActionsLeftOut: 0,
  notAdvised: null,
  notAdvisedLeftOut: 0,
  trackRecords: null,
  notes: [],
  prices: [],
  jobsAnswer: null,
};

const secondsPerWeek = 7 * 86_400;

/** Asks for everything besides GPU time. Nodes, placement and demand of one team have no meaning, and are left out. */
export async function askSections(question: ReviewQuestion, time: PoolTime | null): Promise<Part<Sections>> {
  const { accounts, team, onProgress = () => {} } = question;
  if (accounts === null || time === null) return part(none);
  const prices = await askPrices(accounts, question);
  if (!prices.ok) return prices;
  onProgress("waits");
  const waits = await askWaitTables(accounts, question);
  if (!waits.ok) return waits;
  onProgress("jobs");
  const jobs = await askJobs(accounts, question);
  if (!jobs.ok) return jobs;
  const serving = await askServing(accounts, question);
  if (!serving.ok) return serving;
  onProgress("actions");
  const actions = await askActions(accounts, question);
  if (!actions.ok) return actions;
  const ofCluster = team === null ? await askCluster(accounts, question, time) : part({});
  if (!ofCluster.ok) return ofCluster;
  return part({
    ...none,
    prices: prices.value,
    waits: waits.value,
    ...jobs.value,
    serving: serving.value,
    ...actions.value,
    ...ofCluster.value,
  });
}

const maxPrices = 100_000;

/** Asks for the prices at which the window was counted, by source and basis. */
async function askPrices(accounts: ReviewAccounts, { days, cluster }: ReviewQuestion): Promise<Part<UsedPrices[]>> {
  const asked = await accounts.queryPrices({ from: days.from, to: days.to, where: new Map(), limit: maxPrices });
  if (!asked.ok) return asked;
  const priced = asked.answer.rows.filter(({ perGpuHour }) => perGpuHour !== null);
  const groups = Map.groupBy(priced, ({ source, basis, currency }) => JSON.stringify([source, basis, currency]));
  return part([...groups.values()].map((rows) => usedPrices(cluster, rows)).sort(byName));
}

function byName(one: UsedPrices, other: UsedPrices): number {
  const [a, b] = [one, other].map(({ source, currency, basis }) => JSON.stringify([source, currency, basis]));
  return (a ?? "") < (b ?? "") ? -1 : 1;
}

function usedPrices(cluster: string, rows: readonly PriceRow[]): UsedPrices {
  const dates = rows.map(({ dated }) => dated);
  const known = dates.filter((date) => date !== null);
  const isDated = known.length === dates.length && known.length > 0;
  const [first] = rows;
  return {
    cluster,
    source: first?.source ?? "",
    basis: first?.basis ?? "",
    currency: first?.currency ?? "",
    datedFrom: isDated ? isoTime(known.reduce((least, date) => Math.min(least, date))) : null,
    datedTo: isDated ? isoTime(known.reduce((most, date) => Math.max(most, date))) : null,
    pools: [...new Set(rows.map(({ pool }) => pool ?? ""))].sort(),
  };
}

/**
 * Asks for the workloads of the window. They are kept for a shorter time than GPU time: where they are not kept any more, the
 * note says so.
 */
async function askJobs(
  accounts: ReviewAccounts,
  { cluster, days, team }: ReviewQuestion,
): Promise<Part<Pick<Sections, "jobs" | "jobsAnswer" | "notes">>> {
  const asked = await accounts.queryJobs({ from: days.from, to: days.to, team, limit: shownJobs });
  if (asked.ok) return part({ jobs: jobsOf(cluster, asked.answer), jobsAnswer: asked.answer, notes: [] });
  if (asked.fault === "ledger") return asked;
  return part({ jobs: null, jobsAnswer: null, notes: [{ cluster, text: `No jobs: ${asked.error}.` }] });
}

/** Asks for the sections about the cluster as a whole. */
async function askCluster(
  accounts: ReviewAccounts,
  question: ReviewQuestion,
  time: PoolTime,
): Promise<
  Part<
    Pick<
      Sections,
      | "demand"
      | "startTimes"
      | "idleNodes"
      | "fragmentation"
      | "topology"
      | "faults"
      | "runway"
      | "notAdvised"
      | "notAdvisedLeftOut"
    >
  >
> {
  const { days, now, onProgress = () => {} } = question;
  onProgress("demand");
  const since = Math.min(days.from, Math.min(now, days.to) - (runwayWeeks + 1) * secondsPerWeek);
  const hours = await askDomainHours(accounts, { from: wholeHour(since), to: days.to });
  if (!hours.ok) return hours;
  const pools = await askPools(accounts, question, hours.value);
  if (!pools.ok) return pools;
  const inWindow = new Map([...hours.value].filter(([, list]) => list.some(({ at }) => at >= days.from)));
  const oneMoreNode = await askOneMoreNode(accounts, question, inWindow, pools.value);
  if (!oneMoreNode.ok) return oneMoreNode;
  const startTimes = await askStartTimes(accounts, question);
  if (!startTimes.ok) return startTimes;
  onProgress("nodes");
  const idleNodes = await askIdleNodes(accounts, question);
  if (!idleNodes.ok) return idleNodes;
  const notAdvised = await askNotAdvised(accounts, question, idleNodes.value.pools);
  if (!notAdvised.ok) return notAdvised;
  const fragmentation = await askFragmentation(accounts, question);
  if (!fragmentation.ok) return fragmentation;
  const topology = await askTopology(accounts, question);
  if (!topology.ok) return topology;
  const faults = await askFaults(accounts, question);
  if (!faults.ok) return faults;
  return part({
    demand: demandRows(question, inWindow, pools.value, time, oneMoreNode.value),
    runway: runwayRows(question, inWindow, pools.value, time),
    startTimes: startTimes.value,
    idleNodes: idleNodes.value,
    fragmentation: fragmentation.value,
    topology: topology.value,
    faults: faults.value,
    ...notAdvised.value,
  });
}

const wholeHour = (at: number): number => Math.floor(at / 3600) * 3600;

async function askPools(
  accounts: ReviewAccounts,
  { days }: ReviewQuestion,
  hours: ReadonlyMap<string, readonly DomainHour[]>,
): Promise<Part<DomainPools>> {
  const asked = await accounts.queryPools({ from: days.from, to: days.to });
  if (!asked.ok) return asked;
  const pools = new Map([...hours.keys()].map((domain) => [domain, [] as string[]]));
  for (const { domain, pool } of asked.answer.domains) pools.get(domain)?.push(pool);
  return part(pools);
}
