import type { RealNode } from "./realNode.ts";

/** What a value set of the chart's `ci` folder needs on the node, and which of its values cannot be had there. */
export interface Needs {
  /** The namespace that it is installed into, where it is not one of its own. */
  readonly namespace?: string;
  /** Manifests of what it takes for granted, applied before. */
  readonly manifests?: string;
  /** Why `--wait` would not end, where it is documented that it does not. */
  readonly neverWhole?: string;
  /** How it asks for little, where it is not by `smallRequest`. */
  readonly request?: string;
  /** Values that take the place of what one node without a registry does not have, each with the reason. */
  readonly instead?: readonly (readonly [value: string, reason: string])[];
}

const secret = (name: string, data: Readonly<Record<string, string>>): string =>
  JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: data });

const storageClass = (name: string): string =>
  JSON.stringify({
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name },
    provisioner: "rancher.io/local-path",
    volumeBindingMode: "WaitForFirstConsumer",
  });

const namespaceNamed = (name: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

/** The rights of another release, for an account that the chart does not make. */
const rightsOf = (namespace: string, account: string): string =>
  JSON.stringify({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: `${namespace}-${account}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view-of-tests" },
    subjects: [{ kind: "ServiceAccount", name: account, namespace }],
  });

const readsAll = JSON.stringify({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "view-of-tests" },
  rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }],
});

const bcryptOfChangeMe = "$2b$10$fzZ0rbEi12Kh9JTrmF1Qde38CrSOYm0kQE69RW5Y1zXhBCrT0veUW";

/** What every installation of the tests beside others asks for: all of them share the two cores of a node. */
export const smallRequest = "--set resources.requests.cpu=50m";

/** By the name of the value set; those that are not here need nothing. */
export const variantNeeds: Readonly<Record<string, Needs>> = {
  "big-cluster": {
    manifests: [
      ...["kueue-system", "volcano-system"].map(namespaceNamed),
      storageClass("fast"),
      secret("otlp-headers", { headers: "" }),
      secret("mimir-token", { token: "none" }),
    ].join("\n---\n"),
    instead: [
      ["replicas=1", "its replicas want nodes of their own"],
      ["resources.requests.memory=256Mi", "the machine is smaller than the pods that it asks for"],
      ["resources.limits.memory=1Gi", "the same"],
    ],
  },
  "everything-off": {
    manifests: [
      JSON.stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "reader" } }),
      readsAll,
    ].join("\n---\n"),
  },
  "extra-manifests": {
    instead: [0, 1].map((i) => [
      `extraManifests[${i}].metadata.namespace=chart-extra-manifests`,
      "another test has the namespace that it names",
    ]),
  },
  "load-balancer": {
    request: `--set-json 'resources={"requests":{"cpu":"50m"}}'`,
    instead: [["automountServiceAccountToken=true", "it brings its token by a way of its own, which is not here"]],
  },
  "names-overridden": {
    namespace: "gpu-accounts",
    manifests: ["grafana", "monitoring"].map(namespaceNamed).join("\n---\n"),
    instead: [
      ["image.pullPolicy=Never", "there is no registry"],
      ["image.sha=", "there is no image of this digest"],
    ],
  },
  "tls-and-users": {
    manifests: [
      secret("fairlead-scrape", { username: "reader", password: "change-me" }),
      secret("fairlead-review-user", { password: "change-me" }),
    ].join("\n---\n"),
  },
  "weekly-review": {
    neverWhole: "the volume of the reviews waits for the first Monday",
    manifests: [storageClass("slow"), secret("fairlead-webhook", { url: "http://127.0.0.1:1/" })].join("\n---\n"),
  },
};

/** Accounts that a value set takes for granted, with the rights to read that other releases give theirs. */
export async function grantRights(node: RealNode, namespace: string, variant: string): Promise<void> {
  const account = { "everything-off": "reader", "load-balancer": "load-balancer-fairlead" }[variant];
  if (account !== undefined) await node.apply([readsAll, rightsOf(namespace, account)].join("\n---\n"));
}

/** Makes the certificate and the users of `tls-and-users`, as docs/operations.md does. */
export const webSecrets = (host: string): string => `
folder=$(mktemp -d) && trap 'rm -r "$folder"' EXIT && cd "$folder"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout tls.key -out tls.crt -subj /CN=${host} \
  -addext subjectAltName=DNS:${host} 2> /dev/null
cat > web-config.yml << 'END'
tls_server_config: { cert_file: tls.crt, key_file: tls.key }
basic_auth_users: { reader: ${bcryptOfChangeMe}, review: ${bcryptOfChangeMe} }
END
kubectl --namespace "$NAMESPACE" create secret generic fairlead-web --from-file=web-config.yml --from-file=tls.crt --from-file=tls.key
kubectl --namespace "$NAMESPACE" create secret generic fairlead-ca --from-file=ca.crt=tls.crt`;
