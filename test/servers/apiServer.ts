/**
 * A real etcd and a real kube-apiserver on free loopback ports, for tests.
 *
 * There is no controller manager, no scheduler and no kubelet: a pod stays where its `spec.nodeName` puts it, a bound
 * pod is gone at once only when deleted with `gracePeriodSeconds=0`, and a deleted namespace stays `Terminating`.
 */

import { generateKeyPairSync, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, installed, Program } from "./program.ts";

/** A bearer token that the API server knows, and the user behind it. RBAC decides what that user may do. */
export interface ApiServerToken {
  readonly token: string;
  readonly user: string;
  readonly groups?: readonly string[];
}

/** How to start the API server. */
export interface ApiServerOptions {
  /** A folder with `etcd` and `kube-apiserver`. Default: what `test/tools/install-kube-servers.sh` prints. */
  readonly assetsDir?: string;
  /** Tokens known besides the admin's. */
  readonly tokens?: readonly ApiServerToken[];
  /** Whether the API server answers from its watch cache, as every production one does. Default: true. */
  readonly watchCache?: boolean;
  /** More command line flags for kube-apiserver; they come last, so they win. */
  readonly apiServerFlags?: readonly string[];
}

/** The feature gate of Kubernetes' own gangs, for the API server and kube-scheduler: by default it is off. */
export const gangGates = "--feature-gates=GenericWorkload=true";

/** Flags with which PodGroups and Workloads of `scheduling.k8s.io` are served. */
export const servingNativeGangs: readonly string[] = ["--runtime-config=scheduling.k8s.io/v1beta1=true", gangGates];

/**
 * A running API server.
 *
 * How a client gets a real 410 (`reason: Expired`):
 *
 * - `watchCache: false`: call `compact()`; from then on each watch, and each list with a `continue` token or with
 *   `resourceVersionMatch=Exact`, that names a resourceVersion handed out earlier is answered 410.
 * - `watchCache: true`: `compact()` alone does NOT end old watches, since the events are still in the cache's
 *   window. After `restart()` the window begins at the newest revision, so a watch from any older resourceVersion is
 *   answered 410, with or without compaction. An old list (`continue`, `Exact`) is answered 410 after `compact()`
 *   and `restart()`; after `compact()` alone it is served from the cache's snapshots for up to 16 more seconds.
 *
 * A list's 410 is the HTTP status. A watch's is not: that is HTTP 200 with one event, `{"type": "ERROR", "object":
 * {"kind": "Status", "code": 410, "reason": "Expired", ...}}`, and then the end of the stream.
 */
export interface ApiServer {
  /** `https://127.0.0.1:PORT`; the same after `restart()`. */
  readonly url: string;
  /** The file with the certificate authority of the serving certificate, and its PEM text. */
  readonly caCertPath: string;
  readonly ca: string;
  /** A bearer token of a user in `system:masters`. */
  readonly adminToken: string;
  /** `http://127.0.0.1:PORT`, etcd's client URL (gRPC and its JSON gateway). */
  readonly etcdUrl: string;
  /** A kubeconfig, as YAML, whose one user has that token. */
  kubeconfigFor(token: string): string;
  /** Kills the API server hard (SIGKILL) and starts it again on the same port and etcd. Resolves when it is ready. */
  restart(): Promise<void>;
  /** Compacts etcd so that every resourceVersion handed out before the call is too old for etcd. See above for 410s. */
  compact(): Promise<void>;
  /** Kills both servers and removes their files. */
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";

/** Starts etcd and kube-apiserver and resolves when the API server is ready. The caller must `stop()` it. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const assets = options.assetsDir ?? (await installed("install-kube-servers.sh"));
  const folder = await mkdtemp(join(tmpdir(), "fairlead-kube-"));
  const [apiPort, etcdPort, peerPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const url = `https://${HOST}:${apiPort}`;
  const etcdUrl = `http://${HOST}:${etcdPort}`;
  const adminToken = randomBytes(16).toString("hex");
  const caCertPath = join(folder, "certs", "apiserver.crt");

  const etcd = new Program(folder, join(assets, "etcd"), etcdFlags(folder, etcdUrl, `http://${HOST}:${peerPort}`));
  const flags = apiServerFlags(folder, apiPort, etcdUrl, options);
  const apiServer = new Program(folder, join(assets, "kube-apiserver"), flags);

  const startApi = async (): Promise<void> => {
    apiServer.start();
    await apiServer.ready(async () => await apiStatus(`${url}/readyz`, caCertPath, adminToken));
  };
  const killBoth = (): Promise<unknown> => Promise.all([apiServer.kill(), etcd.kill()]);
  const removeFiles = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const onExit = (): void => {
    void killBoth();
    removeFiles();
  };
  const stop = async (): Promise<void> => {
    process.removeListener("exit", onExit);
    await killBoth();
    removeFiles();
  };

  process.once("exit", onExit);
  try {
    const admin = { token: adminToken, user: "admin", groups: ["system:masters"] };
    await writeCredentials(folder, [admin, ...(options.tokens ?? [])]);
    etcd.start();
    await etcd.ready(async () => (await fetch(`${etcdUrl}/health`)).status);
    await startApi();
    const ca = await readFile(caCertPath, "utf8");
    return {
      url,
      caCertPath,
      ca,
      adminToken,
      etcdUrl,
      kubeconfigFor: (token) => kubeconfig(url, ca, token),
      restart: async () => {
        await apiServer.kill();
        await startApi();
      },
      compact: () => compactEtcd(etcdUrl),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function etcdFlags(folder: string, clientUrl: string, peerUrl: string): readonly string[] {
  return [
    "--name=test",
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=test=${peerUrl}`,
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
}

function apiServerFlags(folder: string, port: number, etcdUrl: string, options: ApiServerOptions): readonly string[] {
  const flags: Readonly<Record<string, string>> = {
    "bind-address": HOST,
    "advertise-address": HOST,
    "secure-port": String(port),
    "cert-dir": join(folder, "certs"),
    "etcd-servers": etcdUrl,
    "etcd-compaction-interval": "24h", // only compact() does it; with 0 the watch cache would not hear of it
    "authorization-mode": "RBAC",
    "token-auth-file": join(folder, "tokens.csv"),
    "service-account-issuer": "https://kubernetes.default.svc",
    "service-account-key-file": join(folder, "service-account.pub"),
    "service-account-signing-key-file": join(folder, "service-account.key"),
    "service-cluster-ip-range": "10.0.0.0/24",
    "endpoint-reconciler-type": "none", // a loopback address is no valid endpoint
    "disable-admission-plugins": "ServiceAccount", // its accounts come from the controller manager
    "watch-cache": String(options.watchCache ?? true),
  };
  return [...Object.entries(flags).map(([name, value]) => `--${name}=${value}`), ...(options.apiServerFlags ?? [])];
}

async function writeCredentials(folder: string, tokens: readonly ApiServerToken[]): Promise<void> {
  const lines = tokens.map(({ token, user, groups = [] }) => `${token},${user},${user},"${groups.join(",")}"`);
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(join(folder, "tokens.csv"), `${lines.join("\n")}\n`, { mode: 0o600 });
  await writeFile(join(folder, "service-account.pub"), publicKey.export({ type: "spki", format: "pem" }));
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  await writeFile(join(folder, "service-account.key"), key, { mode: 0o600 });
}

function kubeconfig(url: string, ca: string, token: string): string {
  return `apiVersion: v1
kind: Config
clusters:
- {name: test, cluster: {server: "${url}", certificate-authority-data: "${Buffer.from(ca).toString("base64")}"}}
users:
- {name: test, user: {token: ${JSON.stringify(token)}}}
contexts:
- {name: test, context: {cluster: test, user: test}}
current-context: test
`;
}

/**
 * Compacts as kube-apiserver's own compactor does, which says its watch caches through etcd's `compact_rev_key`.
 * A watch from revision r reads from r + 1 on, and etcd still serves its compaction revision itself: hence two writes.
 */
async function compactEtcd(etcdUrl: string): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const before = await etcdCall(etcdUrl, "put", { key: base64("fairlead-test-compaction") });
  const revision = String(before + 1);
  await etcdCall(etcdUrl, "put", { key: base64("compact_rev_key"), value: base64(revision) });
  await etcdCall(etcdUrl, "compaction", { revision, physical: true });
}

/** Calls etcd's JSON gateway and returns etcd's revision after the call. */
async function etcdCall(etcdUrl: string, method: string, body: object): Promise<number> {
  const response = await fetch(`${etcdUrl}/v3/kv/${method}`, { method: "POST", body: JSON.stringify(body) });
  const answer = await response.text();
  const revision = /"revision":"(\d+)"/.exec(answer)?.[1];
  if (!response.ok || revision === undefined) {
    throw new Error(`etcd's ${method} answered ${response.status}: ${answer}`);
  }
  return Number(revision);
}

async function apiStatus(url: string, caCertPath: string, token: string): Promise<number> {
  const ca = await readFile(caCertPath, "utf8");
  return await new Promise((resolve, reject) => {
    const options = { agent: false, ca, headers: { authorization: `Bearer ${token}` }, timeout: 10_000 };
    const request = get(url, options, (response) => resolve(response.resume().statusCode ?? 0));
    request.once("timeout", () => request.destroy(new Error("no answer in 10 s"))).once("error", reject);
  });
}
