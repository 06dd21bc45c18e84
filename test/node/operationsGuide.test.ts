import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { loadWebConfig } from "../../exporter/config/webConfig.ts";
import { repository } from "../servers/imageBuild.ts";
import { until } from "../servers/kubernetesAdmin.ts";
import { givenNode } from "./givenNode.ts";
import { type Block, blocksOf } from "./guideBlocks.ts";
import { GuideReader } from "./guideReader.ts";

const node = givenNode("beside");
const reader = new GuideReader(node);
const guide = readFileSync(join(repository, "docs/operations.md"), "utf8");

afterAll(() => reader.leaves());

describe("docs/operations.md", () => {
  const blocks = blocksOf(guide);
  const tested = blocks.filter(({ untested }) => untested === null);

  it("has commands, of which only the build of the image is not run", () => {
    expect(tested.length).toBeGreaterThan(25);
    for (const { text, untested } of blocks)
      if (untested !== null) expect(`${untested}\n${text}`).toMatch(/container engine[\s\S]*docker buildx build/);
  });

  it("installs, looks, upgrades, backs up, restores and uninstalls with its commands as printed", async () => {
    // Nothing is left to be done with the second replica, so nobody waits a minute until the first one follows it.
    const [second, others] = [tested.filter(isOfTwoReplicas), tested.filter((block) => !isOfTwoReplicas(block))];
    const last = others.findIndex(({ text }) => text.startsWith("helm uninstall"));
    expect([second.length, last]).toEqual([1, expect.toSatisfy((index: number) => index > 0)]);
    for (const block of others.toSpliced(last, 0, ...second)) {
      const { out, err, status } = await reader.types(block.text);
      expect(status, `${block.text}\n${out}${err}`).toBe(0);
      await seen(block, out);
      await (isOfTwoReplicas(block) ? reader.waitsUntilReady(2) : reader.waits());
      if (block.text.includes("rollout restart")) await reader.takesUsersAway();
    }
  });
});

const isOfTwoReplicas = ({ text }: Block): boolean => text.includes("--set replicas=2");

const problemsSchema = z.object({ items: z.array(z.looseObject({ code: z.string() })) });

/** What a reader would look for in the answers. */
async function seen({ text }: Block, out: string): Promise<void> {
  if (text.startsWith("helm install")) expect(out).toContain("statefulset.apps/fairlead");
  if (text.includes("port-forward")) expect(out).toMatch(/ok\n?$/);
  if (text.includes("proxy/readyz")) {
    expect(out).toBe("ok\n");
    const { items } = problemsSchema.parse(JSON.parse(readFileSync(join(reader.folder, "problems.json"), "utf8")));
    // The API server of a node on a busy machine is slow at times, and Fairlead is right to say so.
    expect(items.filter(({ code }) => code !== "api-slow")).toEqual([]);
  }
  if (text.includes("ledger check")) expect(out).toContain("sound, and the accounts close");
  if (text.includes("auth can-i")) expect(out.trimEnd().split("\n").at(-1)).toBe("no");
  if (text.includes("--set-file prometheus.rules.content"))
    expect(await node.get("/apis/monitoring.coreos.com/v1/namespaces/fairlead/prometheusrules")).toContain(
      '"fairlead"',
    );
  if (text.includes("web-config.yml")) {
    expect(await loadWebConfig(join(reader.folder, "web-config.yml"))).toMatchObject({ ok: true });
  }
  if (text.includes("jsonpath='{.data.fairlead")) expect(out).toMatch(/^cluster: harbor$/m);
  if (text.includes("kubectl apply --server-side")) await reader.waits();
  if (text.includes("--wait=false")) await until("the namespace is gone", async () => !(await hasNamespace()));
  if (text.startsWith("helm uninstall"))
    expect(await node.get("/apis/apps/v1/namespaces/fairlead/statefulsets")).not.toContain('"fairlead"');
}

const hasNamespace = async (): Promise<boolean> =>
  await node.get("/api/v1/namespaces/fairlead").then(
    () => true,
    () => false,
  );
