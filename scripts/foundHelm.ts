import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The script that obtains the Helm for `npm run generate` and the tests, from the root of the repository. */
export const helmScript = "test/tools/install-helm.sh";

/** The program that `helmScript` has obtained; `null` where there is none. This does not obtain it. */
export function foundHelm(): string | null {
  const { status, stdout } = spawnSync("bash", [join(root, helmScript)], {
    encoding: "utf8",
    env: { ...process.env, FAIRLEAD_TEST_ONLY_ASK: "yes" },
  });
  return status === 0 ? join(stdout.trim(), "helm") : null;
}
