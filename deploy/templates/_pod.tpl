{{/*
A part's pod, with `root`, `part`, `args`, `configPart` (whose ConfigMap it mounts), `graceSeconds`, and, where the part has them,
`account`, `clickhouse`, `data`, `tmp` and `startup`. It fits the restricted Pod Security Standard, with a root filesystem that is
not written. The CPU has no limit: a scrape that is throttled is a scrape that is late.
*/}}
{{- define "gpu-ledger.pod" -}}
{{- $root := .root -}}
{{- $own := get .root.Values .part -}}
{{- $name := include "gpu-ledger.name" .root -}}
{{- $kafka := and (eq .root.Values.mode "cluster") .root.Values.kafka -}}
metadata:
  labels:
    {{- include "gpu-ledger.selector" (list .root .part) | nindent 4 }}
    {{- with $own.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ include "gpu-ledger.files" (list .root .configPart) | sha256sum }}
    {{- if not .root.Values.serviceMonitor.enabled }}
    prometheus.io/scrape: "true"
    prometheus.io/port: "8080"
    {{- if .root.Values.tls.enabled }}
    prometheus.io/scheme: https
    {{- end }}
    {{- end }}
    {{- with $own.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- if .account }}
  serviceAccountName: {{ .account }}
  {{- else }}
  automountServiceAccountToken: false
  {{- end }}
  {{- with .root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  terminationGracePeriodSeconds: {{ .graceSeconds }}
  securityContext:
    runAsNonRoot: true
    {{- if not .root.Values.openshift }}
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    {{- end }}
    seccompProfile:
      type: RuntimeDefault
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gpu-ledger.selector" (list .root .part) | nindent 10 }}
  {{- with $own.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    - name: {{ .part }}
      image: {{ include "gpu-ledger.image" .root | quote }}
      {{- with .root.Values.image.pullPolicy }}
      imagePullPolicy: {{ . }}
      {{- end }}
      args: {{- concat .args (list "--config" "/etc/gpu-ledger/gpu-ledger.yaml") | toYaml | nindent 8 }}
      env:
        - name: HOSTNAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        - name: POD_NAMESPACE
          valueFrom:
            fieldRef:
              fieldPath: metadata.namespace
        - name: METRICS_TOKEN
          valueFrom:
            secretKeyRef:
              name: {{ include "gpu-ledger.metricsSecret" .root }}
              key: token
              optional: {{ not .root.Values.metricsToken.enabled }}
        {{- if .clickhouse }}
        - name: CLICKHOUSE_PASSWORD
          valueFrom:
            secretKeyRef:
              name: {{ include "gpu-ledger.clickhouseSecret" .root }}
              key: {{ .root.Values.clickhouse.passwordKey }}
        {{- end }}
        {{- if and $kafka $kafka.sasl.mechanism }}
        - name: KAFKA_PASSWORD
          valueFrom:
            secretKeyRef:
              name: {{ include "gpu-ledger.kafkaSecret" .root }}
              key: {{ $kafka.sasl.passwordKey }}
        {{- end }}
        {{- with $own.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8080
      {{- if .startup }}
      startupProbe:
        {{- include "gpu-ledger.probe" (list .root "/healthz") | nindent 8 }}
        timeoutSeconds: 5
        periodSeconds: 5
        failureThreshold: 60
      {{- end }}
      livenessProbe:
        {{- include "gpu-ledger.probe" (list .root "/healthz") | nindent 8 }}
        timeoutSeconds: 5
        periodSeconds: 10
        failureThreshold: 6
      readinessProbe:
        {{- include "gpu-ledger.probe" (list .root "/readyz") | nindent 8 }}
        timeoutSeconds: 5
        {{- /* An exec probe starts a process. */}}
        periodSeconds: {{ include "gpu-ledger.needsClientCert" .root | empty | ternary 2 10 }}
        failureThreshold: 3
      resources: {{- toYaml $own.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop:
            - ALL
      volumeMounts:
        - name: config
          mountPath: /etc/gpu-ledger
          readOnly: true
        {{- if .data }}
        - name: data
          mountPath: /var/lib/gpu-ledger
        {{- end }}
        {{- if .tmp }}
        - name: tmp
          mountPath: /tmp
        {{- end }}
        {{- if and $kafka $kafka.tls.enabled $kafka.tls.caSecret }}
        - name: kafka-ca
          mountPath: /etc/gpu-ledger-kafka/ca
          readOnly: true
        {{- end }}
        {{- if and $kafka $kafka.tls.enabled $kafka.tls.clientSecret }}
        - name: kafka-client
          mountPath: /etc/gpu-ledger-kafka/client
          readOnly: true
        {{- end }}
        {{- range $name, $secret := include "gpu-ledger.tlsSecrets" .root | fromYaml }}
        - name: tls-{{ $name }}
          mountPath: /etc/gpu-ledger-tls/{{ $name }}
          readOnly: true
        {{- end }}
        {{- with $own.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ $name }}-{{ .configPart }}
    {{- if .tmp }}
    - name: tmp
      emptyDir: {}
    {{- end }}
    {{- if and $kafka $kafka.tls.enabled $kafka.tls.caSecret }}
    - name: kafka-ca
      secret:
        secretName: {{ $kafka.tls.caSecret }}
    {{- end }}
    {{- if and $kafka $kafka.tls.enabled $kafka.tls.clientSecret }}
    - name: kafka-client
      secret:
        secretName: {{ $kafka.tls.clientSecret }}
    {{- end }}
    {{- range $name, $secret := include "gpu-ledger.tlsSecrets" .root | fromYaml }}
    - name: tls-{{ $name }}
      secret:
        secretName: {{ $secret }}
    {{- end }}
    {{- with $own.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* The Secrets of TLS by their folders under /etc/gpu-ledger-tls. */}}
{{- define "gpu-ledger.tlsSecrets" -}}
{{- with .Values.tls -}}
{{- if .enabled -}}
server: {{ .secretName }}
{{- if .clientCaSecret }}
client-ca: {{ .clientCaSecret }}
{{- end }}
{{- if include "gpu-ledger.needsClientCert" $ }}
probe: {{ .probeSecret }}
{{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What a probe does with a path: (list $ "/readyz"). If each client needs a certificate, it is a process in the pod that has one. */}}
{{- define "gpu-ledger.probe" -}}
{{- $root := index . 0 -}}
{{- if include "gpu-ledger.needsClientCert" $root -}}
exec:
  command:
    - node
    - --eval
    - |
      const { readFileSync } = require("node:fs");
      const [cert, key] = ["tls.crt", "tls.key"].map((name) => readFileSync(`/etc/gpu-ledger-tls/probe/${name}`));
      // The certificate of the port is that of another name.
      const at = { host: "127.0.0.1", port: 8080, path: process.argv[1], rejectUnauthorized: false };
      const asking = require("node:https").get({ ...at, cert, key }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
      asking.on("error", ({ message }) => (console.error(message), process.exit(1)));
    - {{ index . 1 }}
{{- else -}}
httpGet:
  path: {{ index . 1 }}
  port: http
  {{- if $root.Values.tls.enabled }}
  scheme: HTTPS
  {{- end }}
{{- end -}}
{{- end -}}

{{/* The volume of a part with data on disk, from its `persistence`. */}}
{{- define "gpu-ledger.volumeClaims" -}}
- metadata:
    name: data
  spec:
    accessModes:
      - ReadWriteOnce
    {{- with .storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests:
        storage: {{ .size }}
{{- end -}}

{{/* Limits drains of nodes to one pod of a part at a time: (list $ "collector"). */}}
{{- define "gpu-ledger.budget" -}}
{{- $root := index . 0 -}}
{{- if $root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "gpu-ledger.name" $root }}-{{ index . 1 }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "gpu-ledger.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "gpu-ledger.selector" . | nindent 6 }}
{{- end }}
{{- end -}}
