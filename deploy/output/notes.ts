/** What Helm says after an installation: where to look first, and what to check when something does not appear. */
export const notes = `Fairlead {{ .Chart.AppVersion }} is installed as {{ include "fairlead.fullname" . }} in {{ include "fairlead.namespace" . }}.

See what it finds, and how every source is doing:

  kubectl -n {{ include "fairlead.namespace" . }} rollout status statefulset/{{ include "fairlead.fullname" . }}
  kubectl -n {{ include "fairlead.namespace" . }} port-forward service/{{ include "fairlead.fullname" . }} 10836:{{ .Values.service.port }}
  # then open {{ ternary "https" "http" .Values.web.tls }}://localhost:10836

{{- if not (regexMatch "(^|,)monitoring\\\\.coreos\\\\.com/" (join "," .Capabilities.APIVersions)) }}

The cluster has no Prometheus Operator: scrape the Service yourself (prometheusScrape=true annotates it), and load
alerts/dist/rules into Prometheus.
{{- else if .Values.prometheus.releaseLabel }}

ServiceMonitor and PrometheusRule carry the label release={{ .Values.prometheus.releaseLabel }}. If Prometheus does not find them,
look at what it selects by: kubectl get prometheus -A -o jsonpath='{.items[*].spec.serviceMonitorSelector}'
{{- end }}
{{- if not .Values.image.registry }}{{ if not .Values.global.imageRegistry }}

image.registry is not set: nodes must already have the image {{ include "fairlead.image" . }}.
{{- end }}{{ end }}
{{- if not .Values.persistence.enabled }}

The ledger is in an emptyDir: it ends with the pod, and weeks that have passed with it.
{{- end }}
{{- if not .Values.web.existingSecret }}

NO USER IS CONFIGURED: whoever reaches port {{ .Values.service.port }} reads everything, the costs of every team and the whole
ledger included, without a name or a password. Give users with web.existingSecret; "teams" in its web-config.yml says who
may see which teams alone (docs/operations.md).
{{- if not .Values.networkPolicy.enabled }} No NetworkPolicy limits who reaches it, either: networkPolicy.enabled.
{{- end }}
{{- end }}
`;
