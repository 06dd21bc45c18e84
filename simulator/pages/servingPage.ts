import type { SimPod, World } from "../cluster/world.ts";
import type { ServesSpec } from "../scenario.ts";

/** The address of a pod with a page of its server; `null` for other pods, and for the workers of a server on several nodes. */
export function serverAddress(pod: SimPod): { readonly ip: string; readonly port: number } | null {
  const { serves, kind } = pod.workload.spec;
  if (serves === undefined || (kind === "LeaderWorkerSet" && pod.index > 0)) return null;
  const part = (shift: number): number => (pod.key >>> shift) & 255;
  return { ip: `10.${part(16)}.${part(8)}.${part(0)}`, port: serves.server === "vllm" ? 8000 : 30_000 };
}

/** The page at a URL, now; `null` if no server listens there. */
export function serverPage(world: World, url: string): string | null {
  for (const { pods } of world.workloads)
    for (const pod of pods) {
      const address = pod.phase === "Running" ? serverAddress(pod) : null;
      if (address !== null && url === `http://${address.ip}:${address.port}/metrics`) return pageOf(world, pod);
    }
  return null;
}

/** Seconds that every request takes, and the tokens that it reads and writes. */
const requestSeconds = 4;
const tokens = { prompt: 300, generated: 200 } as const;

function pageOf({ time }: World, pod: SimPod): string {
  const { serves } = pod.workload.spec;
  if (serves === undefined) return "";
  const running = Math.max(0, time - pod.startedTime);
  const ended = Math.floor(serves.requestsPerSecond * workedSeconds(serves, running));
  const isDead = serves.diesAfterSeconds !== undefined && running >= serves.diesAfterSeconds;
  const inside = isDead ? 32 : insideNow(serves, running);
  const isAsleep = serves.sleepsAfterSeconds !== undefined && running >= serves.sleepsAfterSeconds;
  const lines = serves.server === "vllm" ? vllmLines(serves, ended, inside, isAsleep) : sglangLines(ended, inside);
  const shown = serves.gaugesOnly === true ? lines.filter((line) => !/requests?_(success_)?total/.test(line)) : lines;
  return `${shown.join("\n")}\n`;
}

/** How long a server has worked on requests, seconds. */
function workedSeconds({ untilSeconds, diesAfterSeconds }: ServesSpec, running: number): number {
  const ends = [running, untilSeconds ?? running, diesAfterSeconds ?? running];
  return Math.max(0, Math.min(...ends) - requestSeconds);
}

/** How many requests are inside now. Requests are short: a gauge may read 0 at most looks although requests come. */
function insideNow({ untilSeconds, requestsPerSecond }: ServesSpec, running: number): number {
  const isOver = untilSeconds !== undefined && running >= untilSeconds;
  return isOver ? 0 : Math.floor(requestsPerSecond * requestSeconds);
}

/** Some of the upper bounds of vLLM's histogram of times to the first token. */
const firstTokenBounds = [0.02, 0.25, 0.5, 1, 2.5, 5, 10] as const;

function vllmLines(serves: ServesSpec, ended: number, inside: number, isAsleep: boolean): readonly string[] {
  const { firstTokenSeconds, waiting = 0 } = serves;
  const labels = 'engine="0",model_name="chat"';
  const state = (name: string, isSo: boolean) =>
    `vllm:engine_sleep_state{${labels},sleep_state="${name}"} ${isSo ? "1.0" : "0.0"}`;
  return [
    `vllm:num_requests_running{${labels}} ${inside}.0`,
    `vllm:num_requests_waiting{${labels}} ${waiting}.0`,
    `vllm:prompt_tokens_total{${labels}} ${ended * tokens.prompt}.0`,
    `vllm:generation_tokens_total{${labels}} ${ended * tokens.generated}.0`,
    `vllm:request_success_total{${labels},finished_reason="stop"} ${ended}.0`,
    ...(firstTokenSeconds === undefined
      ? []
      : [...firstTokenBounds, Number.POSITIVE_INFINITY].map((bound) => {
          const le = bound === Number.POSITIVE_INFINITY ? "+Inf" : `${bound}`;
          return `vllm:time_to_first_token_seconds_bucket{${labels},le="${le}"} ${firstTokenSeconds <= bound ? ended : 0}.0`;
        })),
    state("awake", !isAsleep),
    state("weights_offloaded", isAsleep),
    state("discard_all", false),
  ];
}

function sglangLines(ended: number, inside: number): readonly string[] {
  const ranks = [0, 1].map((rank) => `model_name="chat",tp_rank="${rank}",pp_rank="0"`);
  return [
    ...ranks.flatMap((labels) => [
      `sglang:num_running_reqs{${labels}} ${inside}.0`,
      `sglang:num_queue_reqs{${labels}} 0.0`,
    ]),
    `sglang:prompt_tokens_total{model_name="chat"} ${ended * tokens.prompt}.0`,
    `sglang:generation_tokens_total{model_name="chat"} ${ended * tokens.generated}.0`,
    `sglang:num_requests_total{model_name="chat"} ${ended}.0`,
  ];
}
