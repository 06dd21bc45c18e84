import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../../cli/run.ts";
import { plainTerminal } from "../../exporter/publish/terminal/layout.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { accept, type Receiver, seriesOf, spansOf, startReceiver } from "../publish/otlp/receiver.ts";
import { readPage } from "../publish/readPage.ts";
import { until } from "../servers/kubernetesAdmin.ts";

/** Against hanging only. */
const patienceSeconds = 100;

let simulator: Simulator;
let receiver: Receiver;
let folder: string;

beforeAll(async () => {
  simulator = await startSimulator({ scenario: demoScenario(), seed: 1, startAt: Math.floor(Date.now() / 1000) });
  receiver = await startReceiver();
  folder = await mkdtemp(join(tmpdir(), "fairlead-serve-otlp-"));
});
afterAll(async () => {
  await receiver.close();
  await simulator.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts `fairlead serve` on the simulated cluster; resolves when it is ready. */
async function serve() {
  const kubeconfig = join(folder, "kubeconfig.yaml");
  await writeFile(
    kubeconfig,
    `apiVersion: v1\nkind: Config\nclusters: [{name: t, cluster: {server: "${simulator.apiUrl}"}}]\nusers: [{name: t, user: {}}]\ncontexts: [{name: t, context: {cluster: t, user: t}}]\ncurrent-context: t\n`,
  );
  const file = join(folder, "fairlead.yaml");
  await writeFile(
    file,
    `cluster: harbor\ninterval: 1\nkubernetes: { kubeconfig: ${kubeconfig} }\notlp: { endpoint: "${receiver.url}" }\n`,
  );
  let log = "";
  let interrupt = (): void => {};
  const interrupted = new Promise<void>((resolve) => {
    interrupt = resolve;
  });
  const flags = ["serve", "--config.file", file, "--web.listen-address", "127.0.0.1:0"];
  const io = {
    out: () => {},
    err: (text: string) => {
      log += text;
    },
    isTerminal: false,
    terminal: plainTerminal,
    interrupted,
  };
  const served = run(flags, io);
  const address = /"url":"(http:[^"]+)"/;
  await until("it says where it listens", () => address.test(log), patienceSeconds);
  const url = (address.exec(log)?.[1] ?? "").replace(/\/$/, "");
  await until("ready", async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok === true, patienceSeconds);
  return { url, served, interrupt: () => interrupt(), log: () => log };
}

const get = async (url: string): Promise<string> => await (await fetch(url)).text();

describe("serve with OpenTelemetry output", () => {
  test("to an endpoint that refuses goes on, says so in one line, one metric and one log line, and recovers", async () => {
    receiver.answer((response) => response.writeHead(400).end("no room"));
    const { url, served, interrupt, log } = await serve();
    const failed = async () =>
      readPage(await get(`${url}/metrics`)).find(
        ({ name, labels }) =>
          name === "fairlead_otlp_exported_total" &&
          labels.get("item") === "point" &&
          labels.get("result") === "failed",
      )?.value ?? 0;
    await until("the failure is in the metrics", async () => (await failed()) > 0, patienceSeconds);
    const page = await get(`${url}/metrics`);
    expect(page).toMatch(/fairlead_problems\{[^}]*code="otlp-export-failed"[^}]*\} 1\n/);
    // The pages for people are made after the metrics of the same cycle.
    const isShown = async () => (await get(url)).includes("the last export to");
    await until("the front page shows the failure", isShown, patienceSeconds);
    const front = await get(url);
    expect(front.match(/the last export to/g)).toHaveLength(1);
    expect(front).toContain("no room");
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(log().match(/the last export to/g)).toHaveLength(1);
    receiver.answer(accept);
    receiver.requests.length = 0;
    const isOver = async () => {
      const answer = await fetch(url);
      return !(await answer.text()).includes("the last export to") && answer.ok;
    };
    await until("the problem is over", isOver, patienceSeconds);
    interrupt();
    expect(await served).toBe(0);
    const metrics = receiver.requests.filter(({ path }) => path === "/v1/metrics");
    expect(seriesOf(metrics).some((line) => line.startsWith("fairlead_team_gpus["))).toBe(true);
    const spans = receiver.requests.filter(({ path }) => path === "/v1/traces").flatMap(spansOf);
    expect(new Set(spans.map(({ name }) => name))).toContain("cycle");
  });
});
