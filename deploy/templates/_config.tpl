{{/* The configuration of every part: the cluster's name, and an address that other pods can reach. */}}
{{- define "gpu-ledger.commonConfig" -}}
cluster: {{ .Values.cluster | quote }}
server:
  listen: 0.0.0.0:8080
  {{- with .Values.tls }}
  {{- if .enabled }}
  tls:
    certFile: /etc/gpu-ledger-tls/server/tls.crt
    keyFile: /etc/gpu-ledger-tls/server/tls.key
    clientAuthType: {{ .clientAuthType }}
    {{- if .clientCaSecret }}
    clientCaFile: /etc/gpu-ledger-tls/client-ca/ca.crt
    {{- end }}
    {{- with .clientAllowedSans }}
    clientAllowedSans: {{- toYaml . | nindent 6 }}
    {{- end }}
  {{- else }}
  plainHttp: true
  {{- end }}
  {{- end }}
  {{- if .Values.metricsToken.enabled }}
  metricsToken: { env: METRICS_TOKEN }
  {{- end }}
{{- end -}}

{{/* This cluster: the current pods of its exporters, and its API server. */}}
{{- define "gpu-ledger.clusterConfig" -}}
data: /var/lib/gpu-ledger
collector:
  jobs:
    - name: exporters
      kubernetes: {}
kubernetes:
  clusters:
    - {}
{{- end -}}

{{- define "gpu-ledger.busConfig" -}}
bus:
  kind: kafka
  kafka:
    brokers: {{- toYaml .Values.kafka.brokers | nindent 6 }}
    {{- with .Values.kafka.tls }}
    {{- if .enabled }}
    tls:
      insecureSkipVerify: false
      {{- if .caSecret }}
      ca: /etc/gpu-ledger-kafka/ca/ca.crt
      {{- end }}
      {{- if .clientSecret }}
      cert: /etc/gpu-ledger-kafka/client/tls.crt
      key: /etc/gpu-ledger-kafka/client/tls.key
      {{- end }}
    {{- end }}
    {{- end }}
    {{- with .Values.kafka.sasl }}
    {{- if .mechanism }}
    sasl:
      mechanism: {{ .mechanism }}
      username: {{ .username | quote }}
      password: { env: KAFKA_PASSWORD }
    {{- end }}
    {{- end }}
{{- end -}}

{{- define "gpu-ledger.storeConfig" -}}
store:
  kind: clickhouse
  clickhouse:
    url: {{ .Values.clickhouse.url | quote }}
    username: {{ .Values.clickhouse.username | quote }}
    password: { env: CLICKHOUSE_PASSWORD }
{{- end -}}

{{/* The rules of owners that read labels or annotations of pods and their owners: collectors keep these. */}}
{{- define "gpu-ledger.podOwners" -}}
{{- $owners := dict -}}
{{- range $dimension, $rules := .Values.config.owners -}}
{{- $read := list -}}
{{- range $rules -}}
{{- with pick . "podLabel" "podAnnotation" "ownerLabel" -}}
{{- $read = append $read . -}}
{{- end -}}
{{- end -}}
{{- if $read -}}
{{- $_ := set $owners $dimension $read -}}
{{- end -}}
{{- end -}}
{{ toYaml $owners }}
{{- end -}}

{{/* The labels of nodes that prices, commitments and fixed costs read: collectors keep these. */}}
{{- define "gpu-ledger.pricedNodeLabels" -}}
{{- $config := .Values.config -}}
{{- $book := $config -}}
{{- with $config.pricesFile -}}
{{- $book = get $.Values.files . | fromYaml -}}
{{- end -}}
{{- $names := list -}}
{{- range concat ($book.prices | default list) ($book.commitments | default list) ($book.fixed | default list) -}}
{{- $label := dig "nodeLabel" dict (merge dict (.match | default dict) (.scope | default dict)) -}}
{{- if kindIs "string" $label -}}
{{- range splitList "," $label -}}
{{- $names = append $names (regexFind "^[^=]+" . | trim) -}}
{{- end -}}
{{- else -}}
{{- $names = concat $names (keys $label) -}}
{{- end -}}
{{- end -}}
{{ $names | uniq | sortAlpha | toYaml }}
{{- end -}}

{{/* The collectors' configuration, with their part of the values. */}}
{{- define "gpu-ledger.collectorConfig" -}}
{{- $own := merge (include "gpu-ledger.commonConfig" . | fromYaml) (include "gpu-ledger.clusterConfig" . | fromYaml) (include "gpu-ledger.busConfig" . | fromYaml) -}}
{{- $said := pick .Values.config "cluster" "data" "log" "collector" "bus" "kubernetes" "server" "tracing" "metrics" -}}
{{- $config := mergeOverwrite $own (deepCopy $said) -}}
{{- with dig "training" "runKeys" list .Values.config -}}
{{- $_ := set $config "training" (dict "runKeys" .) -}}
{{- end -}}
{{- with include "gpu-ledger.podOwners" . | fromYaml -}}
{{- $_ := set $config "owners" . -}}
{{- end -}}
{{- with include "gpu-ledger.pricedNodeLabels" . | fromYamlArray -}}
{{- $_ := set $config.kubernetes "nodeLabels" (concat (dig "nodeLabels" list $config.kubernetes) . | uniq) -}}
{{- end -}}
{{ toYaml $config }}
{{- end -}}

{{/* "true" if processors post Events about training runs, else nothing. */}}
{{- define "gpu-ledger.trainingEvents" -}}
{{- if dig "training" "events" false .Values.config }}true{{ end -}}
{{- end -}}

{{/* The account of the part that posts these Events. */}}
{{- define "gpu-ledger.eventsAccount" -}}
{{ include "gpu-ledger.name" . }}-{{ eq .Values.mode "small" | ternary "collector" "processor" }}
{{- end -}}

{{/* The configuration of processors and servers. The API servers are in it only if processors post Events. */}}
{{- define "gpu-ledger.processorConfig" -}}
{{- $own := merge (include "gpu-ledger.commonConfig" . | fromYaml) (include "gpu-ledger.busConfig" . | fromYaml) (include "gpu-ledger.storeConfig" . | fromYaml) -}}
{{- $said := omit .Values.config "collector" "kubernetes" "data" -}}
{{- if include "gpu-ledger.trainingEvents" . -}}
{{- $own = merge $own (pick (include "gpu-ledger.clusterConfig" . | fromYaml) "kubernetes") -}}
{{- $said = omit .Values.config "collector" "data" -}}
{{- end -}}
{{ mergeOverwrite $own (deepCopy $said) | toYaml }}
{{- end -}}

{{/* The configuration of the one pod of mode small. */}}
{{- define "gpu-ledger.smallConfig" -}}
{{- $own := merge (include "gpu-ledger.commonConfig" . | fromYaml) (include "gpu-ledger.clusterConfig" . | fromYaml) -}}
{{ mergeOverwrite $own (deepCopy .Values.config) | toYaml }}
{{- end -}}

{{/* The files in the folder of a part: (list $ "collector"). */}}
{{- define "gpu-ledger.files" -}}
{{- $values := (index . 0).Values -}}
{{- $part := index . 1 -}}
{{- $files := dict "collector" $values.collectorFiles "processor" $values.files "small" (merge (deepCopy $values.files) $values.collectorFiles) -}}
{{- $config := include (printf "gpu-ledger.%sConfig" $part) (index . 0) -}}
{{ set (deepCopy (get $files $part)) "gpu-ledger.yaml" (printf "%s\n" $config) | toYaml }}
{{- end -}}

{{/* Fails for values with which no part could start, with the missing value. */}}
{{- define "gpu-ledger.check" -}}
{{- with .Values.tls -}}
{{- if .enabled -}}
{{- if not .secretName -}}
{{- fail "tls.secretName is empty: with tls.enabled, name a Secret with tls.crt and tls.key" -}}
{{- end -}}
{{- if and (has .clientAuthType (list "VerifyClientCertIfGiven" "RequireAndVerifyClientCert")) (not .clientCaSecret) -}}
{{- fail (printf "tls.clientCaSecret is empty: with tls.clientAuthType %s, name a Secret with ca.crt" .clientAuthType) -}}
{{- end -}}
{{- if and .clientCaSecret (eq .clientAuthType "NoClientCert") -}}
{{- fail "tls.clientAuthType is NoClientCert: with tls.clientCaSecret, choose VerifyClientCertIfGiven or RequireAndVerifyClientCert" -}}
{{- end -}}
{{- if include "gpu-ledger.needsClientCert" $ -}}
{{- if not .probeSecret -}}
{{- fail (printf "tls.probeSecret is empty: with tls.clientAuthType %s, name a Secret with the tls.crt and tls.key of a client, for probes" .clientAuthType) -}}
{{- end -}}
{{- if and $.Values.serviceMonitor.enabled (not (and $.Values.serviceMonitor.tlsConfig.cert $.Values.serviceMonitor.tlsConfig.keySecret)) -}}
{{- fail (printf "serviceMonitor.tlsConfig has no cert and keySecret: with tls.clientAuthType %s, Prometheus needs a certificate" .clientAuthType) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.mode "small" -}}
{{- $access := dig "server" "access" "tokens" list .Values.config -}}
{{- if not $access -}}
{{- fail "config.server.access.tokens is empty: mode small needs a token in the configuration; `gpu-ledger token create NAME --role administrator --for-config` prints one with its entry" -}}
{{- end -}}
{{- else -}}
{{- $config := include "gpu-ledger.processorConfig" . | fromYaml -}}
{{- if not $config.bus.kafka.brokers -}}
{{- fail "kafka.brokers is empty: set some brokers of your Kafka as host:port, or choose mode: small" -}}
{{- end -}}
{{- if not $config.store.clickhouse.url -}}
{{- fail "clickhouse.url is empty: set the address of your ClickHouse, or choose mode: small" -}}
{{- end -}}
{{- if not (or .Values.clickhouse.password .Values.clickhouse.existingSecret) -}}
{{- fail "clickhouse.password and clickhouse.existingSecret are empty: one of them is needed" -}}
{{- end -}}
{{- with .Values.kafka.sasl -}}
{{- if and .mechanism (not (or .password .existingSecret)) -}}
{{- fail "kafka.sasl.password and kafka.sasl.existingSecret are empty: with kafka.sasl.mechanism one of them is needed" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
