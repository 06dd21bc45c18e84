/**
 * What does a Prometheus server spend on the same join? It scrapes the same fleet and one page of `kube_pod_labels`; then,
 * while it scrapes nothing, the expression of one recording rule over one metric, and those of eight rules, are evaluated as
 * instant queries. Scraping and storing are not counted, which favours Prometheus.
 */
import { spawnSync } from "node:child_process";
import { startFleet } from "./fleet/fleet.ts";
import { compare } from "./measure.ts";
import { cpuSecondsOf, residentBytesOf } from "./processCpu.ts";
import { ask } from "./question.ts";
import { perEvaluation, startRuleServer } from "./ruleServer.ts";

await ask("prometheus", async ({ nodes, samples, helpers, progress }) => {
  if (spawnSync("prometheus", ["--version"]).error !== undefined) {
    return { measurements: [], figures: {}, notes: ["no prometheus server is installed"] };
  }
  const fleet = await startFleet(nodes);
  for (const pid of fleet.pids) helpers.add(pid);
  const intervalSeconds = Math.max(15, Math.ceil(nodes / 150));
  try {
    progress(`prometheus scrapes ${nodes} pages, one round in ${intervalSeconds} s`);
    const server = await startRuleServer(nodes, fleet, intervalSeconds, (pid) => helpers.add(pid));
    try {
      const rssMiB = residentBytesOf(server.pid) / 2 ** 20;
      progress("instant queries");
      const { one, eight, plainSum } = server.contenders;
      const taken = await compare([one, eight, plainSum], { samples });
      const figures = { rssMiB, totalCpuSeconds: cpuSecondsOf(server.pid) };
      return { measurements: taken.map(perEvaluation), figures };
    } finally {
      await server.stop();
    }
  } finally {
    fleet.stop();
  }
});
