import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { alternativeNames, plainAddress } from "../../../exporter/publish/http/tls.ts";

test("names of a certificate that OpenSSL has made are those that were asked for", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-names-"));
  try {
    const file = (name: string) => path.join(folder, name);
    const names = "DNS:a.example,DNS:*.b.example,email:ada@c.example,IP:10.1.2.3,IP:fd00::1,URI:spiffe://d/ns/e";
    const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const files = ["-keyout", file("key"), "-out", file("pem")];
    const asked = ["-subj", "/CN=nobody.example", "-addext", `subjectAltName=${names}`];
    execFileSync("openssl", ["req", "-x509", ...made, ...files, ...asked], { stdio: "ignore" });
    const certificate = new X509Certificate(readFileSync(file("pem")));
    expect(alternativeNames(certificate)).toEqual([
      "a.example",
      "*.b.example",
      "ada@c.example",
      "10.1.2.3",
      "fd00::1",
      "spiffe://d/ns/e",
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['DNS:"a.example, DNS:b.example", URI:spiffe://x', ["a.example, DNS:b.example", "spiffe://x"]],
  ["DNS:a.example, othername:<unsupported>, DNS:b.example", ["a.example", "b.example"]],
  ["DirName:CN = x", []],
  ["", []],
  [undefined, []],
])("of the text %s are %j: a name cannot bring another along", (subjectAltName, names) => {
  expect(alternativeNames({ subjectAltName })).toEqual(names);
});

test("an address is compared as people write it", () => {
  expect(plainAddress("FD00:0:0:0:0:0:0:1")).toBe("fd00::1");
  expect(plainAddress("10.0.0.1")).toBe("10.0.0.1");
});
