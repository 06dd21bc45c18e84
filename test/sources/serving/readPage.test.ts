import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { latencyKinds } from "../../../exporter/model/serving.ts";
import { readServingPage, type ServingReading } from "../../../exporter/sources/serving/readPage.ts";
import { serverTable, servingMetrics } from "../../../exporter/sources/serving/servers.ts";

const captured = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../../captured/serving-${name}/metrics.txt`), "utf8");

const read = (text: string): ServingReading => readServingPage(Buffer.from(text));

const recordOf = (text: string) => {
  const reading = read(text);
  return reading.ok ? reading.record : reading.because;
};

/** A record whose counters add up to its sums, without them. */
function withoutCounters(text: string) {
  const record = recordOf(text);
  if (typeof record === "string") throw new Error(record);
  const { counters = [], latencies: _, ...sums } = record;
  const sumOf = (kind: string) => counters.reduce((sum, { counts, value }) => sum + (counts === kind ? value : 0), 0);
  expect(sums.finished).toBe(sumOf("requests"));
  expect([sums.promptTokens ?? 0, sums.generatedTokens ?? 0]).toEqual([sumOf("prompt"), sumOf("generated")]);
  return sums;
}

test.each([
  [
    "vllm",
    [
      [0.5, 1],
      [0.05, 6],
    ],
  ],
  [
    "vllm-busy",
    [
      [2.5, 2],
      [5, 9],
    ],
  ],
  [
    "sglang",
    [
      [0.1, 1],
      [0.01, 31],
    ],
  ],
  [
    "nim",
    [
      [0.02, 0],
      [0.075, 169],
    ],
  ],
] as const)("%s has histograms of both latencies", (name, wanted) => {
  const record = recordOf(captured(name));
  if (typeof record === "string") throw new Error(record);
  for (const [i, of] of latencyKinds.entries()) {
    const own = (record.latencies ?? []).filter((one) => one.of === of);
    expect(own.at(-1)?.bound).toBe(Number.POSITIVE_INFINITY);
    const [bound, value] = wanted[i] ?? [0, 0];
    expect(own.find((one) => one.bound === bound)?.value ?? 0).toBe(value);
  }
});

describe("pages of real servers (test/captured/SOURCES.md)", () => {
  test("vLLM: one request has ended, nothing runs, its engine is awake", () => {
    expect(withoutCounters(captured("vllm"))).toEqual({
      servers: ["vllm"],
      running: 0,
      waiting: 0,
      isEmpty: true,
      finished: 1,
      promptTokens: 5,
      generatedTokens: 7,
      isAsleep: false,
    });
  });

  test("vLLM of today under load: two requests run, two wait, and none has ended", () => {
    expect(withoutCounters(captured("vllm-busy"))).toEqual({
      servers: ["vllm"],
      running: 2,
      waiting: 2,
      isEmpty: false,
      finished: 0,
      promptTokens: 14,
      generatedTokens: 11,
      isAsleep: false,
    });
  });

  test("SGLang: ranks are labels, and one request has ended", () => {
    expect(withoutCounters(captured("sglang"))).toEqual({
      servers: ["sglang"],
      running: 0,
      waiting: 0,
      isEmpty: true,
      finished: 1,
      promptTokens: 5,
      generatedTokens: 32,
      isAsleep: null,
    });
  });

  test("an SGLang of before it counted requests has none that have ended: unknown, not 0", () => {
    expect(recordOf(captured("sglang-gauges"))).toMatchObject({
      running: 162,
      waiting: 2826,
      isEmpty: false,
      finished: null,
      generatedTokens: 7557572,
    });
  });

  test("Triton: eight models are added up, and only waiting requests are a gauge", () => {
    expect(withoutCounters(captured("triton"))).toEqual({
      servers: ["triton"],
      running: null,
      waiting: 0,
      isEmpty: true,
      finished: 3,
      promptTokens: null,
      generatedTokens: null,
      isAsleep: null,
    });
  });

  test("NIM: requests that have ended are counted once, although two counters have them", () => {
    expect(recordOf(captured("nim"))).toMatchObject({
      servers: ["nim"],
      running: 1,
      waiting: 0,
      isEmpty: false,
      finished: 5,
      promptTokens: 109,
      generatedTokens: 174,
    });
  });

  test("a worker of Dynamo with vLLM: the request is counted where it comes in, and missing gauges are unknown", () => {
    expect(recordOf(captured("vllm-dynamo"))).toMatchObject({
      servers: ["dynamo"],
      running: null,
      isEmpty: null,
      finished: 10,
    });
  });
});

test("every name of the table is in a captured page but those of TGI, Dynamo's gauge, and names of latencies in other releases", () => {
  const pages = ["vllm", "vllm-busy", "sglang", "triton", "nim", "vllm-dynamo"].map(captured).join("\n");
  const missing = servingMetrics.filter(({ name }) => !new RegExp(`^${name}[ {]`, "m").test(pages));
  expect(missing.map(({ name }) => name)).toEqual([
    "dynamo_component_inflight_requests",
    "sglang:time_per_output_token_seconds_bucket",
    "tgi_batch_current_size",
    "tgi_queue_size",
    "tgi_request_success",
    "tgi_request_failure",
    "tgi_request_input_length_sum",
    "tgi_request_generated_tokens_sum",
  ]);
  expect(serverTable.every(({ finished }) => finished.length > 0)).toBe(true);
});

describe("sums", () => {
  const vllm = (series: readonly string[]) => `${series.map((one) => `vllm:${one}`).join("\n")}\n`;

  test("engines and models are added up", () => {
    const page = vllm([
      'num_requests_running{engine="0",model_name="a"} 0',
      'num_requests_running{engine="1",model_name="a"} 2',
      'num_requests_waiting{engine="0",model_name="a"} 1',
      'num_requests_waiting{engine="1",model_name="a"} 0',
      'request_success_total{engine="0",finished_reason="stop",model_name="a"} 10',
      'request_success_total{engine="1",finished_reason="stop",model_name="a"} 5',
      'request_success_total{engine="1",finished_reason="abort",model_name="b"} 2',
    ]);
    expect(recordOf(page)).toMatchObject({ running: 2, waiting: 1, finished: 17, isEmpty: false });
  });

  test("ranks of one model that all report its requests are no more requests; data-parallel ranks are", () => {
    const rank = (name: string, tp: number, dp: number, value: number) =>
      `sglang:${name}{model_name="m",tp_rank="${tp}",dp_rank="${dp}"} ${value}`;
    const page = [
      rank("num_running_reqs", 0, 0, 3),
      rank("num_running_reqs", 1, 0, 3),
      rank("num_running_reqs", 2, 1, 4),
      'sglang:num_queue_reqs{model_name="m",priority=""} 2',
      'sglang:num_queue_reqs{model_name="m",priority="5"} 1',
      'sglang:num_requests_total{model_name="m",is_streaming="true"} 4',
      'sglang:num_requests_total{model_name="m",is_streaming="false"} 3',
      "",
    ].join("\n");
    expect(recordOf(page)).toMatchObject({ running: 7, waiting: 2, finished: 7 });
  });

  test("Triton with vLLM inside counts a request once, and is empty only if both are", () => {
    const page = (running: number) =>
      [
        'nv_inference_request_success{model="m",version="1"} 7',
        'nv_inference_pending_request_count{model="m",version="1"} 0',
        `vllm:num_requests_running{model="m",version="1"} ${running}`,
        'vllm:num_requests_waiting{model="m",version="1"} 0',
        'vllm:request_success_total{model="m",version="1",finished_reason="stop"} 7',
        'vllm:generation_tokens_total{model="m",version="1"} 900',
        "",
      ].join("\n");
    expect(recordOf(page(0))).toMatchObject({
      servers: ["triton", "vllm"],
      finished: 7,
      generatedTokens: 900,
      isEmpty: true,
    });
    expect(recordOf(page(1))).toMatchObject({ running: 1, isEmpty: false });
  });

  test("failed requests of Triton have ended, too", () => {
    const page = [
      'nv_inference_request_success{model="m",version="1"} 2',
      'nv_inference_request_failure{model="m",version="1",reason="BACKEND"} 3',
      'nv_inference_request_failure{model="m",version="1",reason="CANCELED"} 1',
      "",
    ].join("\n");
    expect(recordOf(page)).toMatchObject({ finished: 6, waiting: null, isEmpty: null });
  });

  test("TGI, by the names of its documentation", () => {
    const page = [
      "tgi_batch_current_size 0",
      "tgi_queue_size 0",
      "tgi_request_success 40",
      'tgi_request_failure{err="overloaded"} 2',
      "tgi_request_generated_tokens_sum 8123",
      "tgi_request_input_length_sum 4000",
      "",
    ].join("\n");
    expect(recordOf(page)).toMatchObject({
      servers: ["tgi"],
      isEmpty: true,
      finished: 42,
      promptTokens: 4000,
      generatedTokens: 8123,
    });
  });
});

describe("what is unknown stays unknown", () => {
  const page = (lines: readonly string[]) => `${lines.join("\n")}\n`;
  const base = ["vllm:num_requests_running 0", "vllm:num_requests_waiting 0"];

  test("gauges alone have no number of requests that have ended", () => {
    expect(recordOf(page(base))).toMatchObject({ isEmpty: true, finished: null, generatedTokens: null });
  });

  test("a missing gauge: not empty, not busy", () => {
    const lines = ["vllm:num_requests_waiting 0", 'vllm:request_success_total{finished_reason="stop"} 1'];
    expect(recordOf(page(lines))).toMatchObject({ isEmpty: null, running: null, finished: 1 });
  });

  test.each(["NaN", "+Inf", "-1", "1e300"])("a counter of %s", (value) => {
    expect(recordOf(page([...base, `vllm:request_success_total ${value}`]))).toMatchObject({ finished: null });
  });

  test("a line that is not understood may be the engine with requests: the page gives nothing", () => {
    expect(recordOf(page([...base, 'vllm:num_requests_running{engine="1" 4']))).toBe("malformed");
    expect(recordOf(`${page(base)}vllm:request_success_total 1`)).toBe("malformed");
  });

  test("no page of a server: GPU metrics, names without a prefix and without a counter, nothing", () => {
    expect(recordOf("DCGM_FI_DEV_GPU_UTIL 4\n")).toBe("no_server");
    expect(recordOf("num_requests_running 0\nnum_requests_waiting 0\n")).toBe("no_server");
    expect(recordOf("")).toBe("no_server");
  });

  test("more series than a server has give nothing, and cost little", () => {
    const many = Array.from({ length: 20_100 }, (_one, i) => `vllm:num_requests_running{engine="${i}"} 0`);
    expect(recordOf(page(many))).toBe("too_many_series");
  });
});

describe("sleep", () => {
  const state = (engine: number, states: Readonly<Record<string, number>>) =>
    Object.entries(states).map(
      ([name, value]) => `vllm:engine_sleep_state{engine="${engine}",sleep_state="${name}"} ${value}`,
    );
  const asleep = { awake: 0, weights_offloaded: 1, discard_all: 0 };
  const awake = { awake: 1, weights_offloaded: 0, discard_all: 0 };
  const unset = { awake: 0, weights_offloaded: 0, discard_all: 0 };
  test.each([
    ["an engine whose weights are offloaded", [asleep], true],
    ["one whose weights are discarded", [{ awake: 0, weights_offloaded: 0, discard_all: 1 }], true],
    ["one of two is awake", [asleep, awake], false],
    ["a state that was never set", [unset], null],
  ])("%s", (_case, engines, expected) => {
    const lines = ["vllm:num_requests_running 0", ...engines.flatMap((states, i) => state(i, states))];
    expect(recordOf(`${lines.join("\n")}\n`)).toMatchObject({ isAsleep: expected });
  });
});

test("reading never throws, whatever the bytes are", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      readServingPage(Buffer.from(bytes));
    }),
  );
});
