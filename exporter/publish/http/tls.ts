import { readFile } from "node:fs/promises";
import type { Server } from "node:https";
import type { SecureContextOptions, SecureVersion, TLSSocket } from "node:tls";
import type { TlsServerConfig } from "../../config/webConfig.ts";

const versions: Readonly<Record<TlsServerConfig["min_version"], SecureVersion>> = {
  TLS10: "TLSv1",
  TLS11: "TLSv1.1",
  TLS12: "TLSv1.2",
  TLS13: "TLSv1.3",
};

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
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Whether clients are asked for a certificate at all, and whether TLS itself refuses those that fail verification. */
export function clientCertOptions(tls: TlsServerConfig): { requestCert: boolean; rejectUnauthorized: boolean } {
  return {
    requestCert: tls.client_auth_type !== "NoClientCert",
    rejectUnauthorized: tls.client_auth_type === "RequireAndVerifyClientCert",
  };
}

/** The two kinds of client authentication that TLS in Node.js does not know by itself. */
export function acceptsClient(tls: TlsServerConfig, socket: TLSSocket): boolean {
  const shown = Object.keys(socket.getPeerCertificate()).length > 0;
  if (tls.client_auth_type === "RequireAnyClientCert") return shown;
  if (tls.client_auth_type === "VerifyClientCertIfGiven") return !shown || socket.authorized;
  return true;
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
