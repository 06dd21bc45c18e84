import { describe, expect, test } from "vitest";
import { providerOf, regionOf } from "../../exporter/join/nodeFacts.ts";
import { node } from "./clusterBuilder.ts";

describe("who rents a node out", () => {
  // As the clouds' own controllers write it: kubernetes/cloud-provider-aws, -gcp, -azure, oracle/oci-cloud-controller-manager.
  test.each([
    ["aws:///us-east-1a/i-0f1234567890abcde", "aws"],
    ["gce://my-project/us-central1-a/gke-pool-1-abcd", "gcp"],
    [
      "azure:///subscriptions/0-1/resourceGroups/mc_x/providers/Microsoft.Compute/virtualMachineScaleSets/a/virtualMachines/0",
      "azure",
    ],
    ["oci://ocid1.instance.oc1.iad.abc", "oci"],
    ["ocid1.instance.oc1.iad.abc", "oci"],
    ["ibm://acc/vpc/eu/cluster/worker", "ibm"],
    ["coreweave://node-1", "coreweave"],
  ])("%s is of %s", (providerId, provider) => {
    expect(providerOf(node("n", { providerId }))).toBe(provider);
  });

  test.each(["", "k3s://n", "kind://docker/kind/kind-control-plane", "kwok://n", "AWS:///x", "constructor", "://x"])(
    "%j says nothing",
    (providerId) => {
      expect(providerOf(node("n", { providerId }))).toBeNull();
    },
  );

  test.each([
    ["eks.amazonaws.com/nodegroup", "aws"],
    ["karpenter.k8s.aws/instance-gpu-name", "aws"],
    ["cloud.google.com/gke-nodepool", "gcp"],
    ["kubernetes.azure.com/agentpool", "azure"],
    ["oci.oraclecloud.com/node-pool-id", "oci"],
    ["node.coreweave.cloud/type", "coreweave"],
  ])("without an id, the label %s tells", (label, provider) => {
    const labels = { "kubernetes.io/os": "linux", [label]: "x" };
    expect(providerOf(node("n", { labels }))).toBe(provider);
    expect(providerOf(node("n", { labels, providerId: "k3s://n" }))).toBe(provider);
    expect(providerOf(node("n", { labels, providerId: "gce://p/z/n" }))).toBe("gcp");
  });

  test("an id that calls itself like a property of every object is taken as it is", () => {
    expect(providerOf(node("n", { providerId: "constructor://x" }))).toBe("constructor");
  });

  test("the region is what its label says", () => {
    expect(regionOf(node("n", { labels: { "topology.kubernetes.io/region": "eu-west-1" } }))).toBe("eu-west-1");
    expect(regionOf(node("n", { labels: { "topology.kubernetes.io/region": "" } }))).toBeNull();
    expect(regionOf(node("n"))).toBeNull();
  });
});
