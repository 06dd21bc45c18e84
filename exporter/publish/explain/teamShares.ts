import type { Analysis } from "../../analysis/analysis.ts";
import { gpus } from "../terminal/columns.ts";
import { signed } from "../terminal/teamTable.ts";
import type { Fact } from "./schema.ts";

const shownQueues = 6;

/** What a team is entitled to in each quota domain, and through which queues; nothing where nothing is known of queues. */
export function shareFacts(team: string, { snapshot, fairness }: Analysis): Fact[] {
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
    return [
      {
        name: "entitled",
        value: `${gpus(total.entitled)} GPUs`,
        how: `in domain ${name}, where it holds ${gpus(total.allocated)}: deviation ${signed(total.deviation)}; through ${through || "no queue"}; see fairlead explain queue`,
      },
    ];
  });
}
