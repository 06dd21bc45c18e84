/**
 * Measures rendering: this project's families and page, compared with prom-client (set, then metrics()), for the same series:
 * 100 for each node, which are 100,000 at 1,000 nodes.
 */
import { Gauge, Registry } from "prom-client";
import { type RenderCache, renderPage } from "../exporter/publish/prometheus/render.ts";
import { createSeries, familiesOf } from "./families.ts";
import { compare, ratioByRounds } from "./measure.ts";
import { ask } from "./question.ts";

await ask("render", async ({ nodes, samples, isShort, progress }) => {
  const series = createSeries(nodes * 100);
  let round = 0;
  const registry = new Registry();
  const gauges = series.names.map(
    (name) => new Gauge({ name, help: "Bench.", labelNames: series.labelNames, registers: [registry] }),
  );
  const promClient = async (): Promise<string> => {
    round += 1;
    for (const [metric, gauge] of gauges.entries()) {
      for (const [index, labels] of series.labelSets.entries()) gauge.set(labels, series.value(metric, index, round));
    }
    return await registry.metrics();
  };
  // The cache is kept from page to page, as the exporter keeps it.
  const rendered: RenderCache = new Map();
  const own = (cache: RenderCache): Buffer => {
    round += 1;
    return renderPage(familiesOf(series, round), cache);
  };

  const lines = (page: string): number => page.split("\n").filter((line) => line.startsWith("bench_metric_")).length;
  const [theirs, ours] = [lines(await promClient()), lines(own(rendered).toString())];
  if (theirs !== ours) throw new Error(`the pages differ: ${theirs} and ${ours} series`);
  progress(`${ours} series`);
  const [client, page] = ["prom-client: set and metrics()", "Fairlead: families and page"];
  const first = { name: "Fairlead: families and first page, nothing remembered", run: () => own(new Map()) };
  const measurements = await compare(
    [{ name: client, run: promClient }, { name: page, run: () => own(rendered) }, ...(isShort ? [] : [first])],
    { samples },
  );
  const ratioOfPromClientToPage = ratioByRounds(measurements, (ms) => ms(client) / ms(page));
  return { measurements, figures: { series: ours, ratioOfPromClientToPage } };
});
