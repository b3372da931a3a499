{{/* The name of everything: that of the release. */}}
{{- define "nextrun.name" -}}
{{- if contains "nextrun" .Release.Name }}{{ .Release.Name | trunc 50 }}{{ else }}{{ printf "%s-nextrun" .Release.Name | trunc 50 }}{{ end }}
{{- end }}

{{- define "nextrun.selector" -}}
app.kubernetes.io/name: nextrun
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "nextrun.labels" -}}
{{ include "nextrun.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* What all pods have: root is the top, of the values of the component. */}}
{{- define "nextrun.pod" -}}
automountServiceAccountToken: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "nextrun.container" -}}
{{- $image := merge (default dict .of.image) (dict "repository" .root.Values.image.repository "tag" (default .root.Chart.AppVersion .root.Values.image.tag)) -}}
image: {{ printf "%s:%s" $image.repository $image.tag | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env:
  - name: NEXTRUN_DB_FILE
    value: /etc/nextrun/database/url
  {{- with .root.Values.database.schema }}
  - name: NEXTRUN_SCHEMA
    value: {{ . | quote }}
  {{- end }}
  - name: NEXTRUN_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  {{- with .root.Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- with .of.resources }}
resources: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "nextrun.databaseVolume" -}}
- name: database
  secret:
    secretName: {{ .Values.database.secret }}
    defaultMode: 0440
    items:
      - key: {{ .Values.database.key }}
        path: url
{{- end }}

{{/* A deployment: root, of, name, args. */}}
{{- define "nextrun.deployment" -}}
{{- $name := printf "%s-%s" (include "nextrun.name" .root) .name -}}
{{- $exclusive := eq (default "" .of.mode) "exclusive" -}}
{{- if and $exclusive (gt (int .of.replicas) 1) }}{{ fail "scheduler.mode exclusive needs scheduler.replicas: 1; use leader for more" }}{{ end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "nextrun.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  replicas: {{ .of.replicas }}
  {{- if $exclusive }}
  strategy:
    type: Recreate
  {{- else }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  {{- end }}
  selector:
    matchLabels:
      {{- include "nextrun.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .name }}
  template:
    metadata:
      labels:
        {{- include "nextrun.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .name }}
      annotations:
        checksum/config: {{ toYaml .root.Values.config | sha256sum }}
        {{- with .root.Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "nextrun.pod" . | nindent 6 }}
      terminationGracePeriodSeconds: {{ default 60 .of.terminationGracePeriodSeconds }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "nextrun.selector" .root | nindent 14 }}
              app.kubernetes.io/component: {{ .name }}
      containers:
        - name: {{ .name }}
          args: {{ concat (list .name "--config" "/etc/nextrun/config/nextrun.yaml" "--metrics" (printf ":%v" .root.Values.metrics.port)) .args (default list .of.args) | toJson }}
          {{- include "nextrun.container" . | nindent 10 }}
          ports:
            - name: metrics
              containerPort: {{ .root.Values.metrics.port }}
            {{- if eq .name "dashboard" }}
            - name: http
              containerPort: 8320
            {{- end }}
          # An outage of the database makes a pod unready, and is no reason to restart it.
          startupProbe:
            httpGet: {path: /healthz, port: metrics}
            periodSeconds: 2
            timeoutSeconds: 5
            failureThreshold: 60
          readinessProbe:
            httpGet: {path: /healthz, port: metrics}
            periodSeconds: 15
            timeoutSeconds: 10
          livenessProbe:
            tcpSocket: {port: metrics}
            periodSeconds: 30
            timeoutSeconds: 10
          volumeMounts:
            - {name: database, mountPath: /etc/nextrun/database, readOnly: true}
            - {name: config, mountPath: /etc/nextrun/config, readOnly: true}
            - {name: tmp, mountPath: /tmp}
            - {name: work, mountPath: /var/lib/nextrun}
            {{- if eq .name "dashboard" }}
            - {name: users, mountPath: /etc/nextrun/dashboard, readOnly: true}
            {{- end }}
            {{- with .of.volumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        {{- include "nextrun.databaseVolume" .root | nindent 8 }}
        - name: config
          configMap:
            name: {{ include "nextrun.name" .root }}
        - name: tmp
          emptyDir: {}
        - name: work
          emptyDir: {}
        {{- if eq .name "dashboard" }}
        - name: users
          secret:
            secretName: {{ .of.usersSecret }}
            defaultMode: 0440
        {{- end }}
        {{- with .of.volumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "nextrun.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  maxUnavailable: {{ .root.Values.disruptionBudget.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "nextrun.selector" .root | nindent 6 }}
      app.kubernetes.io/component: {{ .name }}
{{- end }}
