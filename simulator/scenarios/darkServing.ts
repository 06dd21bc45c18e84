import type { Scenario, ServesSpec, WorkloadSpec } from "../scenario.ts";
import { adviceScenario, lasting, wholeNodes } from "./advice/parts.ts";
import { workloadOf } from "./parts.ts";

const hour = 3600;
/** Kernels that poll for requests: they are wholly busy, whatever comes. */
const polling = { kind: "constant", level: 0.97 } as const;
const quiet = { kind: "constant", level: 0.02 } as const;

/** A server of four H100 whose kernels poll for requests. */
export const pollingServer = (
  namespace: string,
  serves: ServesSpec | null,
  changes: Partial<WorkloadSpec> = {},
): WorkloadSpec =>
  workloadOf("Deployment", namespace, 1, { kind: "physicalGpus", count: 4 }, polling, {
    models: ["H100"],
    ...(serves === null ? {} : { serves }),
    ...changes,
  });

const often: ServesSpec = { server: "sglang", requestsPerSecond: 2 };
/** Many requests, of which none comes after these seconds of running. */
export const requestsUntil = (untilSeconds: number): ServesSpec => ({ ...often, untilSeconds });
/** A tenth of a request is inside on average, so that its gauge reads 0 at nearly all looks. */
export const rareRequests: ServesSpec = { server: "vllm", requestsPerSecond: 0.02 };

/**
 * Servers that poll busily, each of a team of its own: one whose requests end after an hour, on one node and on two; one that
 * sleeps from then on; and similar ones that have requests all the time, short ones, no counter of them, no page, or an engine
 * that died with requests inside. Batch work has the page of a server, too.
 */
export function darkServingScenario(): Scenario {
  const ends = requestsUntil(hour);
  const teams = ["dark", "spread", "asleep", "busy", "short", "gauges", "pageless", "dead", "offline"];
  return adviceScenario("dark-serving", {
    warmupSeconds: 0,
    nodes: wholeNodes("h100", 8, "H100"),
    namespaces: teams.map((name) => ({ name, team: name })),
    habits: [
      lasting("chat", pollingServer("dark", ends), 1),
      lasting("large", pollingServer("spread", ends, { kind: "LeaderWorkerSet", pods: 2, gang: true }), 1),
      lasting(
        "nap",
        pollingServer("asleep", { ...rareRequests, untilSeconds: hour, sleepsAfterSeconds: hour }, { activity: quiet }),
        1,
      ),
      lasting("chat", pollingServer("busy", often), 1),
      lasting("chat", pollingServer("short", rareRequests), 1),
      lasting("chat", pollingServer("gauges", { ...ends, gaugesOnly: true }), 1),
      lasting("chat", pollingServer("pageless", null), 1),
      lasting("chat", pollingServer("dead", { ...often, diesAfterSeconds: hour }), 1),
      lasting("eval", pollingServer("offline", ends, { kind: "Job" }), 1),
    ],
  });
}
