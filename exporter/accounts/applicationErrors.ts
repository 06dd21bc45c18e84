import type { Device, Snapshot } from "../join/snapshot.ts";
import { type ApplicationError, applicationErrorOf, applicationErrors } from "../model/gpuFaults.ts";
import type { Account } from "./posting.ts";
import { type CounterCell, createCounterTable, other } from "./seriesTable.ts";

export interface ApplicationErrorLabels {
  readonly team: string;
  readonly error: ApplicationError;
}

/** An error of a pod's GPU. */
export interface SeenError {
  readonly error: ApplicationError;
  /** When a page first showed the error, seconds since the epoch. */
  readonly at: number;
}

/** Counts XID errors that blame the job and not the GPU, by the team whose job it was. */
export interface ApplicationErrors {
  /** Publishes the series that the next moment can add to. Where no telemetry reports XID errors, nothing is published. */
  announce(snapshot: Snapshot, accounts: readonly Pick<Account, "team">[]): void;
  /**
   * Counts the errors that a moment shows and the one before did not, for the team that held the GPU alone. An exporter shows
   * the last error until it restarts, so an error that was there at the first look has no date and is not counted.
   */
  see(snapshot: Snapshot): void;
  /**
   * The last error that a GPU first showed while this pod (uid) held it alone; `null` if there was none within the last hour.
   */
  errorOf(uid: string): SeenError | null;
  totals(): readonly Readonly<CounterCell<ApplicationErrorLabels>>[];
}

/** The part of `limits.series` that these series may take. */
const budget = 0.02;
/** How long it stays known which pod had an error. */
const horizonSeconds = 3600;

/** Creates counters that have seen nothing yet. `teamLabel` gives a team's label, within the budget of teams. */
export function createApplicationErrors(series: number, teamLabel: (team: string) => string): ApplicationErrors {
  const fold = (labels: ApplicationErrorLabels): ApplicationErrorLabels => ({ ...labels, team: other });
  const table = createCounterTable<ApplicationErrorLabels>(series * budget, fold, fold);
  /** The error that a GPU shows, by UUID; GPUs without one are not in it. */
  let shown: ReadonlyMap<string, ShownError> = new Map();
  let earlier: Snapshot | null = null;
  /** The last error of each pod that had the GPU, by uid. */
  const byPod = new Map<string, SeenError>();

  /**
   * Remembers the error for the pod that held the GPU. The earlier holder comes first: its program may have ended by the error,
   * and the next one may hold the GPU already.
   */
  function remember(snapshot: Snapshot, node: string, uuid: string, error: ApplicationError): void {
    const before = earlier === null ? [] : podsAt(earlier, node, uuid);
    const [uid, ...others] = new Set(before.length > 0 ? before : podsAt(snapshot, node, uuid));
    if (uid != null && others.length === 0) byPod.set(uid, { error, at: snapshot.at });
  }

  const cellOf = (team: string, error: ApplicationError) => table.cell({ team: teamLabel(team), error });

  function isNew(node: string, uuid: string, code: number): boolean {
    const known = shown.get(uuid);
    if (known !== undefined) return known.code !== code;
    return earlier !== null && devicesAt(earlier, node, uuid).some(({ reading }) => reading?.lastXid === 0);
  }

  /**
   * The team that an error belongs to; `null` if there is not exactly one. The job may have ended since, and the next one may
   * hold the GPU already, so earlier holders count as well.
   */
  function teamOf(snapshot: Snapshot, node: string, uuid: string): string | null {
    const moments = earlier === null ? [snapshot] : [earlier, snapshot];
    const teams = new Set(moments.flatMap((moment) => teamsAt(moment, node, uuid)));
    const [team = null] = teams.size === 1 ? teams : [];
    return team;
  }

  return {
    announce(snapshot, accounts) {
      table.begin(snapshot.at);
      if (!snapshot.devices.some(({ reading }) => reading !== null && reading.lastXid !== null)) return;
      for (const team of new Set(accounts.map((account) => account.team)))
        if (team !== null) for (const error of applicationErrors) cellOf(team, error);
    },
    see(snapshot) {
      const now = shownNow(snapshot);
      for (const [uuid, { code, node }] of now) {
        const error = applicationErrorOf(code);
        const team = error === null || !isNew(node, uuid, code) ? null : teamOf(snapshot, node, uuid);
        if (error !== null && team !== null) {
          cellOf(team, error).value += 1;
          remember(snapshot, node, uuid, error);
        }
      }
      shown = withMissing(now, shown, snapshot);
      earlier = snapshot;
      for (const [uid, { at }] of byPod) if (at < snapshot.at - horizonSeconds) byPod.delete(uid);
    },
    errorOf: (uid) => byPod.get(uid) ?? null,
    totals: () => table.cells,
  };
}

interface ShownError {
  readonly code: number;
  readonly node: string;
}

function shownNow({ devices }: Snapshot): Map<string, ShownError> {
  const found = new Map<string, ShownError>();
  for (const { uuid, node, reading } of devices) {
    const code = reading?.lastXid ?? 0;
    if (code !== 0 && uuid !== null) found.set(uuid, { code, node });
  }
  return found;
}

/** Adds the errors of GPUs that no page shows now: their pages will show them again when they come back. */
function withMissing(
  now: Map<string, ShownError>,
  before: ReadonlyMap<string, ShownError>,
  snapshot: Snapshot,
): ReadonlyMap<string, ShownError> {
  const gone = [...before].filter(([uuid]) => !now.has(uuid));
  const read = gone.length === 0 ? null : readGpus(snapshot);
  for (const [uuid, error] of gone) if (read?.has(uuid) === false) now.set(uuid, error);
  return now;
}

function readGpus({ devices }: Snapshot): ReadonlySet<string | null> {
  return new Set(devices.flatMap(({ uuid, reading }) => (reading === null ? [] : [uuid])));
}

/** The devices of a GPU on a node: the GPU itself, or its MIG instances. */
function devicesAt({ nodes, devices }: Snapshot, node: string, uuid: string): readonly Device[] {
  const own = nodes.find(({ name }) => name === node)?.devices ?? [];
  return own.flatMap((index) => {
    const device = devices[index];
    return device?.uuid === uuid ? [device] : [];
  });
}

/** Uids of the pods that hold any part of the GPU; `null` stands for a holder that is only estimated, or has no uid. */
function podsAt(snapshot: Snapshot, node: string, uuid: string): readonly (string | null)[] {
  return devicesAt(snapshot, node, uuid).flatMap(({ holders }) =>
    holders.map(({ pod, estimated }) => (estimated ? null : (snapshot.pods[pod]?.uid ?? null))),
  );
}

/** Teams that hold any part of the GPU; `null` stands for a holder that is only estimated. */
function teamsAt(snapshot: Snapshot, node: string, uuid: string): readonly (string | null)[] {
  return devicesAt(snapshot, node, uuid).flatMap(({ holders }) =>
    holders.map(({ pod, estimated, isSplitAlone }) =>
      estimated && isSplitAlone !== true ? null : (snapshot.pods[pod]?.team ?? null),
    ),
  );
}
