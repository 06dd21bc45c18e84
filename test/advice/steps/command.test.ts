import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandOf, drainCommand, shellWords } from "../../../exporter/advice/steps/command.ts";
import { pathOf, refOf } from "../../../exporter/advice/steps/resourceRef.ts";
import type { ApiRequest, JsonValue } from "../../../exporter/model/recommendation.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fairlead-shell-"));
  // What a shell makes of a command: arguments and standard input as the program gets them.
  const stub = `#!/bin/sh
printf '%s\\0' "$@" > "$FAIRLEAD_ARGUMENTS"
case "$*" in *" -f -") cat > "$FAIRLEAD_INPUT" ;; esac
`;
  writeFileSync(join(folder, "kubectl"), stub, { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command line with a kubectl that only notes what it is given. */
function run(command: string): { readonly words: readonly string[]; readonly input: string } {
  const [words, input] = [join(folder, "arguments"), join(folder, "input")];
  for (const file of [words, input]) writeFileSync(file, "");
  const PATH = `${folder}${delimiter}${process.env.PATH ?? ""}`;
  const env = { ...process.env, PATH, FAIRLEAD_ARGUMENTS: words, FAIRLEAD_INPUT: input };
  execFileSync("sh", ["-c", command], { env, cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  return { words: readFileSync(words, "utf8").split("\0").slice(0, -1), input: readFileSync(input, "utf8") };
}

const hostile = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.toWellFormed()),
  fc
    .array(
      fc.constantFrom("'", '"', "\\", "$(touch owned)", "`touch owned`", "\n", "\r", " ", "--", "-f", ";", "&&", "|"),
      { maxLength: 8 },
    )
    .map((parts) => parts.join("")),
  fc.constantFrom("$HOME", "*", "~", "!!", "#", "EOF\n", "%s", "\\0", "{a,b}", "=(x)", "--dry-run=none", "$" + "{IFS}"),
);

const request = (parts: Partial<ApiRequest>): ApiRequest => ({
  verb: "PATCH",
  path: "/api/v1/nodes/n",
  contentType: "application/merge-patch+json",
  body: {},
  ...parts,
});

/** The command and its dry run, or a failed test. */
function rendered(of: ApiRequest): { readonly command: string; readonly dryRun: string } {
  const found = commandOf(of);
  if (found === null || found.dryRun === null) throw new Error(`no command for ${of.verb} ${of.path}`);
  return { command: found.command, dryRun: found.dryRun };
}

describe("a command line", () => {
  it("gives a program exactly the words that are meant, whatever is in them", () => {
    const words = fc.array(
      hostile.map((text) => text.replaceAll("\0", "")),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(words, (meant) => {
        expect(run(shellWords(["kubectl", ...meant])).words).toEqual(meant);
      }),
      { seed: 7, numRuns: 50 },
    );
  });

  it("sends a patch with the body and nothing else, whatever its texts are", () => {
    fc.assert(
      fc.property(hostile, hostile, (key, value) => {
        const body: JsonValue = { metadata: { labels: { [`k${key}`]: value } } };
        const { command, dryRun } = rendered(request({ body }));
        const meant = ["patch", "nodes", "n", "--type", "merge", "--patch", JSON.stringify(body)];
        expect(run(command).words).toEqual(meant);
        expect(run(dryRun).words).toEqual([...meant, "--dry-run=server"]);
      }),
      { seed: 8, numRuns: 25 },
    );
  });

  it("posts a body on standard input, as it is", () => {
    fc.assert(
      fc.property(hostile, (value) => {
        const body: JsonValue = { kind: "Eviction", note: value };
        const path = "/api/v1/namespaces/ads/pods/train-0/eviction";
        const { command, dryRun } = rendered(request({ verb: "POST", path, contentType: "application/json", body }));
        expect(run(command)).toEqual({ words: ["create", "--raw", path, "-f", "-"], input: JSON.stringify(body) });
        expect(run(dryRun).words).toEqual(["create", "--raw", `${path}?dryRun=All`, "-f", "-"]);
      }),
      { seed: 9, numRuns: 15 },
    );
  });

  it("deletes with its options, and in a dry run with one that deletes nothing", () => {
    const body = { kind: "DeleteOptions", preconditions: { uid: "u" } };
    const { command, dryRun } = rendered(request({ verb: "DELETE", contentType: "application/json", body }));
    const words = ["delete", "--raw", "/api/v1/nodes/n", "-f", "-"];
    expect(run(command)).toEqual({ words, input: JSON.stringify(body) });
    expect(run(dryRun)).toEqual({ words, input: JSON.stringify({ ...body, dryRun: ["All"] }) });
  });

  it("deletes nothing without options, whose dry run would look the same", () => {
    expect(commandOf(request({ verb: "DELETE", contentType: null, body: null }))).toBeNull();
  });

  it.each([
    ["/apis/apps/v1/namespaces/ads/deployments/llm", ["deployments.v1.apps", "llm", "--namespace", "ads"]],
    [
      "/apis/apps/v1/namespaces/ads/deployments/llm/scale",
      ["deployments.v1.apps", "llm", "--namespace", "ads", "--subresource", "scale"],
    ],
    ["/apis/kueue.x-k8s.io/v1beta2/clusterqueues/ads", ["clusterqueues.v1beta2.kueue.x-k8s.io", "ads"]],
    ["/api/v1/namespaces/ads/resourcequotas/gpus", ["resourcequotas", "gpus", "--namespace", "ads"]],
  ])("names the object of %s", (path, words) => {
    expect(run(rendered(request({ path })).command).words.slice(1, -4)).toEqual(words);
  });

  it("drains with the dry run beside it", () => {
    const { command, dryRun } = drainCommand("gpu-1");
    expect(command).toBe("kubectl drain gpu-1 --ignore-daemonsets");
    expect(dryRun).toBe("kubectl drain gpu-1 --ignore-daemonsets --dry-run=server");
  });
});

describe("a path", () => {
  const names = fc.oneof(
    hostile,
    fc.constantFrom("..", ".", "a/b", "a%2fb", "A", "-a", "a-", "a".repeat(254), "ü", "a?x=1"),
  );
  const isDnsName = (text: string) =>
    text.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text);

  it("is made for names that Kubernetes allows and for no others", () => {
    fc.assert(
      fc.property(names, names, (name, namespace) => {
        const found = pathOf({ group: "apps", version: "v1", resource: "deployments", namespace, name });
        if (found === null) expect(isDnsName(name) && isDnsName(namespace) && !namespace.includes(".")).toBe(false);
        else expect(found).toBe(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
      }),
      { seed: 10, numRuns: 300 },
    );
  });

  it("leads back to its object", () => {
    const part = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
    fc.assert(
      fc.property(part, fc.option(part), part, (group, namespace, name) => {
        const ref = { group: `${group}.io`, version: "v1beta1", resource: "queues", namespace, name };
        expect(refOf(pathOf(ref, "scale") ?? "")).toEqual({ ref, subresource: "scale" });
      }),
      { seed: 11, numRuns: 100 },
    );
  });

  it.each([
    "/api/v1/nodes/n?pretty=1",
    "/api/v1/nodes/$(x)",
    "/api/v1/nodes/../../x",
    "relative",
    "/api/v1/namespaces/ads/pods/p/eviction; touch owned",
  ])("that is none of ours gives no command: %s", (path) => {
    expect(commandOf(request({ path }))).toBeNull();
    expect(commandOf(request({ path, verb: "POST", contentType: "application/json" }))).toBeNull();
  });
});
