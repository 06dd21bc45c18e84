import type { X509Certificate } from "node:crypto";

/** One name of a certificate; a value that holds a separator or quote is in quotes, as a JSON string. */
const entry = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/y;

/** The kinds of names that Prometheus' exporter-toolkit looks at. */
const kinds: ReadonlySet<string> = new Set(["DNS", "email", "IP Address", "URI"]);

/**
 * The names of a certificate that `client_allowed_sans` is compared with: DNS names, e-mail addresses, IP addresses and URIs.
 * None where the certificate's text cannot be read to its end.
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

/** OpenSSL writes all groups of an IPv6 address; people write it as RFC 5952 does, as Go does. */
export function plainAddress(address: string): string {
  if (!address.includes(":")) return address;
  const { hostname } = new URL(`http://[${address}]/`);
  return hostname.slice(1, -1);
}
