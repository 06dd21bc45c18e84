import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { brotliCompressSync, constants } from "node:zlib";
import { startKind } from "../../../exporter/accounts/startAccount.ts";

/**
 * Makes a closed ledger small, in place, and returns it compressed. What its exporter remembered about single pods and devices
 * is removed, because the demo that begins with it has other pods; the starts of its queues stay.
 */
export function packPast(ledgerPath: string): Buffer {
  const db = new DatabaseSync(ledgerPath);
  try {
    db.exec(`DELETE FROM remembered WHERE kind <> '${startKind}'; PRAGMA journal_mode = DELETE; VACUUM`);
  } finally {
    db.close();
  }
  const bytes = readFileSync(ledgerPath);
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return brotliCompressSync(bytes, { params });
}
