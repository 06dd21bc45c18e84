/**
 * What do servers that people run today spend on the same join? Each scrapes the same fleet and one page of `kube_pod_labels`;
 * then, while they scrape nothing, the expression of one recording rule over one metric, and those of eight rules, are
 * evaluated as instant queries, all servers by turns. Scraping and storing are not counted, which favours them.
 */
import { startFleet } from "./fleet/fleet.ts";
import { compare } from "./measure.ts";
import { cpuSecondsOf, residentBytesOf } from "./processCpu.ts";
import { ask } from "./question.ts";
import { builtPrometheus, installedPrometheus, type RuleProgram, victoriaMetrics } from "./ruleProgram.ts";
import { perEvaluation, type RuleServer, startRuleServer } from "./ruleServer.ts";

await ask("prometheus", async ({ nodes, samples, helpers, progress }) => {
  const prometheus = installedPrometheus();
  if (prometheus === null) return { measurements: [], figures: {}, notes: ["no prometheus server is installed"] };
  progress("Prometheus 3 is built, unless it is there already");
  const others: readonly (readonly [string, RuleProgram | null])[] = [
    ["prometheus3", builtPrometheus()],
    ["victoriaMetrics", victoriaMetrics()],
  ];
  const fleet = await startFleet(nodes);
  for (const pid of fleet.pids) helpers.add(pid);
  const intervalSeconds = Math.max(15, Math.ceil(nodes / 150));
  const servers: (readonly [string, RuleServer])[] = [];
  try {
    for (const [name, program] of [["", prometheus] as const, ...others]) {
      if (program === null) continue;
      progress(`${program.command} scrapes ${nodes} pages, one round in ${intervalSeconds} s`);
      servers.push([name, await startRuleServer(program, nodes, fleet, intervalSeconds, (pid) => helpers.add(pid))]);
    }
    progress("instant queries");
    const contenders = servers.flatMap(
      ([
        ,
        {
          contenders: { one, eight, plainSum },
        },
      ]) => [one, eight, plainSum],
    );
    const taken = await compare(contenders, { samples });
    const figures: Record<string, number> = {};
    for (const [name, { pid }] of servers) {
      figures[name === "" ? "rssMiB" : `${name}RssMiB`] = residentBytesOf(pid) / 2 ** 20;
      figures[name === "" ? "totalCpuSeconds" : `${name}TotalCpuSeconds`] = cpuSecondsOf(pid);
    }
    const notes = others.flatMap(([name, program]) => (program === null ? [`${name} is not installed`] : []));
    return { measurements: taken.map(perEvaluation), figures, notes };
  } finally {
    for (const [, server] of servers) await server.stop();
    fleet.stop();
  }
});
