import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { ledgerVersion } from "../../exporter/accounts/ledger/schema.ts";
import { repository } from "../servers/imageBuild.ts";
import { until } from "../servers/kubernetesAdmin.ts";
import { smallRequest } from "./chartVariants.ts";
import { FairleadPod, ledgerPath } from "./fairlead.ts";
import { givenNode, hasOlderImage } from "./givenNode.ts";
import { checkOut, olderImage } from "./images.ts";
import { olderCommit } from "./preparedNode.ts";

const node = givenNode("beside");
const isThere = hasOlderImage();
if (!isThere) process.stderr.write(`skipped: upgrade.test.ts: this clone does not have the commit ${olderCommit}\n`);

/** Of the ledgers that the older commit writes. */
const olderLedgerVersion = 7;
const namespace = "upgrade";
const pod = new FairleadPod(node, namespace, "fairlead-upgrade-0");
const options = `fairlead-upgrade --namespace ${namespace} --set config.interval=2 ${smallRequest}`;
const folder = mkdtempSync(join(tmpdir(), "fairlead-upgrade-"));
const backup = join(folder, "ledger-0.db");

const versionOf = (file: string): number => {
  const db = new DatabaseSync(file, { readOnly: true });
  const { user_version } = z.object({ user_version: z.number() }).parse(db.prepare("PRAGMA user_version").get());
  db.close();
  return user_version;
};

const coveredSchema = z.object({ coverage: z.object({ coveredSeconds: z.number() }) });
const coveredSeconds = async (): Promise<number> =>
  coveredSchema.parse(JSON.parse(await pod.ask("/api/v1/ledger?from=1d"))).coverage.coveredSeconds;

/** The copy that a guide's command writes into a file. */
async function backUp(to: string): Promise<void> {
  await node.run(
    `kubectl get --raw /api/v1/namespaces/${namespace}/pods/${pod.name}:10836/proxy/api/v1/ledger/backup > ${to}`,
  );
}

describe.skipIf(!isThere)("an upgrade from the chart of an older commit, whose ledgers are older", () => {
  let covered = 0;

  beforeAll(async () => {
    const older = join(folder, "older");
    checkOut(olderCommit, older);
    const { registry, tag } = olderImage;
    await node.run(
      `helm install ${options} ${older}/deploy/helm/fairlead --create-namespace --wait --timeout 4m \
         --set image.registry=${registry} --set image.tag=${tag}`,
    );
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await node.run(
      `helm uninstall fairlead-upgrade --namespace ${namespace}; kubectl delete namespace ${namespace} --wait=false`,
    );
  });

  it("keeps what the ledger knows, and migrates it", async () => {
    await until("some cycles are in the ledger", async () => (await coveredSeconds()) >= 6);
    await backUp(backup);
    expect(versionOf(backup)).toBe(olderLedgerVersion);
    covered = await coveredSeconds();
    await node.run(`helm upgrade ${options} deploy/helm/fairlead --wait --timeout 4m`);
    await node.run(`kubectl --namespace ${namespace} rollout status statefulset/fairlead-upgrade --timeout=120s`);
    expect(await pod.checkLedger()).toContain("sound, and the accounts close");
    expect(await coveredSeconds()).toBeGreaterThanOrEqual(covered);
    await backUp(join(folder, "migrated.db"));
    expect(versionOf(join(folder, "migrated.db"))).toBe(ledgerVersion);
  });

  it("is taken back by a rollback and the copy from before; without it the older one refuses the ledger", async () => {
    await node.run(`helm rollback fairlead-upgrade 1 --namespace ${namespace}`);
    const log = `kubectl --namespace ${namespace} logs ${pod.name}`;
    await until("the older one says that the ledger is newer", async () =>
      new RegExp(`version ${ledgerVersion}|newer`).test((await node.shell(`${log}; ${log} --previous`)).out),
    );
    await restore();
    await pod.untilReady();
    const image = await node.run(`kubectl --namespace ${namespace} get pod ${pod.name} --output jsonpath='{..image}'`);
    expect(image).toContain(`${olderImage.registry}/fairlead:${olderImage.tag}`);
    expect(await pod.checkLedger(), "in the words of the older one").toContain("sound");
    await until("it goes on with the copy", async () => (await coveredSeconds()) > covered);
  });
});

/** As docs/operations.md does it, with the older image. */
async function restore(): Promise<void> {
  const manifest = readFileSync(join(repository, "deploy/restore-pod.yaml"), "utf8")
    .replace("image: fairlead:0.1.0", `image: ${olderImage.registry}/fairlead:${olderImage.tag}`)
    .replace("claimName: ledger-fairlead-0", `claimName: ledger-${pod.name}`)
    .replace("namespace: fairlead", `namespace: ${namespace}`)
    .replace("/var/lib/fairlead/ledger.db", ledgerPath);
  writeFileSync(join(folder, "restore-pod.yaml"), manifest);
  await node.run(`kubectl() { command kubectl --namespace ${namespace} "$@"; }
    kubectl scale statefulset/fairlead-upgrade --replicas=0
    kubectl wait --for=delete pod/${pod.name} --timeout=60s
    kubectl apply --filename ${folder}/restore-pod.yaml
    kubectl wait --for=condition=Ready pod/fairlead-restore --timeout=60s
    kubectl attach --stdin fairlead-restore < ${backup}
    kubectl logs fairlead-restore
    kubectl delete pod fairlead-restore
    kubectl scale statefulset/fairlead-upgrade --replicas=1`);
}
