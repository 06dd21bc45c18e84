import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { parse } from "yaml";
import { isRecord } from "../../kernel/parseJson.ts";
import type { Problem } from "../../model/problem.ts";

/** The source of the credentials. */
export interface CredentialChoice {
  /** A kubeconfig file; `null` selects the pod's service account, else `KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfigFile: string | null;
  /** A context of the kubeconfig; `null` selects its current one. */
  readonly context: string | null;
}

/**
 * What one request needs in order to be accepted. It is read anew for each request, because token and certificate files rotate.
 */
export interface Access {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** An API server, and how to get access to it. */
export interface Credentials {
  /** Base URL, without a slash at its end. */
  readonly server: string;
  readonly proxyUrl: string | null;
  /** The access for one request. Rejects where a token or certificate file cannot be read, or a credential plugin fails. */
  access(): Promise<Access>;
}

export type LoadedCredentials =
  | { readonly ok: true; readonly credentials: Credentials }
  | { readonly ok: false; readonly problem: Problem };

/** Loads credentials by client-node's `KubeConfig`, which is only imported here, since it takes half a second. */
export async function loadCredentials(choice: CredentialChoice): Promise<LoadedCredentials> {
  try {
    const client = await import("@kubernetes/client-node");
    const config = new client.KubeConfig();
    if (choice.kubeconfigFile !== null) {
      config.loadFromFile(choice.kubeconfigFile);
      rotateTokenFiles(config, await readFile(choice.kubeconfigFile, "utf8"), dirname(choice.kubeconfigFile));
    } else if (process.env.KUBERNETES_SERVICE_HOST && choice.context === null) config.loadFromCluster();
    else config.loadFromDefault();
    if (choice.context !== null) config.setCurrentContext(choice.context);
    return fromKubeConfig(config);
  } catch (error) {
    return unusable(error instanceof Error ? error.message : String(error));
  }
}

/** Access to an API server that requires no credentials, such as a simulator or `kubectl proxy` on this machine. */
export function anonymousCredentials(server: string): Credentials {
  const access: Access = { headers: {}, tls: {} };
  return { server: server.replace(/\/+$/, ""), proxyUrl: null, access: async () => access };
}

function fromKubeConfig(config: KubeConfig): LoadedCredentials {
  const cluster = config.getCurrentCluster();
  if (!cluster) return unusable(`context "${config.getCurrentContext()}" names no cluster`);
  // This is the placeholder that `loadFromDefault` creates if it has found nothing.
  if (cluster.name === "cluster" && cluster.server === "http://localhost:8080") return unusable("none were found");
  const server = cluster.server.replace(/\/+$/, "");
  // No token is ever sent over an unencrypted connection.
  if (!server.startsWith("https:")) return { ok: true, credentials: anonymousCredentials(server) };
  const proxyUrl = cluster.proxyUrl ?? null;
  return { ok: true, credentials: { server, proxyUrl, access: () => accessOf(config) } };
}

async function accessOf(config: KubeConfig): Promise<Access> {
  const options: Parameters<KubeConfig["applyToHTTPSOptions"]>[0] = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  if ("headers" in options && isRecord(options.headers)) {
    // Files end in a line break, which a header must not contain.
    for (const [name, value] of Object.entries(options.headers)) headers[name.toLowerCase()] = String(value).trim();
  }
  if (typeof options.auth === "string") {
    headers.authorization = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  }
  return {
    headers,
    tls: {
      ...pem("ca", options.ca),
      ...pem("cert", options.cert),
      ...pem("key", options.key),
      ...("servername" in options && typeof options.servername === "string" ? { servername: options.servername } : {}),
      ...(options.rejectUnauthorized === false ? { rejectUnauthorized: false } : {}),
    },
  };
}

function pem(name: "ca" | "cert" | "key", value: unknown): TlsMaterial {
  return typeof value === "string" || Buffer.isBuffer(value) ? { [name]: value.toString() } : {};
}

/**
 * Makes client-node read token files again. It reads a user's `tokenFile` once or not at all; Kubernetes reads it again and
 * prefers it to `token`.
 */
function rotateTokenFiles(config: KubeConfig, source: string, folder: string): void {
  const document: unknown = parse(source);
  const users = isRecord(document) && Array.isArray(document.users) ? document.users : [];
  for (const entry of users) {
    const user = isRecord(entry) ? entry.user : undefined;
    if (!isRecord(entry) || !isRecord(user)) continue;
    const tokenFile = user.tokenFile ?? user["token-file"];
    if (typeof tokenFile !== "string") continue;
    config.users = config.users.map((known) => {
      if (known.name !== entry.name) return known;
      const { token: _, ...rest } = known;
      return { ...rest, authProvider: { name: "tokenFile", config: { tokenFile: resolve(folder, tokenFile) } } };
    });
  }
}

function unusable(found: string): LoadedCredentials {
  return {
    ok: false,
    problem: {
      source: "kubernetes",
      code: "no-credentials",
      severity: "error",
      subject: null,
      message: `Credentials for the Kubernetes API cannot be used: ${found}.`,
      nextStep: "Run inside the cluster with a service account, or name a kubeconfig file and a context that it has.",
    },
  };
}
