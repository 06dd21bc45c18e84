import { pipeline } from "node:stream/promises";
import type { RequestHandler, Response } from "express";
import type { LedgerCopy } from "../../accounts/ledger/ledgerCopies.ts";
import { isoTime } from "../../kernel/isoTime.ts";
import type { Outputs } from "./outputs.ts";
import { refusal, sendRefusal } from "./refusal.ts";

export const ledgerMediaType = "application/vnd.sqlite3";

const retrySeconds = 10;

/**
 * Answers `GET /api/v1/ledger/backup` with a checked copy of the ledger as it is at one moment. Only one copy is made at a
 * time.
 */
export function ledgerBackupRoute(outputs: Outputs): RequestHandler {
  return async (request, response) => {
    const refuse = (status: number, error: string, nextStep: string): void =>
      sendRefusal(response, refusal(error, nextStep, status));
    const output = outputs.ledgerBackup;
    if (output === undefined)
      return refuse(404, "no ledger is kept", "Set ledger.path to keep one; without it, there is nothing to copy.");
    if (request.originalUrl.includes("?")) return refuse(400, "a copy takes no parameters", "Ask for all of it.");
    response.set({
      "Content-Type": ledgerMediaType,
      "Content-Disposition": `attachment; filename="${fileName(outputs.cluster, outputs.now())}"`,
    });
    // The size would be known only once the copy is made.
    if (request.method === "HEAD") return void response.end();
    const taken = await output.take();
    if (taken.ok) return await send(response, taken.copy);
    response.removeHeader("Content-Disposition");
    if (taken.problem === "busy") {
      response.set("Retry-After", `${retrySeconds}`);
      return refuse(503, "another copy of the ledger is being made or read", "Ask again in some seconds.");
    }
    refuse(503, taken.problem.message, taken.problem.nextStep);
  };
}

async function send(response: Response, copy: LedgerCopy): Promise<void> {
  try {
    response.set("Content-Length", `${copy.bytes}`);
    // The client may have gone while the copy was made.
    if (!response.destroyed) await pipeline(copy.read(), response);
  } catch {
    response.destroy();
  } finally {
    await copy.close();
  }
}

/** The name of the file. The name of a cluster may contain any character, but that of a file should have plain letters only. */
function fileName(cluster: string, now: number): string {
  const name = cluster.replaceAll(/[^\w.-]/g, "_").slice(0, 60);
  return `fairlead-${name}-${isoTime(now).replaceAll(/[:-]/g, "")}.db`;
}
