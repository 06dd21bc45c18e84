{{/*
The application's name, in labels. Names are cut, so that suffixes can be added to them: the name of a CronJob (with -review)
may have 52 letters, fewer than all others.
*/}}
{{- define "fairlead.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 45 | trimSuffix "-" }}
{{- end }}

{{/* The name of all objects, or the beginning of their names. */}}
{{- define "fairlead.fullname" -}}
{{- $name := include "fairlead.name" . }}
{{- $ofRelease := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) }}
{{- default $ofRelease .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- end }}

{{/* The namespace of all objects that are in a namespace. */}}
{{- define "fairlead.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{/* Name of the account with which Fairlead reads the Kubernetes API. */}}
{{- define "fairlead.serviceAccountName" -}}
{{- default (ternary (include "fairlead.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{/* The labels that select Fairlead's replicas; they never change while a release is installed. */}}
{{- define "fairlead.selectorLabels" -}}
app.kubernetes.io/name: {{ include "fairlead.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: exporter
{{- end }}

{{/*
The labels of an object: `include "fairlead.labels" (list . MAP...)`. If a label occurs several times, the first value counts,
in this order: the labels of the maps, those that every object has, the user's.
*/}}
{{- define "fairlead.labels" -}}
{{- $root := first . }}
{{- $labels := dict }}
{{- range rest . }}
{{- $labels = merge $labels (default dict .) }}
{{- end }}
{{- $ofAll := dict
      "app.kubernetes.io/name" (include "fairlead.name" $root)
      "app.kubernetes.io/instance" $root.Release.Name
      "app.kubernetes.io/part-of" "fairlead"
      "app.kubernetes.io/version" $root.Chart.AppVersion
      "app.kubernetes.io/managed-by" $root.Release.Service
      "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") }}
{{- merge $labels $ofAll (default dict $root.Values.customLabels) | toYaml }}
{{- end }}

{{/* The label by which an installed kube-prometheus-stack selects monitors and rules, if there is one. */}}
{{- define "fairlead.releaseLabel" -}}
{{- with .Values.prometheus.releaseLabel }}release: {{ quote . }}{{ end }}
{{- end }}

{{/* The container image, by tag and, where it is given, by digest. */}}
{{- define "fairlead.image" -}}
{{- with default .Values.image.registry .Values.global.imageRegistry }}{{ . }}/{{ end }}
{{- .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- with .Values.image.sha }}@sha256:{{ . }}{{ end }}
{{- end }}

{{/* The port on which Fairlead listens, and the port that is only for the kubelet's probes and always plain HTTP. */}}
{{- define "fairlead.port" -}}10836{{- end }}
{{- define "fairlead.probePort" -}}10837{{- end }}

{{/* The scheme of Fairlead's addresses. */}}
{{- define "fairlead.scheme" -}}
{{- ternary "https" "http" .Values.web.tls }}
{{- end }}

{{/* Fairlead's configuration, as JSON: the user's, with the settings that only the chart knows. */}}
{{- define "fairlead.config" -}}
{{- $own := dict "replicas" (int .Values.replicas) "ledger" (dict "path" "/var/lib/fairlead/ledger.db") }}
{{- if .Values.prices }}
{{- $_ := set $own "prices" (dict "file" "/etc/fairlead/prices.yaml") }}
{{- end }}
{{- mergeOverwrite (deepCopy (default dict .Values.config)) $own | toJson }}
{{- end }}

{{/* Whether the cluster has an API group: `include "fairlead.hasGroup" (list . GROUP)`; "true" or nothing. */}}
{{- define "fairlead.hasGroup" -}}
{{- $group := last . }}
{{- range (first .).Capabilities.APIVersions }}
{{- if hasPrefix (printf "%s/" $group) . }}true{{ break }}{{ end }}
{{- end }}
{{- end }}

{{/*
Whether a value turns something on: true, false or "auto", which turns it on where the cluster has an API group.
`include "fairlead.isOn" (list . VALUE GROUP)` is "true" or nothing.
*/}}
{{- define "fairlead.isOn" -}}
{{- $value := index . 1 | toString }}
{{- if eq $value "auto" }}
{{- include "fairlead.hasGroup" (list (first .) (last .)) }}
{{- else if eq $value "true" }}true{{ end }}
{{- end }}

{{/* The address of the runbooks: the one in the values, else that of Fairlead itself; nothing if neither is known. */}}
{{- define "fairlead.runbooks" -}}
{{- $own := "" }}
{{- with .Values.links.fairlead }}{{ $own = printf "%s/runbooks" (trimSuffix "/" .) }}{{ end }}
{{- default $own .Values.links.runbooks }}
{{- end }}

{{/* The shipped rules, with the addresses of this installation; those that it lacks are removed. */}}
{{- define "fairlead.rules" -}}
{{- $links := .Values.links }}
{{- $runbooks := include "fairlead.runbooks" . }}
{{- $rules := .Files.Get "files/prometheusrule.yaml"
      | replace "https://runbooks.invalid" $runbooks
      | replace "https://fairlead.invalid" (default "" $links.fairlead)
      | replace "https://grafana.invalid" (default "" $links.grafana)
      | fromYaml }}
{{- range $group := $rules.spec.groups }}
{{- range $rule := $group.rules }}
{{- with $rule.annotations }}
{{- if not $links.fairlead }}{{ $_ := unset . "recommendation_url" }}{{ end }}
{{- if not $links.grafana }}{{ $_ := unset . "dashboard_url" }}{{ end }}
{{- if not $runbooks }}{{ $_ := unset . "runbook_url" }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{/*
A dashboard (`include "fairlead.dashboard" (list . TEXT)`) with the addresses of this installation. Where one is not known,
links that begin with it are left out, and a link within a text is only its text.
*/}}
{{- define "fairlead.dashboard" -}}
{{- $root := first . }}
{{- $text := last . }}
{{- $addresses := dict "fairlead" (default "" $root.Values.links.fairlead | trimSuffix "/") "runbooks" (include "fairlead.runbooks" $root) }}
{{- range $name, $address := $addresses }}
{{- $placeholder := printf "https://%s.invalid" $name }}
{{- if $address }}
{{- $text = replace $placeholder $address $text }}
{{- else }}
{{- $text = regexReplaceAll (printf `\{[^{}]*"url":"%s[^"]*"[^{}]*\},?` $placeholder) $text "" | replace ",]" "]" }}
{{- $text = regexReplaceAll (printf `\[([^\[\]]*)\]\(%s[^)]*\)` $placeholder) $text "${1}" }}
{{- $text = replace $placeholder "" $text }}
{{- end }}
{{- end }}
{{- $text }}
{{- end }}
