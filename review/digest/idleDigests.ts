import type { DigestSettings } from "../../exporter/config/digestSchema.ts";
import { compareText } from "../../exporter/kernel/compareText.ts";
import type { WorkloadRecord } from "../../exporter/publish/document/schema.ts";

/** What a digest needs of a workload of the API. */
export type DigestedWorkload = Pick<WorkloadRecord, "kind" | "namespace" | "name" | "team" | "owner" | "idle">;

/** The idle GPUs of one model that a workload has. */
export interface IdleGpus {
  readonly workload: Pick<DigestedWorkload, "kind" | "namespace" | "name">;
  readonly model: string;
  readonly reason: DigestedWorkload["idle"][number]["reason"];
  readonly gpus: number;
  /** Since when all of them have been idle, an instant of ISO 8601. */
  readonly since: string;
  /** What they cost a day, by currency; empty where no price is known. */
  readonly costsPerDay: Readonly<Record<string, number>>;
  /** GPUs that are not in the costs, because their price is not known. */
  readonly unpricedGpus: number;
}

/** What one owner or team has idle, and where it is posted. */
export interface IdleDigest {
  readonly of: { readonly kind: "owner" | "team"; readonly name: string };
  /** The channel to post to; `null`: the configuration names none. */
  readonly channel: string | null;
  /** Its idle GPUs; those with the most idle GPU time so far are first. */
  readonly idle: readonly IdleGpus[];
}

/**
 * A digest for each owner or team with GPUs that have been idle for long enough (`minIdleHours`). Work of one owner in teams
 * with channels of their own makes several, so that no channel shows the work of another team. Pure; `now` in milliseconds
 * since the epoch.
 */
export function idleDigests(
  workloads: readonly DigestedWorkload[],
  settings: DigestSettings,
  now: number,
): readonly IdleDigest[] {
  const found = new Map<string, IdleDigest & { readonly idle: IdleGpus[] }>();
  for (const workload of workloads) {
    const idle = workload.idle.filter(({ since }) => now - Date.parse(since) >= settings.minIdleHours * 3_600_000);
    if (idle.length === 0) continue;
    const { owner, team } = workload;
    const of = owner === null ? ({ kind: "team", name: team } as const) : ({ kind: "owner", name: owner } as const);
    const channel = channelOf(settings, owner, team);
    const key = JSON.stringify([of, channel]);
    const digest = found.get(key) ?? { of, channel, idle: [] };
    found.set(key, digest);
    digest.idle.push(...idle.map((one) => idleGpus(workload, one)));
  }
  const idleSoFar = ({ gpus, since }: IdleGpus): number => gpus * (now - Date.parse(since));
  const digests = [...found.values()].map((digest) => ({
    ...digest,
    idle: digest.idle.toSorted((one, other) => idleSoFar(other) - idleSoFar(one)),
    weight: digest.idle.reduce((sum, one) => sum + idleSoFar(one), 0),
  }));
  return digests
    .toSorted((one, other) => other.weight - one.weight || compareText(one.of.name, other.of.name))
    .map(({ weight: _, ...digest }) => digest);
}

/** The owner's own channel, else the team's, else the one of all others. */
function channelOf({ channels, defaultChannel }: DigestSettings, owner: string | null, team: string): string | null {
  const named =
    (owner === null ? undefined : channels.find(({ owners }) => owners.includes(owner))) ??
    channels.find(({ teams }) => teams.includes(team));
  return named?.channel ?? defaultChannel ?? null;
}

function idleGpus(
  { kind, namespace, name }: DigestedWorkload,
  { model, reason, gpus, since, costs, unpricedGpus }: DigestedWorkload["idle"][number],
): IdleGpus {
  const perDay = costs.map(({ currency, perHour }) => [currency, perHour * 24] as const);
  return {
    workload: { kind, namespace, name },
    model,
    reason,
    gpus,
    since,
    costsPerDay: Object.fromEntries(perDay),
    unpricedGpus,
  };
}
