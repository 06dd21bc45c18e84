import type { AccountsQuery, LedgerCoverage } from "../../exporter/accounts/ledger/accountsQuery.ts";
import { type Part, part, type ReviewQuestion } from "./source.ts";

const secondsPerHour = 3600;
const secondsPerDay = 86_400;
/** The longest window, in seconds, that is divided by hours; a longer one is divided by days. */
const longestByHour = 15 * secondsPerDay;
const maxRows = 1_000_000;

/** The counted GPU time of a window by pool; if the review is about one team, only the time of that team. */
export interface PoolTime {
  /** Length of a step: an hour, or a day where the window is long or the ledger has folded its hours into days. */
  readonly stepSeconds: number;
  /** Active GPU-seconds by pool and begin of the step. */
  readonly active: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** Idle GPU-seconds by pool. */
  readonly idle: ReadonlyMap<string, number>;
  /** GPU-seconds whose device or split of activity is estimated. */
  readonly estimatedGpuSeconds: number;
  readonly coverage: LedgerCoverage;
}

/**
 * Asks for the GPU time of the window. This is done once, because the ledger of a large cluster is read from end to end for
 * each question. `null` without a ledger.
 */
export async function askPoolTime({ accounts, days, team }: ReviewQuestion): Promise<Part<PoolTime | null>> {
  if (accounts === null) return part(null);
  const query: Omit<AccountsQuery, "groupBy"> = {
    from: days.from,
    to: days.to,
    where: new Map(team === null ? [] : [["team" as const, [team]] as const]),
    limit: maxRows,
  };
  const isShort = days.to - days.from <= longestByHour;
  const byHour = isShort ? await accounts.query({ ...query, groupBy: ["hour", "pool", "state"] }) : null;
  const isByHour = byHour?.ok === true;
  const asked = isByHour ? byHour : await accounts.query({ ...query, groupBy: ["day", "pool", "state"] });
  if (!asked.ok) return asked;
  const active = new Map<string, Map<number, number>>();
  const idle = new Map<string, number>();
  for (const { values, gpuSeconds } of asked.answer.rows) {
    const [time = "", pool = "", state = ""] = values.map((value) => value ?? "");
    if (state === "idle") idle.set(pool, (idle.get(pool) ?? 0) + gpuSeconds);
    if (state !== "active") continue;
    const times = active.get(pool) ?? new Map<number, number>();
    active.set(pool, times.set(Date.parse(time) / 1000, gpuSeconds));
  }
  const { totals, coverage } = asked.answer;
  const stepSeconds = isByHour ? secondsPerHour : secondsPerDay;
  return part({ stepSeconds, active, idle, estimatedGpuSeconds: totals.estimatedGpuSeconds, coverage });
}
