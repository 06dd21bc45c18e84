import type { Config } from "../../exporter/config/schema.ts";
import { isRecord } from "../../exporter/kernel/parseJson.ts";
import type { Problem } from "../../exporter/model/problem.ts";
import type { Setback } from "../../exporter/sources/kubernetes/setback.ts";

/** The problem that the API server returns nothing at all. */
export function apiUnusable({ message, state }: Setback): Problem {
  const isRefused = state === "forbidden" || /HTTP 401/.test(message);
  return {
    source: "kubernetes",
    code: isRefused ? "forbidden" : "kind-failing",
    severity: "error",
    subject: null,
    message: `The Kubernetes API cannot be read: ${message}`,
    nextStep: isRefused
      ? "Check who you are (kubectl auth whoami) and what you may read (kubectl auth can-i list pods -A); --context names another context of the kubeconfig."
      : "Check that kubectl get nodes works with the same kubeconfig and context (--kubeconfig, --context).",
  };
}

/** The problem that the objects of a kind that the cluster has could not be read. */
export function kindUnread(name: string, { message, state }: Setback): Problem {
  if (state === "forbidden")
    return {
      source: "kubernetes",
      code: "forbidden",
      severity: "warning",
      subject: name,
      message: `You may not list ${name}, and what is said by them is not known: ${message}`,
      nextStep: "Ask for the right to list them in all namespaces: docs/now.md says which role has it.",
    };
  return {
    source: "kubernetes",
    code: "kind-failing",
    severity: "warning",
    subject: name,
    message: `The list of ${name} did not come, and what is said by them is not known: ${message}`,
    nextStep: "Try again; a large cluster may need more time (--deadline).",
  };
}

const shownNamespaces = 3;

/**
 * The problem that no pod is where exporters are looked for. Pods elsewhere that look like exporters are named in it, but no
 * pod is asked that the configuration does not allow.
 */
export function noExporters(pods: readonly unknown[], { dcgm }: Pick<Config, "dcgm">): Problem {
  const elsewhere = [...new Set(pods.flatMap(exporterNamespace))].sort();
  const looked = [...new Set(dcgm.discovery.flatMap(({ namespaces }) => namespaces))].join(", ");
  const seen = elsewhere.slice(0, shownNamespaces).join(", ");
  return {
    source: "dcgm",
    code: "no-exporters",
    severity: "error",
    subject: null,
    message: `No pod of a GPU exporter was found in ${looked}${seen === "" ? "" : `; pods in ${seen} look like one`}: which GPUs are used is not known.`,
    nextStep:
      seen === ""
        ? "Install dcgm-exporter, or say where it runs in dcgm.discovery of a configuration file (--config.file)."
        : "Name the namespace and its labels in dcgm.discovery of a configuration file (--config.file).",
  };
}

/** The namespace of a pod whose name looks like that of an exporter; empty for other pods. */
function exporterNamespace(pod: unknown): readonly string[] {
  if (!isRecord(pod) || !isRecord(pod.metadata)) return [];
  const { name, namespace } = pod.metadata;
  return typeof name === "string" && typeof namespace === "string" && name.includes("dcgm-exporter") ? [namespace] : [];
}
