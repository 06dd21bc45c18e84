import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { queryAccounts } from "../../exporter/accounts/ledger/queryAccounts.ts";
import { sqliteProblem } from "../../exporter/accounts/ledger/sqliteError.ts";
import { historySchema } from "../../exporter/config/moneySchema.ts";
import { createLedgerHistory } from "../../exporter/history/ledgerHistory.ts";
import type { Io } from "../io.ts";
import { readConfig } from "../readConfig.ts";
import { withhold } from "../showProblem.ts";
import { type OpenHistory, serverHistory } from "./historySource.ts";

/** Where a command takes its answers from; exactly one is given. */
export interface HistoryChoice {
  readonly ledger: string | null;
  readonly prometheus: string | null;
  readonly configFile: string | null;
  /** The cluster that is asked about, on a server that holds several; `null`: the server has only one. */
  readonly cluster: string | null;
}

const systemNow = (): number => Date.now() / 1000;
const monotonic = (): number => performance.now() / 1000;

/** Opens what was chosen; `null` after it has been said why that cannot be done. */
export async function openHistory(choice: HistoryChoice, io: Io): Promise<OpenHistory | null> {
  const given = [choice.ledger, choice.prometheus, choice.configFile].filter((one) => one !== null);
  if (given.length !== 1) {
    const found = given.length === 0 ? "nothing says where the past is kept" : "there are several places to ask";
    return withhold(found, "Give one of --ledger FILE, --prometheus URL and --config.file FILE.", io);
  }
  if (choice.ledger !== null) return ledgerFile(choice.ledger, io);
  if (choice.prometheus !== null) {
    const settings = historySchema.safeParse({ prometheus: { url: choice.prometheus } });
    if (settings.success && settings.data.prometheus !== undefined)
      return serverHistory(settings.data.prometheus, choice.cluster, systemNow, monotonic);
    return withhold(
      `${JSON.stringify(choice.prometheus)} is not the address of a server`,
      "Use what is before /api/v1, such as http://prometheus:9090.",
      io,
    );
  }
  const config = await readConfig(choice.configFile ?? "", io);
  if (config === null) return null;
  const { prometheus } = config.history;
  if (prometheus !== undefined)
    return serverHistory(prometheus, choice.cluster ?? config.cluster, systemNow, monotonic);
  if (config.ledger !== undefined) return ledgerFile(config.ledger.path, io);
  return withhold(
    `${choice.configFile} names neither history.prometheus nor a ledger`,
    "Set one of them, or give --ledger FILE or --prometheus URL.",
    io,
  );
}

/** Opens a ledger, which may be written at the same time; `null` after it has been said why that cannot be done. */
function ledgerFile(file: string, io: Io): OpenHistory | null {
  const opened = openToQuery(file);
  if (!opened.ok) return withhold(opened.problem.message, opened.problem.nextStep, io);
  const { db } = opened;
  const history = createLedgerHistory(file, async (query) => {
    try {
      return queryAccounts(db, query);
    } catch (error) {
      const { message, nextStep } = sqliteProblem(error, file, "cannot be read");
      return { ok: false, fault: "ledger", error: message, nextStep };
    }
  });
  return { history, close: async () => db.close() };
}
