import { matches } from "../exporter/catalogue/promql.ts";
import { adviceGpus, adviceTable } from "./adviceTable.ts";
import { type DashboardDefinition, opening, row } from "./dashboard.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { text } from "./panel/text.ts";
import { demandOfDomains, domainTable, unmetDemand } from "./reviewDemand.ts";
import { movers, outcomes } from "./reviewMovers.ts";
import { weekAgainstWeek, whatGpusDid } from "./reviewWeeks.ts";

/** One page to hold the weekly meeting from: the last 7 days against the 7 before, what comes, and what to decide. */
export const review: DashboardDefinition = {
  name: "review",
  title: "Fairlead: weekly capacity review",
  description: "What changed in a week, will capacity last, and what should we decide?",
  variables: ["team", "domain"],
  from: "now-7d",
  refresh: "",
  sections: (tools) => [
    opening(...weekAgainstWeek(tools), whatGpusDid(tools)),
    row("Is there enough?", demandOfDomains(tools), unmetDemand(tools), domainTable(tools)),
    row(
      "Who and what to do",
      movers(tools),
      adviceTable(tools, {
        title: "What should be done?",
        meaning: `The eight open recommendations that gain most GPUs, and what each saves a week in ${tools.currency}. Decide on each: take it, or dismiss it with a reason, so that it is not offered again.`,
        size: [24, 10],
        gpus: tools.query.without("pool", "domain").recorded(adviceGpus, { from_team: matches("$team") }),
        count: 8,
        per: "week",
        ageLevels: worseAbove(
          ...limitOf(tools.alerts, "GpuRecommendationIgnored", ({ openForSeconds }) => openForSeconds),
        ),
      }),
      outcomes(tools),
      questions(tools.page("/review", "").url),
    ),
  ],
};

function questions(reviewUrl: string) {
  return text({
    title: "What do we decide today?",
    size: [10, 12],
    markdown: [
      "1. **Is there enough?** Where demand passes capacity in the next weeks: take waste back first, move quota, or buy? Who asks for what, and until when?",
      "2. **Who gives back what?** Idle GPUs by team above: which of them go today, and which stay, with whose name beside the reason?",
      "3. **Which recommendations do we take?** One owner for each, or dismissed with a reason. What became of those of last week?",
      "",
      `All numbers compare the 7 days before the end of the time range with the 7 days before these; the time range moves their end only. Numbers without a team's or a domain's name are of all. [The review in Fairlead](${reviewUrl}) has the same week from its own accounts, with waits and jobs.`,
    ].join("\n"),
  });
}
