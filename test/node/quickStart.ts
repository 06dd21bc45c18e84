import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { repository } from "../servers/imageBuild.ts";
import { FairleadPod, sumOf } from "./fairlead.ts";
import { givenNode } from "./givenNode.ts";
import { GuideReader } from "./guideReader.ts";

// It has the names of the operations guide's installation, whose node is another one.
const node = givenNode("alone");
const reader = new GuideReader(node);
const pod = new FairleadPod(node, "fairlead", "fairlead-0");

describe("a cluster that sees Fairlead for the first time", () => {
  afterAll(async () => {
    reader.leaves();
    await node.run("kubectl delete namespace fairlead");
  });

  describe("README.md", () => {
    it("has a quick start that installs Fairlead, which is ready and knows the node's GPUs", async () => {
      const [, block = ""] =
        /^## Put it into a cluster\n\n```sh\n([\s\S]*?)^```$/m.exec(
          readFileSync(join(repository, "README.md"), "utf8"),
        ) ?? [];
      const commands = block.replace(/^docker buildx build (?:.*\\\n)*.*\n/m, "");
      expect(commands).toContain("helm install");
      expect(commands.length).toBeLessThan(block.length);
      const { out, err, status } = await reader.types(commands);
      expect(status, `${commands}${out}${err}`).toBe(0);
      expect(out).toContain("ok");
    });

    it("has a first cycle with telemetry", async () => {
      const metrics = await pod.metrics();
      expect(sumOf(metrics, "fairlead_gpus")).toBe(4);
      expect(sumOf(metrics, "fairlead_gpus", 'state="unobserved"')).toBe(0);
      expect(sumOf(metrics, "fairlead_gpu_seconds_total", 'state="unobserved"')).toBe(0);
    });

    it("starts a container that may write into its volumes only, as nobody, within its limit", async () => {
      const seen = `
      const { readFileSync, writeFileSync } = require("node:fs");
      const attempt = (file) => { try { writeFileSync(file, ""); return "written"; } catch ({ code }) { return code; } };
      const limits = ["/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max"].map((file) => {
        try { return readFileSync(file, "utf8").trim(); } catch { return ""; }
      });
      console.log(JSON.stringify([attempt("/app/x"), attempt("/tmp/x"), attempt("/var/lib/fairlead/x"), process.getuid(), limits.join("")]));`;
      const words = `/nodejs/bin/node -e '${seen}'`;
      const out = await node.run(`kubectl --namespace fairlead exec fairlead-0 -- ${words}`);
      expect(JSON.parse(out)).toEqual(["EROFS", "written", "written", 65_532, `${1 << 30}`]);
      await node.run(`helm uninstall fairlead --namespace fairlead --wait
      kubectl --namespace fairlead delete persistentvolumeclaims --all`);
    });
  });

  describe("the kustomize overlay", () => {
    const overlays = "deploy/dist/kustomize/overlays";
    it.each(readdirSync(join(repository, overlays)))("%s installs Fairlead, which is ready", async (overlay) => {
      await node.run(`kubectl apply --server-side -k ${overlays}/${overlay}`);
      await reader.waits();
      await pod.untilReady();
    });
  });
});
