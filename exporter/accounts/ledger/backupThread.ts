import { parentPort, workerData } from "node:worker_threads";
import type { Problem } from "../../model/problem.ts";
import { backupLedger } from "./backupLedger.ts";

/** Which ledger to copy, and where to. */
export interface BackupOrder {
  readonly file: string;
  readonly target: string;
}

/** How it went; `null`: the copy is there. */
export type BackupReport = { readonly problem: Problem | null };

// A thread that copies the ledger once and then ends.
const port = parentPort;
if (port === null) throw new Error("the ledger is copied in a thread of its own");
const order: BackupOrder = workerData;
const report: BackupReport = { problem: backupLedger(order.file, order.target, "held") };
port.postMessage(report);
port.close();
