import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ServingRecord } from "../../exporter/model/serving.ts";
import { readServingPage } from "../../exporter/sources/serving/readPage.ts";
import { freePort, Program } from "./program.ts";

const script = fileURLToPath(new URL("../tools/vllm.sh", import.meta.url));
const folder = folderOfVllm();
if (folder === null)
  process.stderr.write("skipped: vLLM is not there. Next step: `bash test/tools/vllm.sh` installs it, once (6 GB)\n");

/** vLLM is never installed by a test run, because it is too large; `null`: it is not there. */
function folderOfVllm(): string | null {
  try {
    const env = { ...process.env, FAIRLEAD_TEST_ONLY_ASK: "yes" };
    return execFileSync("bash", [script], { encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null;
  }
}

/** The server works on so many requests at a time; others wait. */
const atOnce = 2;
const startSeconds = 300;

const completionSchema = z.object({
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }),
});

describe.skipIf(folder === null)("a real vLLM on the CPU, with random weights", () => {
  let logs: string;
  let server: Program;
  let url: string;
  const read = async (): Promise<ServingRecord> => {
    const page = await fetch(`${url}/metrics`);
    const reading = readServingPage(Buffer.from(await page.arrayBuffer()));
    if (!reading.ok) throw new Error(reading.because);
    return reading.record;
  };
  const ask = async (prompt: string, tokens: number) => {
    const answer = await fetch(`${url}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "tiny", prompt, max_tokens: tokens, ignore_eos: true }),
    });
    return completionSchema.parse(await answer.json()).usage;
  };
  /** Reads pages until one is as wanted. */
  const readUntil = async (isWanted: (record: ServingRecord) => boolean): Promise<ServingRecord> => {
    const deadline = Date.now() + 60_000;
    let record = await read();
    while (!isWanted(record) && Date.now() < deadline) {
      await sleep(50);
      record = await read();
    }
    return record;
  };

  beforeAll(async () => {
    logs = await mkdtemp(join(tmpdir(), "fairlead-vllm-"));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const flags = [
      "serve",
      `${folder}/model`,
      "--served-model-name",
      "tiny",
      "--load-format",
      "dummy",
      "--enforce-eager",
    ];
    const limits = ["--dtype", "bfloat16", "--max-model-len", "512", "--max-num-seqs", String(atOnce)];
    server = new Program(
      logs,
      `${folder}/venv/bin/vllm`,
      [...flags, ...limits, "--host", "127.0.0.1", "--port", String(port)],
      {
        HF_HUB_OFFLINE: "1",
        VLLM_NO_USAGE_STATS: "1",
        VLLM_CPU_KVCACHE_SPACE: "1",
        VLLM_CPU_OMP_THREADS_BIND: "nobind",
      },
    );
    server.start();
    await server.ready(async () => (await fetch(`${url}/health`)).status, startSeconds * 1000);
  }, startSeconds * 1000);

  afterAll(async () => {
    await server?.kill("SIGTERM");
    await rm(logs, { recursive: true, force: true });
  });

  test("an awake server without requests is empty, and its counters are 0", async () => {
    expect(await read()).toMatchObject({
      servers: ["vllm"],
      running: 0,
      waiting: 0,
      isEmpty: true,
      finished: 0,
      promptTokens: 0,
      generatedTokens: 0,
      isAsleep: false,
    });
  });

  test("requests run and wait by the limit of the server, and what it counts is what its answers say", {
    timeout: 240_000,
  }, async () => {
    const before = await read();
    const asked = Promise.all(["one", "of the two", "that wait", "of four"].map((prompt) => ask(prompt, 400)));
    const busy = await readUntil(({ running, waiting }) => running === atOnce && waiting === 2);
    expect(busy).toMatchObject({ running: atOnce, waiting: 2, isEmpty: false });
    const answers = await asked;
    const after = await readUntil(
      ({ isEmpty, finished }) => isEmpty === true && finished === (before.finished ?? 0) + 4,
    );
    const sumOf = (kind: "prompt_tokens" | "completion_tokens") => answers.reduce((sum, usage) => sum + usage[kind], 0);
    expect(after).toMatchObject({
      isEmpty: true,
      finished: (before.finished ?? 0) + 4,
      promptTokens: (before.promptTokens ?? 0) + sumOf("prompt_tokens"),
      generatedTokens: (before.generatedTokens ?? 0) + sumOf("completion_tokens"),
    });
    // One first token of each answer; all others come after another.
    const last = (of: "firstToken" | "perToken") => after.latencies?.findLast((one) => one.of === of)?.value;
    expect(last("firstToken")).toBe(after.finished);
    expect(last("perToken")).toBe((after.generatedTokens ?? 0) - (after.finished ?? 0));
  });
});
