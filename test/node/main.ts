/**
 * `npm run test:node`: starts two real nodes, runs the tests of this folder against them, and ends them. What follows goes to vitest,
 * but for two words:
 *
 *   npm run test:node -- hold                    holds the node until it is interrupted, and prints how to use it
 *   npm run test:node -- kills [COUNT] [SEED]    ends pod, container or node at random moments, and checks each ledger
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installedInTime } from "../servers/program.ts";
import { type GivenNodes, nodesVariable } from "./givenNode.ts";
import { killAtRandom } from "./killAtRandom.ts";
import { whyNoNode } from "./machine.ts";
import { prepareNodes } from "./preparedNode.ts";
import type { RealNode } from "./realNode.ts";

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function withNodes(
  count: number,
  work: (nodes: readonly RealNode[], hasOlderImage: boolean) => Promise<number>,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-node-"));
  let end = async (): Promise<void> => undefined;
  const interrupted = (): void => void end().finally(() => process.exit(130));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupted);
  try {
    const { nodes, hasOlderImage } = await prepareNodes(folder, count, say, (started) => {
      end = async () => {
        await Promise.all(started.map(async (node) => await node.stop()));
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      };
    });
    return await work(nodes, hasOlderImage);
  } finally {
    await end();
  }
}

const withNode = async (work: (node: RealNode) => Promise<number>): Promise<number> =>
  await withNodes(1, async ([node]) => {
    if (node === undefined) throw new Error("no node was started");
    return await work(node);
  });

async function runTests(nodes: readonly RealNode[], hasOlderImage: boolean, words: readonly string[]): Promise<number> {
  const [beside, alone] = nodes.map(({ place }) => place);
  if (beside === undefined || alone === undefined) throw new Error("two nodes are needed");
  const handed: GivenNodes = { beside, alone, hasOlderImage };
  const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
  const flags = [vitest, "run", "--config", "vitest.node.config.ts", ...words];
  const env = { ...process.env, [nodesVariable]: JSON.stringify(handed) };
  const [status] = await once(spawn(process.execPath, flags, { stdio: "inherit", env }), "close");
  return typeof status === "number" ? status : 1;
}

async function hold(node: RealNode): Promise<number> {
  const { folder, kube, helm } = node.place;
  const script = `KUBE=${kube} bash test/tools/node/node.sh exec ${folder}`;
  say(`${script} kubectl get pods --all-namespaces`);
  say(`${script} ${helm}/helm install fairlead deploy/helm/fairlead --namespace fairlead --create-namespace --wait`);
  say("Interrupt it (Ctrl+C) to end the node.");
  await new Promise(() => setInterval(() => undefined, 1 << 30));
  return 0;
}

const [mode, ...rest] = process.argv.slice(2);
const reason =
  whyNoNode() ??
  ((await installedInTime("install-node.sh")) === undefined
    ? "the node's programs are not there, and there is no time to build them. Next step: bash test/tools/install-node.sh"
    : null);
if (reason !== null) say(`skipped: the whole tier: ${reason}`);
else if (mode === "hold") process.exitCode = await withNode(hold);
else if (mode === "kills") {
  const [count = "30", seed = "1"] = rest;
  process.exitCode = await withNode(async (node) => {
    await killAtRandom(node, { count: Number(count), seed: Number(seed), say });
    return 0;
  });
} else
  process.exitCode = await withNodes(
    2,
    async (nodes, hasOlderImage) => await runTests(nodes, hasOlderImage, process.argv.slice(2)),
  );
