import { createLedgerReader } from "../../exporter/accounts/ledger/ledgerReader.ts";
import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { createLedgerHistory } from "../../exporter/history/ledgerHistory.ts";
import type { ReviewQuestion } from "../../review/build/source.ts";
import { openHistory } from "../history/openHistory.ts";
import type { Io } from "../io.ts";
import { readConfig } from "../readConfig.ts";

/** Where a review takes its numbers from. */
export interface ReviewPlaces {
  readonly ledger: string | null;
  readonly prometheus: string | null;
  /** Names the ledger or the server, if the others do not; and the cluster, its budgets and what nobody pays for. */
  readonly configFile: string | null;
  readonly cluster: string | null;
  /** What a ledger is called in messages, where that is not its path. */
  readonly ledgerName?: string;
}

/** Who answers, and what must be closed afterwards. */
export interface OpenReview {
  readonly source: Pick<ReviewQuestion, "cluster" | "history" | "accounts" | "budgets" | "notCharged">;
  readonly close: () => Promise<void>;
}

/** A question may take so long: the ledger of a large cluster is read from end to end for its jobs. */
const patienceMilliseconds = 300_000;

/** Opens the places of a review; `null` after it has been said why that cannot be done. */
export async function openReview(places: ReviewPlaces, io: Io): Promise<OpenReview | null> {
  const config = places.configFile === null ? defaultConfig : await readConfig(places.configFile, io);
  if (config === null) return null;
  const { budgets, notCharged } = config.cost;
  const cluster = places.cluster ?? config.cluster;
  const ledger = places.ledger ?? (places.prometheus === null ? (config.ledger?.path ?? null) : null);
  if (places.ledger !== null && places.prometheus !== null)
    return refuse("there are several places to ask", "Give one of --ledger FILE and --prometheus URL.", io);
  if (ledger !== null) {
    const opened = openToQuery(ledger);
    if (!opened.ok) return refuse(opened.problem.message, opened.problem.nextStep, io);
    opened.db.close();
    const accounts = createLedgerReader(ledger, patienceMilliseconds);
    const history = createLedgerHistory(places.ledgerName ?? ledger, accounts.query);
    return { source: { cluster, history, accounts, budgets, notCharged }, close: accounts.close };
  }
  const server = await openHistory(
    {
      ledger: null,
      prometheus: places.prometheus,
      configFile: places.prometheus === null ? places.configFile : null,
      cluster: places.cluster ?? (places.configFile === null ? null : config.cluster),
    },
    io,
  );
  if (server === null) return null;
  return { source: { cluster, history: server.history, accounts: null, budgets, notCharged }, close: server.close };
}

function refuse(error: string, nextStep: string, io: Io): null {
  io.err(`fairlead: ${error}\nNext step: ${nextStep}\n`);
  return null;
}
