import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFile, temporaryFolder } from "./temporaryFolder.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Makes JavaScript of the folders that the ledger needs, as the compiler does: types gone, imports end in `.js`. */
function compiled(): string {
  const target = temporaryFolder();
  for (const layer of ["accounts", "analysis", "join", "kernel", "model"]) {
    const folder = path.join(root, "exporter", layer);
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts")) continue;
      const text = stripTypeScriptTypes(readFileSync(path.join(folder, name), "utf8"));
      const file = path.join(target, "exporter", layer, name.replace(/\.ts$/, ".js"));
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text.replaceAll(/(from ")(\.[^"]+)\.ts"/g, '$1$2.js"'));
    }
  }
  writeFileSync(path.join(target, "package.json"), '{"type":"module"}');
  symlinkSync(path.join(root, "node_modules"), path.join(target, "node_modules"));
  return target;
}

test("writer and reader start as compiled JavaScript too", () => {
  const folder = compiled();
  const script = path.join(folder, "use.js");
  writeFileSync(
    script,
    `import { openSqliteLedger } from "./exporter/accounts/ledger/sqliteLedger.js";
     import { createLedgerReader } from "./exporter/accounts/ledger/ledgerReader.js";
     const file = process.argv[2];
     const opened = await openSqliteLedger({ file, retention: { hourlyDays: 14, dailyDays: 400, workloadDays: 100 } });
     opened.ledger.append({
       step: { interval: { from: 0, to: 30, seconds: 30, gap: null }, postings: [], poolHours: [], nodeTimes: [], healthTimes: [], servedTimes: [], imbalances: [],
         queueTimes: [], partialGangs: [], waits: [], evictions: [], failures: [], endedPods: [], prices: null, remembered: [],
         capacity: { domains: [], placement: [], topology: [], domainPools: [], poolModels: [] }, nodeStreaks: [], outages: [] },
       remembered: [],
     });
     await opened.ledger.flush();
     const reader = createLedgerReader(file);
     const result = await reader.query({ from: 0, to: 3600, groupBy: [], where: new Map(), limit: 1 });
     process.stdout.write(JSON.stringify(result.answer.coverage.coveredSeconds));
     await Promise.all([opened.ledger.close(), reader.close()]);`,
  );
  const child = spawnSync(process.execPath, [script, temporaryFile()], { encoding: "utf8", timeout: 200_000 });
  expect(child.stderr.replaceAll(/\(node:\d+\).*\n.*\n/g, "")).toBe("");
  expect(child.stdout).toBe("30");
});
