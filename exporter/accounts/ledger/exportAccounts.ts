import type { DatabaseSync } from "node:sqlite";
import { isCharged } from "../../model/charge.ts";
import type { ExportQuery, ExportRow } from "./exportQuery.ts";
import { numberIn, numberOrNullIn, textIn, textOrNullIn } from "./sqliteRow.ts";

/** What the time of one exported row has in common, besides the workload. */
export type ExportGroup = Pick<
  ExportRow,
  | "pool"
  | "nodePool"
  | "capacityType"
  | "team"
  | "queue"
  | "namespace"
  | "priorityClass"
  | "state"
  | "isCharged"
  | "currency"
>;

/** An account as an export sees it. All accounts of the ledger with the same content share one object. */
export interface ExportAccount {
  /** The group of the account; all accounts that go into one row share one object. */
  readonly group: ExportGroup;
  readonly isActive: boolean;
}

/** Finds accounts by their ids. All states for which a team pays form one group. */
export interface ExportAccounts {
  of(id: number): ExportAccount;
  /** Called between two periods: forgets the accounts that were found, if they are many. */
  tidy(): void;
}

/** If more accounts than this were found, they are not kept in memory from one period to the next. */
const maxKept = 200_000;

/** Creates an empty memory of a ledger's accounts. */
export function createExportAccounts(
  db: DatabaseSync,
  { charge, notCharged }: Pick<ExportQuery, "charge" | "notCharged">,
): ExportAccounts {
  const find = db.prepare("SELECT * FROM accounts WHERE id = ?");
  const accounts = new Map<number, ExportAccount>();
  const byContent = new Map<string, ExportAccount>();
  const groups = new Map<string, ExportGroup>();

  function read(id: number): ExportAccount {
    const row = find.get(id);
    if (row === undefined) throw new Error(`account ${id} is not in the ledger`);
    const accountedState = textIn(row, "state");
    const team = textOrNullIn(row, "team");
    const paid = team !== null && isCharged(accountedState, charge, notCharged);
    const found: ExportGroup = {
      pool: textIn(row, "pool"),
      nodePool: textIn(row, "node_pool"),
      capacityType: textOrNullIn(row, "capacity_type"),
      team,
      queue: textOrNullIn(row, "queue"),
      namespace: textOrNullIn(row, "namespace"),
      priorityClass: textOrNullIn(row, "priority_class"),
      state: paid ? "charged" : accountedState,
      isCharged: paid,
      currency: textOrNullIn(row, "currency"),
    };
    const key = JSON.stringify(Object.values(found));
    const group = groups.get(key) ?? found;
    groups.set(key, group);
    const content = `${key} ${accountedState}`;
    const account = byContent.get(content) ?? { group, isActive: accountedState === "active" };
    byContent.set(content, account);
    return account;
  }

  return {
    of(id) {
      const known = accounts.get(id);
      if (known !== undefined) return known;
      const account = read(id);
      accounts.set(id, account);
      return account;
    },
    tidy() {
      if (accounts.size <= maxKept) return;
      accounts.clear();
      byContent.clear();
      groups.clear();
    },
  };
}

/** The basis of a group's prices and their source within a time, as far as the ledger has them. */
export type PriceFacts = (
  group: ExportGroup,
  from: number,
  to: number,
) => Pick<ExportRow, "priceBasis" | "priceSource">;

interface PriceUse {
  readonly basis: string;
  readonly source: string;
  readonly begins: number;
  readonly ends: number;
}

/** Reads the prices that were used within a window. */
export function readPriceFacts(db: DatabaseSync, { from, to }: Pick<ExportQuery, "from" | "to">): PriceFacts {
  const uses = new Map<string, PriceUse[]>();
  const rows = db
    .prepare(
      `SELECT pool, node_pool, capacity_type, currency, basis, source, begins, ends FROM price_log
       WHERE begins < ? AND (ends IS NULL OR ends > ?) AND currency IS NOT NULL ORDER BY begins`,
    )
    .iterate(to, from);
  for (const row of rows) {
    const key = priceKey(
      textIn(row, "pool"),
      // Accounts have the name `unknown` for the pool of nodes without the label.
      textIn(row, "node_pool") || "unknown",
      textOrNullIn(row, "capacity_type"),
      textIn(row, "currency"),
    );
    const use = {
      basis: textIn(row, "basis"),
      source: textIn(row, "source"),
      begins: numberIn(row, "begins"),
      ends: numberOrNullIn(row, "ends") ?? Number.POSITIVE_INFINITY,
    };
    const known = uses.get(key);
    if (known === undefined) uses.set(key, [use]);
    else known.push(use);
  }
  return ({ pool, nodePool, capacityType, currency }, begin, end) => {
    const all = currency === null ? [] : (uses.get(priceKey(pool, nodePool, capacityType, currency)) ?? []);
    const used = all.filter(({ begins, ends }) => begins < end && ends > begin);
    const joined = (words: readonly string[]): string | null => [...new Set(words)].sort().join("+") || null;
    return {
      priceBasis: joined(used.map(({ basis }) => basis)),
      priceSource: joined(used.map(({ source }) => source)),
    };
  };
}

function priceKey(pool: string, nodePool: string, capacityType: string | null, currency: string): string {
  return JSON.stringify([pool, nodePool, capacityType, currency]);
}
