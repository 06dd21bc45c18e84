import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConfigResult, formatConfigErrors, formatPath } from "../../exporter/config/configError.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { loadConfig, parseConfig } from "../../exporter/config/load.ts";
import { loadWebConfig } from "../../exporter/config/webConfig.ts";

const bad = path.join(import.meta.dirname, "bad");
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-config-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string | Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** The errors as lines; a configuration without errors fails the test. */
function linesOf(result: ConfigResult<unknown>): string[] {
  if (result.ok) throw new Error("accepted");
  return result.errors.map((error) => (error.path === "" ? error.message : `${error.path}: ${error.message}`));
}

const rejected: Readonly<Record<string, readonly string[]>> = {
  "alias-bomb": ["the file uses its anchors more than 100 times, expected fewer: write the values out"],
  "bad-amounts": [
    'gpu.resources["acme.com/half-gpu"]: found 1.5, expected at most 1',
    'gpu.replicas["nvidia.com/gpu.shared"]: found 2.5, expected a whole number',
  ],
  "bad-discovery": [
    "dcgm.discovery[0].namespaces: found an empty list, expected at least 1 entry",
    "dcgm.discovery[0].port: found 70000, expected at most 65535",
    'dcgm.discovery[0].path: found "metrics", expected text that begins with "/"',
  ],
  "bad-indentation": [
    "line 1, column 10: Nested mappings are not allowed in compact mappings",
    "line 1, column 10: Implicit keys need to be on a single line",
  ],
  "bad-prices": [
    'prices.basis: found "node", expected one of whole-instance, gpu-share',
    "prices.staleDays: found 0, expected at least 1",
    "prices.openCost.nodeLabel: expected the name of a label",
    "prices.openCost.currency: expected a short word such as USD",
    "prices.file: missing.yaml does not exist (looked in the folder of bad-prices.yaml)",
  ],
  "bad-prometheus": [
    "dcgm.prometheus.url: missing, expected a URL that begins with http:// or https://",
    "dcgm.prometheus.headers.Authorization: is not a name that is allowed here: expected the name of a header that is not sent anyway (credentials belong into auth)",
    "dcgm.prometheus.headers.X-Scope-OrgID: expected printable ASCII text",
    "dcgm.prometheus.matchers.__name__: is not a name that is allowed here: expected the name of a label",
    "dcgm.prometheus.matchers.cluster: found a list, expected text",
    "dcgm.prometheus.nodeLabel: expected the name of a label",
    'dcgm.prometheus.scrapeTo: unknown setting, did you mean "scrapeToo"?',
    "dcgm.prometheus.auth.tokenFile: missing-token does not exist (looked in the folder of bad-prometheus.yaml)",
  ],
  "bad-target": [
    'dcgm.targets[0].url: found "ftp://gpu-01/metrics", expected a URL that begins with http:// or https://',
    'dcgm.targets[0].insecureSkipVerify: found "yes", expected true or false',
  ],
  "duplicate-key": ['line 2, column 1: "interval" is given twice, expected once'],
  "empty-name": ['cluster: found "", expected text of at least 1 character'],
  "folder-as-file": ["kubernetes.kubeconfig: ../bad is a folder, expected a file"],
  "interval-too-short": ["interval: found 0.2, expected at least 1"],
  "interval-with-unit": ['interval: found "30s", expected a number'],
  "list-at-top": ["found a list, expected a map of settings"],
  "many-errors": [
    "cluster: found a list, expected text",
    'gpu.signal: found "gpu_utils", expected one of auto, sm_active, gr_engine_active, gpu_util',
    "idle.threshold: found 5, expected at most 1",
    "limits.teams: found 0, expected at least 1",
    "limits.series: found .inf, expected a number",
  ],
  "missing-files": [
    "dcgm.targets[0].caFile: ca.pem does not exist (looked in the folder of missing-files.yaml)",
    "dcgm.targets[0].auth.tokenFile: /nonexistent/token does not exist",
  ],
  "missing-url": ["dcgm.targets[0].url: missing, expected a URL that begins with http:// or https://"],
  "misspelt-rule": [
    'teams[1].from: found "pod-lable", expected one of namespace-label, namespace-annotation, queue, namespace, namespace-pattern, pod-label, workload-label',
  ],
  "misspelt-setting": ['intervall: unknown setting, did you mean "interval"?'],
  "not-utf8": ["the file cannot be read as text (The encoded data was not valid for encoding utf-8), expected UTF-8"],
  prototype: [
    "__proto__: unknown setting, expected one of cluster, interval, replicas, kubernetes, dcgm, teams, queues, gpu, idle, serving, clusterAutoscaler, prices, cost, placement, advice, digest, history, limits, ledger, web, otlp",
  ],
  "snake-case": ['kubernetes.max_age_seconds: unknown setting, did you mean "maxAgeSeconds"?'],
  "two-documents": ["line 2, column 1: a second document begins here, expected one"],
  "unclosed-list": [
    "line 2, column 1: Flow sequence in block collection must be sufficiently indented and end with a ]",
  ],
  "unknown-anchor": ["the file is not valid YAML: Unresolved alias (the anchor must be set before the alias): missing"],
  "unknown-auth": ['dcgm.targets[0].auth.kind: found "digest", expected one of none, bearer, basic'],
  "unknown-setting": [
    "dcgm.colour: unknown setting, expected one of discovery, targets, podProcesses, timeoutSeconds, maxPageBytes, maxGpusPerPage, concurrency, prometheus",
  ],
};

describe("a bad configuration", () => {
  test.each(Object.entries(rejected))("%s says what was found and what is allowed", async (name, lines) => {
    expect(linesOf(await loadConfig(path.join(bad, `${name}.yaml`)))).toEqual(lines);
  });

  test("every file of the folder is in the table", () => {
    expect(
      readdirSync(bad)
        .map((file) => path.basename(file, ".yaml"))
        .sort(),
    ).toEqual(Object.keys(rejected).sort());
  });

  test("is shown whole, with the next step", async () => {
    const result = await loadConfig(path.join(bad, "bad-target.yaml"));
    if (result.ok) throw new Error("accepted");
    expect(formatConfigErrors("fairlead.yaml", result.errors)).toBe(
      [
        "fairlead: configuration fairlead.yaml has 2 errors",
        '  dcgm.targets[0].url: found "ftp://gpu-01/metrics", expected a URL that begins with http:// or https://',
        '  dcgm.targets[0].insecureSkipVerify: found "yes", expected true or false',
        "Nothing was started. Check with: fairlead check-config fairlead.yaml",
        "",
      ].join("\n"),
    );
  });

  test("may be missing, a folder, too large, or nested without end", async () => {
    expect(linesOf(await loadConfig(path.join(folder, "none.yaml")))).toEqual([
      "the file does not exist; write one, or leave the option out to use the defaults",
    ]);
    expect(linesOf(await loadConfig(folder))).toEqual(["the file is not a file, expected a YAML file"]);
    const large = write("large.yaml", `# ${"x".repeat(1024 * 1024)}\n`);
    expect(linesOf(await loadConfig(large))).toEqual([
      "the file is larger than 1 MiB (1048579 bytes), expected a smaller file",
    ]);
    for (const opening of ["[", "{a: ", "- "]) {
      expect(linesOf(parseConfig(opening.repeat(20_000)))).toEqual([
        "the file is nested too deeply to be read, expected a few levels",
      ]);
    }
    expect(linesOf(parseConfig("]\n".repeat(100))).length).toBeLessThanOrEqual(10);
  });

  test("errors of files and of values are listed together", async () => {
    const file = write("both.yaml", "interval: 0\nkubernetes:\n  kubeconfig: gone\n");
    expect(linesOf(await loadConfig(file))).toEqual([
      "interval: found 0, expected at least 1",
      "kubernetes.kubeconfig: gone does not exist (looked in the folder of both.yaml)",
    ]);
  });
});

describe("a good configuration", () => {
  test.each(["", "\n# nothing\n", "---\n", "{}", "kubernetes:\nlimits:\n  teams:\n"])("%j is all defaults", (text) => {
    expect(parseConfig(text)).toEqual({ ok: true, value: defaultConfig });
  });

  test("completes what is not written", () => {
    const result = parseConfig(
      "cluster: harbor\nlimits:\n  teams: 5\ndcgm:\n  targets:\n    - url: http://gpu-01:9400/metrics\n",
    );
    if (!result.ok) throw new Error(linesOf(result).join());
    expect(result.value).toEqual({
      ...defaultConfig,
      cluster: "harbor",
      limits: { teams: 5, series: 50_000 },
      dcgm: {
        ...defaultConfig.dcgm,
        targets: [{ url: "http://gpu-01:9400/metrics", auth: { kind: "none" }, insecureSkipVerify: false }],
      },
    });
  });

  test("file names are relative to the folder of the file", async () => {
    write("token", "secret");
    const file = write(
      "tokens.yaml",
      "dcgm:\n  targets:\n    - url: http://a/\n      auth: { kind: bearer, tokenFile: ./token }\n",
    );
    const result = await loadConfig(file);
    expect(result).toMatchObject({
      value: { dcgm: { targets: [{ auth: { tokenFile: path.join(folder, "token") } }] } },
    });
  });
});

describe("any text", () => {
  test("is either a configuration or has errors, each on one line with a path or a message", () => {
    const line = fc.constantFrom(
      "cluster: x",
      "interval: 5",
      "  a: b",
      "- c",
      "teams:",
      "  - from: queue",
      "&a [*a]",
      "? x",
      "'",
      "{",
      "limits: {teams: 1}",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(line, { maxLength: 8 }).map((lines) => lines.join("\n")),
    );
    fc.assert(
      fc.property(text, (one) => {
        const result = parseConfig(one);
        if (result.ok) return;
        expect(result.errors.length).toBeGreaterThan(0);
        for (const { message } of result.errors) expect(message).toMatch(/^[^\n]+$/);
      }),
      { seed: 4, numRuns: 500 },
    );
  });
});

test("paths are written as people write settings", () => {
  expect(formatPath(["dcgm", "targets", 0, "url"])).toBe("dcgm.targets[0].url");
  expect(formatPath(["gpu", "resources", "a.b/c"])).toBe('gpu.resources["a.b/c"]');
});

describe("web configuration", () => {
  const load = (text: string) => loadWebConfig(write("web.yml", text));

  test("has the fields of Prometheus' exporters", async () => {
    write("tls.crt", "x");
    write("tls.key", "x");
    const hash = `$2y$10$${"a".repeat(53)}`;
    const result = await load(
      `tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key\nbasic_auth_users:\n  ada: ${hash}\n`,
    );
    expect(result).toEqual({
      ok: true,
      value: {
        tls_server_config: {
          cert_file: path.join(folder, "tls.crt"),
          key_file: path.join(folder, "tls.key"),
          client_auth_type: "NoClientCert",
          min_version: "TLS12",
          max_version: "TLS13",
        },
        basic_auth_users: { ada: hash },
      },
    });
  });

  test("has the teams that a user may see, of users that it has", async () => {
    const hash = `$2y$10$${"a".repeat(53)}`;
    const users = `basic_auth_users:\n  ada: ${hash}\n`;
    const result = await load(`${users}teams:\n  ada: [search, ads]\n`);
    expect(result).toMatchObject({ ok: true, value: { teams: { ada: ["search", "ads"] } } });
    expect(linesOf(await load(`${users}teams:\n  eve: [search]\n`))).toEqual([
      "teams.eve: is no user of basic_auth_users: add the user, or remove this line",
    ]);
    expect(linesOf(await load(`${users}teams:\n  ada: []\n`))).toHaveLength(1);
    expect(linesOf(await load(`${users}teams:\n  ada: search\n`))).toHaveLength(1);
  });

  test("an empty file is plain HTTP for everybody", async () => {
    expect(await load("")).toEqual({ ok: true, value: { basic_auth_users: {} } });
  });

  test("what is wrong is listed, and passwords are never repeated", async () => {
    const text =
      "basic_auth_users:\n  ada: hunter2\n  bob: 12345\ntls_server_config:\n  cert_file: tls.crt\n  key_file: gone.key\n  client_auth_type: RequireAndVerifyClientCert\n";
    const lines = linesOf(await load(text));
    expect(lines).toEqual([
      "tls_server_config.client_ca_file: missing, expected a file of CA certificates because client_auth_type verifies clients",
      "basic_auth_users.ada: is not a bcrypt hash (make one with: htpasswd -nBC 10 NAME)",
      "basic_auth_users.bob: is not a bcrypt hash (make one with: htpasswd -nBC 10 NAME)",
      "tls_server_config.key_file: gone.key does not exist (looked in the folder of web.yml)",
    ]);
  });
});
