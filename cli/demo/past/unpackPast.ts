import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

/** A ledger of the demo's own, which begins with its past. */
export interface UnpackedPast {
  readonly ledgerPath: string;
  /** Removes the ledger and its folder. */
  remove(): void;
}

/** The ledger with the demo's past, compressed: `npm run past` writes it. */
export const packedPast = fileURLToPath(new URL("demo-past.db.br", import.meta.url));

/** The settings of a ledger with the demo's past: all of it is kept by the hour. */
export const pastLedger = (path: string) => ({ path, hourlyDays: 60 });

/**
 * Unpacks the demo's past into a temporary folder. Its times are those of the demo's clock, which begins at the same moment
 * on any day, so that nothing has to be moved. Throws where the file is missing or the folder cannot be written.
 */
export function unpackPast(): UnpackedPast {
  const bytes = brotliDecompressSync(readFileSync(packedPast));
  const folder = mkdtempSync(join(tmpdir(), "fairlead-demo-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // Pages and errors name the file: its name says what is in it.
  const ledgerPath = join(folder, "simulated-past.db");
  try {
    writeFileSync(ledgerPath, bytes);
  } catch (error) {
    remove();
    throw error;
  }
  return { ledgerPath, remove };
}
