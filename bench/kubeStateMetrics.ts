/** What do kube-state-metrics and Fairlead spend for the same pods and nodes, and how large are their pages? */
import { spawn } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startFleet } from "./fleet/fleet.ts";
import { podsPerNode } from "./fleet/layout.ts";
import { compare, summary } from "./measure.ts";
import { exactCpuSecondsOf, residentBytesOf, untilIdle } from "./processCpu.ts";
import { createProduct } from "./product.ts";
import { ask } from "./question.ts";
import { lastLineOf } from "./ruleProgram.ts";

const port = 18_080;

await ask("kubeStateMetrics", async ({ nodes, samples, helpers, progress }) => {
  progress("kube-state-metrics is built, unless it is there already");
  const program = lastLineOf(fileURLToPath(new URL("tools/install-kube-state-metrics.sh", import.meta.url)));
  if (program === null) return { measurements: [], figures: {}, notes: ["kube-state-metrics could not be built"] };
  const fleet = await startFleet(nodes);
  const server = spawn(
    program,
    [
      `--apiserver=${fleet.apiUrl}`,
      "--resources=pods,nodes,namespaces",
      `--port=${port}`,
      "--telemetry-port=18081",
      "--host=127.0.0.1",
      "--telemetry-host=127.0.0.1",
    ],
    { stdio: ["ignore", "ignore", "ignore"] },
  );
  const pid = server.pid ?? 0;
  for (const helper of [...fleet.pids, pid]) helpers.add(helper);
  try {
    progress("kube-state-metrics lists");
    const from = performance.now();
    // Each page costs kube-state-metrics seconds: it is only asked for one once it seems to be done.
    await wait(2000);
    await untilIdle(pid, 300);
    const syncMs = { cpuMs: exactCpuSecondsOf(pid) * 1000, wallMs: performance.now() - from };
    const shown = podsOn(await scrape());
    if (shown !== nodes * podsPerNode) throw new Error(`kube-state-metrics shows ${shown} pods`);
    progress("its page");
    let pageBytes = 0;
    const [page] = await compare(
      [
        {
          name: "kube-state-metrics: one scrape",
          run: async () => (pageBytes = (await scrape()).length),
          cpuSeconds: () => exactCpuSecondsOf(pid),
        },
      ],
      { samples },
    );
    const rss = residentBytesOf(pid);
    server.kill("SIGKILL");
    progress("Fairlead lists the same");
    const product = createProduct(fleet);
    const sync = await product.sync();
    await product.cycle();
    const ownPage = product.stack.latest()?.page.length ?? 0;
    await product.stop();
    return {
      measurements: [
        summary("kube-state-metrics: first list of pods, nodes, namespaces", 1, [syncMs]),
        ...(page === undefined ? [] : [page]),
        summary("Fairlead: first list of everything, owners too", 1, [sync]),
      ],
      figures: {
        kubeStateMetricsPageMiB: pageBytes / 2 ** 20,
        kubeStateMetricsRssMiB: rss / 2 ** 20,
        fairleadPageMiB: ownPage / 2 ** 20,
        pageRatio: pageBytes / ownPage,
      },
    };
  } finally {
    server.kill("SIGKILL");
    fleet.stop();
  }
});

async function scrape(): Promise<Buffer> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return Buffer.from(await response.arrayBuffer());
}

function podsOn(page: Buffer): number {
  const name = "\nkube_pod_info{";
  let found = 0;
  for (let at = page.indexOf(name); at !== -1; at = page.indexOf(name, at + 1)) found += 1;
  return found;
}
