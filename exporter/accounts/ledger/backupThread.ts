import { parentPort, workerData } from "node:worker_threads";
import type { Problem } from "../../model/problem.ts";
import { backupLedger } from "./backupLedger.ts";

/** The ledger to copy, and the file to copy it to. */
export interface BackupOrder {
  readonly file: string;
  readonly target: string;
}

/** The outcome of a copy: what prevented it; `null` if the copy exists. */
export type BackupReport = { readonly problem: Problem | null };

// This thread copies the ledger once and then ends.
const port = parentPort;
if (port === null) throw new Error("the ledger is copied in a thread of its own");
const order: BackupOrder = workerData;
const report: BackupReport = { problem: backupLedger(order.file, order.target, "held") };
port.postMessage(report);
port.close();
