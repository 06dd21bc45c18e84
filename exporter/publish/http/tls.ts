import type { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "node:https";
import { isIP } from "node:net";
import type { SecureContextOptions, SecureVersion, TLSSocket } from "node:tls";
import type { TlsServerConfig } from "../../config/webConfig.ts";

const versions: Readonly<Record<TlsServerConfig["min_version"], SecureVersion>> = {
  TLS10: "TLSv1",
  TLS11: "TLSv1.1",
  TLS12: "TLSv1.2",
  TLS13: "TLSv1.3",
};

/**
 * Suites of TLS 1.2 with forward secrecy: anybody who gets the key later can read nothing of what was recorded before (RFC
 * 9325, section 4.2). TLS 1.3 has no others.
 */
const forwardSecret = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].flatMap((suite) => [
  `ECDHE-ECDSA-${suite}`,
  `ECDHE-RSA-${suite}`,
]);

/**
 * The only suites with forward secrecy that older versions of TLS have, which are used only where the configuration asks for
 * them.
 */
const older = ["ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA", "ECDHE-RSA-AES256-SHA"];

const newer = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

function suitesFor(oldest: TlsServerConfig["min_version"]): string {
  const isOld = oldest === "TLS10" || oldest === "TLS11";
  return [...newer, ...forwardSecret, ...(isOld ? older : [])].join(":");
}

/** How often renewed certificates are looked for. */
const reloadMilliseconds = 60_000;

/** Reads the files of a TLS configuration. Rejects with the error of the file that cannot be read. */
export async function readTlsContext(tls: TlsServerConfig): Promise<SecureContextOptions> {
  const [cert, key, ca] = await Promise.all([
    readFile(tls.cert_file),
    readFile(tls.key_file),
    tls.client_ca_file === undefined ? undefined : readFile(tls.client_ca_file),
  ]);
  return {
    cert,
    key,
    minVersion: versions[tls.min_version],
    maxVersion: versions[tls.max_version],
    ciphers: suitesFor(tls.min_version),
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Returns whether clients are asked for a certificate at all, and whether TLS itself refuses those that fail verification. */
export function clientCertOptions(tls: TlsServerConfig): { requestCert: boolean; rejectUnauthorized: boolean } {
  return {
    requestCert: tls.client_auth_type !== "NoClientCert",
    rejectUnauthorized: tls.client_auth_type === "RequireAndVerifyClientCert",
  };
}

/** Checks what TLS in Node.js does not check by itself: two kinds of client authentication, and the names that are let in. */
export function acceptsClient(tls: TlsServerConfig, socket: TLSSocket): boolean {
  const shown = Object.keys(socket.getPeerCertificate()).length > 0;
  if (tls.client_auth_type === "RequireAnyClientCert") return shown;
  if (tls.client_auth_type === "VerifyClientCertIfGiven" && !shown) return true;
  if (tls.client_auth_type === "VerifyClientCertIfGiven" && !socket.authorized) return false;
  return tls.client_allowed_sans === undefined || hasAllowedName(tls.client_allowed_sans, socket);
}

function hasAllowedName(allowed: readonly string[], socket: TLSSocket): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return false;
  const names = new Set(alternativeNames(certificate));
  return allowed.some((name) => names.has(isIP(name) === 0 ? name : plainAddress(name)));
}

/** Takes over renewed certificates without a restart; keeps the old ones while the files do not fit together. */
export function followCertificates(
  server: Server,
  tls: TlsServerConfig,
  onProblem: (message: string) => void,
): () => void {
  const timer = setInterval(async () => {
    try {
      server.setSecureContext(await readTlsContext(tls));
    } catch (error) {
      onProblem(`certificate files cannot be used (${String(error)}); the old ones stay in use`);
    }
  }, reloadMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

/** Matches one name of a certificate; a value that contains a separator or a quote is in quotes, as a JSON string. */
const entry = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/y;

/** The kinds of names that Prometheus' exporter-toolkit looks at. */
const kinds: ReadonlySet<string> = new Set(["DNS", "email", "IP Address", "URI"]);

/**
 * The names of a certificate that `client_allowed_sans` is compared with: DNS names, e-mail addresses, IP addresses and URIs.
 * There are none if the text of the certificate cannot be read to its end.
 */
export function alternativeNames({ subjectAltName }: Pick<X509Certificate, "subjectAltName">): readonly string[] {
  const text = subjectAltName ?? "";
  const names: string[] = [];
  entry.lastIndex = 0;
  while (entry.lastIndex < text.length) {
    const [, kind = "", value = ""] = entry.exec(text) ?? [];
    if (kind === "") return [];
    if (!kinds.has(kind)) continue;
    const name: unknown = value.startsWith('"') ? JSON.parse(value) : value;
    if (typeof name === "string") names.push(kind === "IP Address" ? plainAddress(name) : name);
  }
  return names;
}

/** Writes an IPv6 address as RFC 5952, people and Go do; OpenSSL writes out all of its groups. */
export function plainAddress(address: string): string {
  if (!address.includes(":")) return address;
  const { hostname } = new URL(`http://[${address}]/`);
  return hostname.slice(1, -1);
}
