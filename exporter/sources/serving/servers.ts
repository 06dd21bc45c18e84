import { type LatencyKind, latencyKinds, type ServingServer } from "../../model/serving.ts";

/** The quantity that a metric of a server measures. */
export type ServingQuantity =
  | "running"
  | "waiting"
  | "finished"
  | "finishedElse"
  | "promptTokens"
  | "generatedTokens"
  | "sleepState"
  | LatencyKind;

/** The names of the metrics of one server, as its `/metrics` has them. */
export interface ServerNames {
  readonly server: ServingServer;
  readonly source: string;
  readonly running?: string;
  readonly waiting?: string;
  /** Counters of requests that have ended, which are added up. A page without the first one has no count of them. */
  readonly finished: readonly string[];
  /** Replaces the first of `finished` in releases that lack it. */
  readonly finishedElse?: string;
  readonly promptTokens?: string;
  readonly generatedTokens?: string;
  /** A metric that is 1 for the state of an engine, by the label `sleep_state`. */
  readonly sleepState?: string;
  /** Buckets of histograms in seconds; the first one on a page counts, because newer releases show both names. */
  readonly firstToken?: readonly string[];
  readonly perToken?: readonly string[];
}

/**
 * The metrics of each server, outermost server first: where a page has the metrics of several, requests are counted by the
 * first one that counts them, because the others run inside it. Each name is in a captured page (`test/captured/serving-*`),
 * except where `source` says otherwise. Last reviewed on 2026-11-25.
 */
export const serverTable: readonly ServerNames[] = [
  {
    server: "dynamo",
    source: "ai-dynamo/dynamo, metrics of a worker's endpoints, in its guide to metrics and in an example page",
    running: "dynamo_component_inflight_requests",
    finished: ["dynamo_component_requests_total"],
  },
  {
    server: "triton",
    source: "Triton 2.38 or later, port 8002; it has no gauge of requests that run",
    waiting: "nv_inference_pending_request_count",
    finished: ["nv_inference_request_success", "nv_inference_request_failure"],
  },
  {
    server: "nim",
    source: "NIM for LLMs, port 8000, path /v1/metrics",
    running: "num_requests_running",
    waiting: "num_requests_waiting",
    finished: ["request_finish_total"],
    finishedElse: "request_success_total",
    promptTokens: "prompt_tokens_total",
    generatedTokens: "generation_tokens_total",
    firstToken: ["time_to_first_token_seconds_bucket"],
    perToken: ["time_per_output_token_seconds_bucket"],
  },
  {
    server: "vllm",
    source: "vLLM 0.4 to 0.15, port 8000",
    running: "vllm:num_requests_running",
    waiting: "vllm:num_requests_waiting",
    finished: ["vllm:request_success_total"],
    promptTokens: "vllm:prompt_tokens_total",
    generatedTokens: "vllm:generation_tokens_total",
    sleepState: "vllm:engine_sleep_state",
    firstToken: ["vllm:time_to_first_token_seconds_bucket"],
    perToken: ["vllm:inter_token_latency_seconds_bucket", "vllm:time_per_output_token_seconds_bucket"],
  },
  {
    server: "sglang",
    source: "SGLang 0.5.10 with --enable-metrics, port 30000",
    running: "sglang:num_running_reqs",
    waiting: "sglang:num_queue_reqs",
    finished: ["sglang:num_requests_total"],
    promptTokens: "sglang:prompt_tokens_total",
    generatedTokens: "sglang:generation_tokens_total",
    firstToken: ["sglang:time_to_first_token_seconds_bucket"],
    perToken: ["sglang:inter_token_latency_seconds_bucket", "sglang:time_per_output_token_seconds_bucket"],
  },
  {
    server: "tgi",
    source: "text-generation-inference, docs/source/reference/metrics.md (no captured page was found)",
    running: "tgi_batch_current_size",
    waiting: "tgi_queue_size",
    finished: ["tgi_request_success", "tgi_request_failure"],
    promptTokens: "tgi_request_input_length_sum",
    generatedTokens: "tgi_request_generated_tokens_sum",
  },
];

/**
 * Labels that distinguish copies of one number. Each rank of a tensor- or pipeline-parallel SGLang may report the requests of
 * the whole model, and SGLang reports their sum beside its parts by priority. The largest of the copies counts; data-parallel
 * ranks, engines and models are added up.
 */
export const copyLabels: ReadonlySet<string> = new Set([
  "tp_rank",
  "pp_rank",
  "moe_ep_rank",
  "attn_tp_rank",
  "pid",
  "priority",
]);

/** One metric name of a page, and the quantity that it measures. */
export interface ServingMetric {
  readonly server: ServingServer;
  readonly quantity: ServingQuantity;
  readonly name: string;
}

/** All names of the table. */
export const servingMetrics: readonly ServingMetric[] = serverTable.flatMap((names) => {
  const { server } = names;
  const of = (quantity: ServingQuantity, name: string | undefined): readonly ServingMetric[] =>
    name === undefined ? [] : [{ server, quantity, name }];
  return [
    ...of("running", names.running),
    ...of("waiting", names.waiting),
    ...names.finished.flatMap((name) => of("finished", name)),
    ...of("finishedElse", names.finishedElse),
    ...of("promptTokens", names.promptTokens),
    ...of("generatedTokens", names.generatedTokens),
    ...of("sleepState", names.sleepState),
    ...latencyKinds.flatMap((kind) => (names[kind] ?? []).flatMap((name) => of(kind, name))),
  ];
});
