import type { Analysis } from "../../analysis/analysis.ts";
import type { TeamTotals } from "../../analysis/totals.ts";
import type { WaitingWork } from "../../analysis/waiting/waiting.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import { shellQuote } from "../../kernel/shellQuote.ts";
import type { GpuState } from "../../model/gpuStates.ts";
import { gpus, percent, plainText, signed } from "../terminal/columns.ts";
import { causeText } from "./causeText.ts";
import { dispatchedFacts } from "./queueEntitlement.ts";
import type { Fact } from "./schema.ts";
import { workFacts } from "./workFacts.ts";

/** States of allocated GPUs that could not have been active, with words for them. */
const excluded: readonly (readonly [GpuState, string])[] = [
  ["unobserved", "unobserved"],
  ["gang_wait", "in gangs that wait"],
  ["starting", "starting"],
  ["unavailable", "unavailable"],
];

const shownWorkloads = 6;

/** How a team's numbers add up. */
export function teamFacts(team: TeamTotals, analysis: Analysis): Fact[] {
  return [
    { name: "holds", value: `${gpus(team.allocated)} GPUs`, how: workloadSum(team.team, analysis) },
    {
      name: "active",
      value: `${gpus(team.active)} GPUs`,
      how: "the sum over its holdings of share x activity, of those that are observed and not idle",
    },
    { name: "use", value: percent(team.utilization), how: useOf(team) },
    ...workFacts(team.team, analysis),
    {
      name: "estimated",
      value: `${gpus(team.estimated)} GPUs`,
      how: "allocated GPUs whose device is not known, or whose activity had to be split",
    },
    waitFact(team, analysis),
    ...dispatchedFacts((work) => work.team === team.team, analysis),
    ...shareFacts(team.team, analysis),
  ];
}

const shownQueues = 6;

/** What a team is entitled to in each quota domain, and through which queues; none if queues are unknown. */
function shareFacts(team: string, { snapshot, fairness }: Analysis): Fact[] {
  const { domains, queues } = snapshot.queueing;
  return domains.flatMap(({ name, unknownBecause }, domain) => {
    const own = queues.flatMap((queue, index) => {
      const share = queue.domain === domain ? queue.teams.find((one) => one.team === team) : undefined;
      return share === undefined ? [] : [{ queue, share, entitled: fairness.queues[index]?.entitled ?? null }];
    });
    const total = fairness.teams.find((one) => one.team === team && one.domain === domain);
    if (own.length === 0 && total === undefined) return [];
    if (total === undefined)
      return [
        { name: "entitled", value: "unknown", how: `in domain ${name}: ${unknownBecause ?? "nothing was computed"}` },
      ];
    const shown = own.slice(0, shownQueues).map(({ queue, share, entitled }) => {
      const shared = queue.teams.length > 1 ? `, shared by ${queue.teams.length} teams` : "";
      const of = entitled === null ? "" : `, entitled to ${gpus(entitled)}${shared}`;
      return `${queue.name} (the team holds ${gpus(share.allocated)} and waits for ${gpus(share.pending)}${of})`;
    });
    const more = own.length > shownQueues ? [`${own.length - shownQueues} more`] : [];
    const through = [...shown, ...more].join(", ");
    const [first] = own;
    const next =
      first === undefined ? "" : `; see fairlead explain queue ${shellQuote(plainText(first.queue.name, 253))}`;
    return [
      {
        name: "entitled",
        value: `${gpus(total.entitled)} GPUs`,
        how: `in domain ${name}, where it holds ${gpus(total.allocated)}: deviation ${signed(total.deviation)}; through ${through || "no queue"}${next}`,
      },
    ];
  });
}

function useOf({ active, allocated, states, utilization }: TeamTotals): string {
  if (utilization === null) return "nothing that it holds was observed";
  const minus = excluded
    .filter(([state]) => (states[state] ?? 0) > 1e-9)
    .map(([state, name]) => ` - ${gpus(states[state] ?? 0)} ${name}`);
  return `${gpus(active)} active / (${gpus(allocated)} allocated${minus.join("")})`;
}

function workloadSum(team: string, { accountingEntries, snapshot }: Analysis): string {
  const allocated = new Map<number, number>();
  for (const { pod: index, gpus: amount } of accountingEntries.list) {
    const pod = index === null ? undefined : snapshot.pods[index];
    if (pod?.team === team) allocated.set(pod.workload, (allocated.get(pod.workload) ?? 0) + amount);
  }
  const largest = [...allocated].sort(([, a], [, b]) => b - a);
  const shown = largest.slice(0, shownWorkloads).map(([index, amount]) => {
    const workload = snapshot.workloads[index];
    return `${gpus(amount)} ${workload?.kind ?? "?"} ${workload?.namespace ?? "?"}/${workload?.name ?? "?"}`;
  });
  const rest = largest.slice(shownWorkloads);
  const more =
    rest.length > 0 ? [`${gpus(rest.reduce((sum, [, amount]) => sum + amount, 0))} in ${rest.length} more`] : [];
  return largest.length === 0 ? "no workload of it holds a GPU" : [...shown, ...more].join(" + ");
}

/** Why a gang waits. A check or a LimitRange is named, because the cause alone does not show what to do. */
function whyItWaits({ checks, never, reason }: WaitingGang, work: WaitingWork | undefined): string {
  const cause = causeText(work);
  if (checks !== undefined) return `${cause}: ${reason}`;
  if (never === null) return cause;
  return `never as things are: ${never}${never === "limit-range" ? `: ${reason}` : ""}`;
}

/** The fact about what a team's gangs wait for, whether they have pods or not. If gangs are unknown, its pods are counted. */
function waitFact({ team, pending }: TeamTotals, analysis: Analysis): Fact {
  const { snapshot, waiting } = analysis;
  const own = [...snapshot.queueing.gangs.entries()].filter(([, gang]) => gang.team === team);
  if (own.length === 0) return { name: "waits for", value: `${gpus(pending)} GPUs`, how: waitingSum(team, analysis) };
  const works = new Map(waiting.work.map((work) => [work.gang, work] as const));
  const total = own.reduce((sum, [, gang]) => sum + (gang.gpus ?? 0), 0);
  const largest = own.toSorted(([, a], [, b]) => (b.gpus ?? 0) - (a.gpus ?? 0));
  const shown = largest.slice(0, shownWorkloads).map(([index, gang]) => {
    const { kind, namespace, name, gpus: amount } = gang;
    const why = whyItWaits(gang, works.get(index));
    return `${amount === null ? "unknown" : gpus(amount)} ${kind} ${namespace}/${name} (${why})`;
  });
  const rest = largest.slice(shownWorkloads).reduce((sum, [, gang]) => sum + (gang.gpus ?? 0), 0);
  const more = own.length > shownWorkloads ? [`${gpus(rest)} in ${own.length - shownWorkloads} more`] : [];
  return { name: "waits for", value: `${gpus(total)} GPUs`, how: [...shown, ...more].join(" + ") };
}

function waitingSum(team: string, { snapshot }: Analysis): string {
  const waiting = snapshot.pods.filter((pod) => pod.team === team && pod.status === "pending");
  if (waiting.length === 0) return "no pod of it waits for a GPU";
  const unknown = waiting.filter((pod) => pod.gpus === null).length;
  return `${waiting.length} pods that are not bound to a node${unknown > 0 ? `; of ${unknown} it is not known for how many` : ""}`;
}
