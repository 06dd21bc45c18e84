import { z } from "zod";
import type { ConfigResult } from "./configError.ts";
import { loadFile } from "./load.ts";

/** The TLS versions, by the names that Prometheus exporters use. */
const tlsVersion = z.enum(["TLS10", "TLS11", "TLS12", "TLS13"]);

/** What clients must present, by the names of Go's crypto/tls. */
const clientAuthType = z.enum([
  "NoClientCert",
  "RequestClientCert",
  "RequireAnyClientCert",
  "VerifyClientCertIfGiven",
  "RequireAndVerifyClientCert",
]);

const tlsServer = z
  .strictObject({
    cert_file: z.string().min(1).describe("Certificate, PEM."),
    key_file: z.string().min(1).describe("Private key, PEM."),
    client_auth_type: clientAuthType.default("NoClientCert").describe("What clients must show."),
    client_ca_file: z.string().min(1).optional().describe("CA certificates that sign clients' certificates."),
    client_allowed_sans: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        "Subject Alternative Names: DNS names, e-mail addresses, IP addresses or URIs. A client's certificate must have one of them, exactly as written here. Without this setting, every client whose certificate the CA has signed is accepted.",
      ),
    min_version: tlsVersion.default("TLS12").describe("Oldest TLS version that is spoken."),
    max_version: tlsVersion.default("TLS13").describe("Newest TLS version that is spoken."),
  })
  .refine((tls) => tls.client_ca_file !== undefined || !/Verify/.test(tls.client_auth_type), {
    path: ["client_ca_file"],
    error: "missing, expected a file of CA certificates because client_auth_type verifies clients",
  })
  .refine((tls) => tls.client_allowed_sans === undefined || /Verify/.test(tls.client_auth_type), {
    path: ["client_allowed_sans"],
    error:
      "names prove nothing unless certificates are verified, expected client_auth_type RequireAndVerifyClientCert or VerifyClientCertIfGiven",
  });

/**
 * The error for text that is not a bcrypt hash as `htpasswd -nBC 10` writes it. The message never repeats what was found,
 * because that may be a password.
 */
const notAHash = "is not a bcrypt hash (make one with: htpasswd -nBC 10 NAME)";
const bcryptHash = z.string({ error: notAHash }).regex(/^\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}$/, { error: notAHash });

/**
 * The web configuration file, with the fields of Prometheus' exporter-toolkit
 * (https://prometheus.io/docs/prometheus/latest/configuration/https/) that Fairlead supports.
 */
export const webConfigSchema = z
  .strictObject({
    tls_server_config: tlsServer
      .optional()
      .describe("Serve HTTPS. Renewed certificates are taken over within a minute."),
    basic_auth_users: z
      .record(z.string().min(1), bcryptHash)
      .default({})
      .describe(
        "Users and the bcrypt hashes of their passwords. `/livez` and `/readyz` stay open for the kubelet, and nothing else.",
      ),
    teams: z
      .record(z.string().min(1), z.array(z.string().min(1)).min(1))
      .optional()
      .describe(
        "This field is Fairlead's own; other exporters do not have it. It lists users of basic_auth_users who may see only the data of some teams, and these teams. All other users see everything; Prometheus must be one of them (docs/operations.md).",
      ),
  })
  .superRefine((web, context) => {
    for (const user of Object.keys(web.teams ?? {}).filter((name) => !Object.hasOwn(web.basic_auth_users, name)))
      context.addIssue({
        code: "custom",
        path: ["teams", user],
        message: "is no user of basic_auth_users: add the user, or remove this line",
      });
  });

export type WebConfig = z.infer<typeof webConfigSchema>;
export type TlsServerConfig = NonNullable<WebConfig["tls_server_config"]>;

/** Plain HTTP without authentication, which applies without a web configuration file. */
export const openWebConfig: WebConfig = { basic_auth_users: {} };

/** Reads and checks the file of `--web.config.file`. File names in the result are absolute. */
export function loadWebConfig(file: string): Promise<ConfigResult<WebConfig>> {
  return loadFile(file, webConfigSchema, [
    ["tls_server_config", "cert_file"],
    ["tls_server_config", "key_file"],
    ["tls_server_config", "client_ca_file"],
  ]);
}
