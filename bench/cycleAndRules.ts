/**
 * Runs the cycle and a Prometheus server's rules by turns on one fleet, to get the two ratios between them for the short form.
 * The full form asks `cycle` and `prometheus` one after the other, because at 10,000 nodes both together fill a machine; but
 * minutes lie between the two, and a busy machine changes in that time.
 */
import { startFleet } from "./fleet/fleet.ts";
import { compare, type Measurement, ratioByRounds, type Sample, summary } from "./measure.ts";
import { assertWhole, createProduct, wholeOf } from "./product.ts";
import { ask } from "./question.ts";
import { installedPrometheus } from "./ruleProgram.ts";
import { eightRules, oneRule, perEvaluation, startRuleServer } from "./ruleServer.ts";

const warmUps = 12;
/**
 * The cycles that are run before each measured one. Garbage is collected before each turn, which also discards compiled code:
 * the two cycles that follow cost up to twice as much as later ones.
 */
const uncounted = 3;
/**
 * Seconds between two scrapes. They are few because a thousand pages are few; the first round of scrapes is spread over the
 * interval.
 */
const intervalSeconds = 8;
const joining = "join and analyse";

await ask("cycleAndRules", async ({ nodes, samples, helpers, progress }) => {
  const prometheus = installedPrometheus();
  if (prometheus === null) return { measurements: [], figures: {}, notes: ["no prometheus server is installed"] };
  const fleet = await startFleet(nodes);
  for (const pid of fleet.pids) helpers.add(pid);
  const product = createProduct(fleet);
  try {
    progress(`prometheus scrapes ${nodes} pages, one round in ${intervalSeconds} s`);
    // The server is started before the fleet's first change, so that the pods on the pages are those of `kube_pod_labels`.
    const server = await startRuleServer(prometheus, nodes, fleet, intervalSeconds, (pid) => helpers.add(pid));
    try {
      progress("first cycles");
      await product.sync();
      for (let done = 0; done < warmUps; done += 1) await product.cycle();
      assertWhole(product, nodes);
      progress("cycles and instant queries by turns");
      const { one, eight } = server.contenders;
      const stages: Sample[] = [];
      const whole: Sample[] = [];
      const cycle = async (): Promise<void> => {
        // During the turn of the rules, connections were idle as well, and the processor's caches were filled with other data.
        for (let done = 0; done < uncounted; done += 1) await product.cycle();
        const times = await product.cycle();
        whole.push(wholeOf(times));
        stages.push(wholeOf(new Map([...times].filter(([stage]) => stage === "join" || stage === "analyse"))));
      };
      const rules = await compare([{ name: "cycle", run: cycle }, one, eight], { samples });
      const taken: readonly Measurement[] = [
        // The samples of the warm-up round are left out.
        summary("whole cycle", 1, whole.slice(-samples)),
        summary(joining, 1, stages.slice(-samples)),
        ...rules.slice(1).map(perEvaluation),
      ];
      const figures = {
        ratioOfCycleToRule: ratioByRounds(taken, (ms) => ms("whole cycle") / ms(oneRule)),
        ratioOfRulesToJoin: ratioByRounds(taken, (ms) => ms(eightRules) / ms(joining)),
      };
      return { measurements: taken, figures };
    } finally {
      await server.stop();
      await product.stop();
    }
  } finally {
    fleet.stop();
  }
});
