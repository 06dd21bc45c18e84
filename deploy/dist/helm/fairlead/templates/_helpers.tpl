{{- define "fairlead.name" -}}
{{ ternary (.Values.nameOverride) (.Chart.Name) (not (empty (.Values.nameOverride))) | trunc 45 | trimSuffix "-" }}
{{- end }}

{{- define "fairlead.fullname" -}}
{{ ternary (.Values.fullnameOverride) (ternary (.Release.Name) (printf "%v-%v" (.Release.Name) (include "fairlead.name" .)) (contains (include "fairlead.name" .) .Release.Name)) (not (empty (.Values.fullnameOverride))) | trunc 45 | trimSuffix "-" }}
{{- end }}

{{- define "fairlead.namespace" -}}
{{ ternary (.Values.namespaceOverride) (.Release.Namespace) (not (empty (.Values.namespaceOverride))) }}
{{- end }}

{{- define "fairlead.selectorLabels" -}}
{{ dict "app.kubernetes.io/name" (include "fairlead.name" .) "app.kubernetes.io/instance" (.Release.Name) "app.kubernetes.io/component" ("exporter") | toJson }}
{{- end }}

{{- define "fairlead.labels" -}}
{{ merge (dict) (dict "app.kubernetes.io/name" (include "fairlead.name" .) "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/part-of" "fairlead" "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/managed-by" .Release.Service "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_")) (.Values.customLabels) | toJson }}
{{- end }}

{{- define "fairlead.serviceAccountName" -}}
{{ ternary (.Values.serviceAccount.name) (ternary (include "fairlead.fullname" .) ("default") (.Values.serviceAccount.create)) (not (empty (.Values.serviceAccount.name))) }}
{{- end }}

{{- define "fairlead.image" -}}
{{ printf "%v%v:%v%v" (ternary (printf "%v/" (ternary (.Values.global.imageRegistry) (.Values.image.registry) (not (empty (.Values.global.imageRegistry))))) ("") (not (empty (ternary (.Values.global.imageRegistry) (.Values.image.registry) (not (empty (.Values.global.imageRegistry))))))) (.Values.image.repository) (ternary (.Values.image.tag) (.Chart.AppVersion) (not (empty (.Values.image.tag)))) (ternary (printf "@sha256:%v" (.Values.image.sha)) ("") (not (empty (.Values.image.sha)))) }}
{{- end }}
