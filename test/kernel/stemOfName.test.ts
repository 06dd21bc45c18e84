import { describe, expect, test } from "vitest";
import { stemOfName, stemsOf, withoutGeneratedSuffixes } from "../../exporter/kernel/stemOfName.ts";

/** Names of real objects: of Deployments, ReplicaSets, Jobs, CronJobs, JobSets, Kueue's Workloads and Knative. */
describe("a name without what was generated", () => {
  test.each([
    ["coredns-66bc5c9577-2lvpp", "coredns"],
    ["nvidia-dcgm-exporter-9v4gs", "nvidia-dcgm-exporter"],
    ["report-29384756", "report"],
    ["report-29384756-x7k2z", "report"],
    ["sweep-ttblx-2", "sweep"],
    ["pi-worker-0-8zq5d", "pi-worker-0"],
    ["job-embed-v3-1a2b3c4d5e", "job-embed-v3"],
    ["hello-00001-deployment-5d4f6b8c9d-vwq2m", "hello-00001-deployment"],
  ])("%s is %s", (name, stem) => expect(stemOfName(name)).toBe(stem));

  test.each(["train-0", "embed-v3", "llama-3-70b", "h100-02", "mig-small", "x7k2z", "bert-base-2024", "rank-7"])(
    "%s stays: someone chose it",
    (name) => expect(stemOfName(name)).toBe(name),
  );
});

test("in a text only namespaced names lose it: a node's whole name is its address", () => {
  const text = "move ads/crawl-x7k2z (8 GPUs) from gke-pool-7c6d5b9f-x2k4z to a100-08: then vision/sweep-ttblx-2 fits";
  expect(withoutGeneratedSuffixes(text)).toBe(
    "move ads/crawl (8 GPUs) from gke-pool-7c6d5b9f-x2k4z to a100-08: then vision/sweep fits",
  );
  expect(withoutGeneratedSuffixes("ask for nvidia.com/mig-1g.10gb")).toBe("ask for nvidia.com/mig-1g.10gb");
  expect(stemsOf(["n/mig-7bljq", "n/mig-h26ch", "n/large-2rq92"])).toEqual(["n/mig", "n/large"]);
});
