{{/*
What every object's name begins with: the release's, with gpu-ledger in it, by which the alerts know our jobs. It leaves room for what a
StatefulSet's pods add to it.
*/}}
{{- define "gpu-ledger.name" -}}
{{- $release := .Release.Name | trunc 40 | trimSuffix "-" -}}
{{ contains "gpu-ledger" $release | ternary $release (printf "%s-gpu-ledger" (.Release.Name | trunc 29 | trimSuffix "-")) }}
{{- end -}}

{{/* Labels with the release of an object. */}}
{{- define "gpu-ledger.releaseLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Labels by which the pods of a part are selected: (list $ "collector"). */}}
{{- define "gpu-ledger.selector" -}}
app.kubernetes.io/name: gpu-ledger
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of a part's objects: (list $ "collector"). */}}
{{- define "gpu-ledger.labels" -}}
app.kubernetes.io/name: gpu-ledger
app.kubernetes.io/component: {{ index . 1 }}
{{ include "gpu-ledger.releaseLabels" (index . 0) }}
{{- end -}}

{{- define "gpu-ledger.image" -}}
{{- $tag := .Values.image.tag | default (eq .Values.mode "small" | ternary (printf "%s-embedded" .Chart.AppVersion) .Chart.AppVersion) -}}
{{ .Values.image.repository }}:{{ $tag }}
{{- end -}}

{{/* The part that serves the API and the pages. */}}
{{- define "gpu-ledger.serving" -}}
{{ eq .Values.mode "small" | ternary "small" "server" }}
{{- end -}}

{{- define "gpu-ledger.clickhouseSecret" -}}
{{ .Values.clickhouse.existingSecret | default (printf "%s-clickhouse" (include "gpu-ledger.name" .)) }}
{{- end -}}

{{- define "gpu-ledger.kafkaSecret" -}}
{{ .Values.kafka.sasl.existingSecret | default (printf "%s-kafka" (include "gpu-ledger.name" .)) }}
{{- end -}}

{{/* "true" if each client of the ports needs a certificate, else nothing. The kubelet has none. */}}
{{- define "gpu-ledger.needsClientCert" -}}
{{- $types := list "RequireAnyClientCert" "RequireAndVerifyClientCert" -}}
{{- if and .Values.tls.enabled (has .Values.tls.clientAuthType $types) }}true{{ end -}}
{{- end -}}

{{- define "gpu-ledger.metricsSecret" -}}
{{ .Values.metricsToken.existingSecret | default (printf "%s-metrics" (include "gpu-ledger.name" .)) }}
{{- end -}}
