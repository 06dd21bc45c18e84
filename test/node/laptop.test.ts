import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { documentSchema, type FairleadDocument } from "../../exporter/publish/document/schema.ts";
import { numbersOf } from "../cli/capture/numbersOf.ts";
import { allocatedByKubelet } from "./allocatedGpus.ts";
import { holdersOf, namesIn, namesOf, tellingNames } from "./dumpedNames.ts";
import { givenNode } from "./givenNode.ts";
import { Laptop } from "./laptop.ts";

// Nothing is installed while this is run (vitest.node.config.ts).
const node = givenNode("beside");
const laptop = new Laptop(node);
const [whole, redacted] = [join(laptop.folder, "whole"), join(laptop.folder, "redacted")];
const sameParts = ["teams", "queues", "nodes", "devices"] as const;
let seen: FairleadDocument;

beforeAll(async () => {
  await laptop.isGivenRights();
});
afterAll(async () => {
  await laptop.leaves();
});

describe("fairlead now, from a kubeconfig alone", () => {
  it("sees by a client certificate who holds which GPU: what the kubelet says", async () => {
    const { out, err, status } = await laptop.fairlead("certificate", "now", "--output", "json");
    expect(status, err).toBe(0);
    seen = documentSchema.parse(JSON.parse(out));
    // No page and no list is missing: all of them have come within the 30 s that it may take.
    expect(seen.problems.map(({ code }) => code)).toEqual(["unpriced-no-price"]);
    expect(seen.devices).toHaveLength(4);
    const held = await allocatedByKubelet(node);
    expect(Object.values(held).toSorted()).toEqual([
      "moonshot/ada-trains",
      "moonshot/ada-trains",
      "moonshot/bob-tries",
    ]);
    expect(holdersOf(seen.devices)).toEqual(held);
    expect(seen.devices.filter(({ activity }) => activity === 0.8)).toHaveLength(3);
  });

  it("prints it as one table, by a token", async () => {
    const { out, err, status } = await laptop.fairlead("token", "now");
    expect(status, err).toBe(0);
    expect(out).toMatch(/^Fairlead {2}cluster \S+ +1 node +4 GPUs/);
    expect(out).toMatch(/moonshot +3/);
  });
});

describe("fairlead capture, from a kubeconfig alone", () => {
  it("takes a dump that lacks nothing, of which `fairlead inspect` says the same", async () => {
    const { err, status } = await laptop.fairlead("certificate", "capture", whole);
    expect(status, err).toBe(0);
    expect(`${err}${readFileSync(join(whole, "about.txt"), "utf8")}`).not.toMatch(/missing/i);
    for (const kind of ["nodes", "namespaces", "pods"])
      expect(namesOf(readFileSync(join(whole, `${kind}.json`), "utf8")), kind).toEqual(
        namesOf(await node.get(`/api/v1/${kind}`)),
      );
    const said = await laptop.inspect(whole);
    expect(said.problems).toEqual(seen.problems);
    expect(holdersOf(said.devices)).toEqual(await allocatedByKubelet(node));
    for (const part of sameParts) expect(said[part], part).toEqual(seen[part]);
  });

  it("takes a dump without a name of the cluster, of which `fairlead inspect` says the same numbers", async () => {
    const { err, status } = await laptop.fairlead("token", "capture", redacted, "--redact");
    expect(status, err).toBe(0);
    const said = await laptop.inspect(redacted);
    for (const part of sameParts) expect(numbersOf(said[part]), part).toEqual(numbersOf(seen[part]));
    const names = await tellingNames(node);
    const some = ["moonshot", "ada-trains", "bob-tries", "node-1", "192.0.2.11", "fairlead.test/busybox:1"];
    expect(namesIn(whole, names)).toEqual(expect.arrayContaining(some));
    expect(namesIn(redacted, names)).toEqual([]);
  });
});
