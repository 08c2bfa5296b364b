/** An object of the API as kube-state-metrics sees it. */
export interface StateObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: unknown;
  readonly [field: string]: unknown;
}

/** The configuration of kube-state-metrics. Version 1 exports all labels, and a UID only in `kube_pod_info`. */
export interface StatePageOptions {
  /** `--metric-labels-allowlist`: the plural of a kind, and names of labels or `*`. */
  readonly labelsAllowlist?: Readonly<Record<string, readonly string[]>>;
  /** `--metric-annotations-allowlist`. */
  readonly annotationsAllowlist?: Readonly<Record<string, readonly string[]>>;
  readonly version?: 1 | 2;
  /** `--metric-opt-in-list=kube_pod_nodeselectors`. */
  readonly hasNodeSelectors?: boolean;
}

type Texts = Readonly<Record<string, string>>;
type Sample = readonly [metric: string, labels: Texts, value: number];
type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the page of kube-state-metrics for objects, as its stores write it
 * (https://github.com/kubernetes/kube-state-metrics/tree/main/internal/store): the metrics that an import reads, and no others.
 */
export function kubeStatePage(objects: readonly StateObject[], options: StatePageOptions = {}): string {
  const families = new Map<string, string[]>();
  for (const [name, labels, value] of objects.flatMap((object) => samplesOf(object, options))) {
    const lines = families.get(name) ?? [`# TYPE ${name} ${name.endsWith("_total") ? "counter" : "gauge"}`];
    const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`);
    lines.push(`${name}{${pairs.join(",")}} ${value}`);
    families.set(name, lines);
  }
  return `${[...families.values()].flat().join("\n")}\n`;
}

function samplesOf(object: StateObject, options: StatePageOptions): readonly Sample[] {
  switch (object.kind ?? "") {
    case "Pod":
      return ofPod(object, options);
    case "Node":
      return ofNode(object, options);
    case "Namespace":
      return ofNamespace(object, options);
    case "ResourceQuota":
      return ofQuota(object);
    case "LimitRange":
      return ofLimitRange(object);
    default:
      return ofOwner(object, options);
  }
}

const PHASES = ["Pending", "Succeeded", "Failed", "Unknown", "Running"];
const REASONS = [
  "Evicted",
  "NodeAffinity",
  "NodeLost",
  "PreemptionByScheduler",
  "SchedulingGated",
  "Shutdown",
  "TerminationByKubelet",
  "UnexpectedAdmissionError",
];
const WAITING_REASONS_OF_1 = ["ContainerCreating", "CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff"];

function ofPod(object: StateObject, options: StatePageOptions): readonly Sample[] {
  const { version = 2 } = options;
  const meta = metaOf(object);
  const [spec, status] = [fieldsOf(object["spec"]), fieldsOf(object["status"])];
  const uid = textOf(meta["uid"]);
  const key = { namespace: textOf(meta["namespace"]), pod: textOf(meta["name"]) };
  const own: Texts = version === 1 ? key : { ...key, uid };
  const none = version === 1 ? "<none>" : "";
  const owners = listOf(meta["ownerReferences"]);
  const controller = owners.find((owner) => owner["controller"] === true);
  const node = textOf(spec["nodeName"]);
  const conditions = listOf(status["conditions"]);
  const conditionOf = (type: string): Fields | undefined => conditions.find((each) => each["type"] === type);
  const time = (metric: string, value: unknown): readonly Sample[] =>
    typeof value === "string" ? [[metric, own, seconds(value)]] : [];
  const sinceTrue = (metric: string, type: string): readonly Sample[] =>
    conditionOf(type)?.["status"] === "True" ? time(metric, conditionOf(type)!["lastTransitionTime"]) : [];
  const containers = listOf(status["containerStatuses"]);
  const ends = containers.flatMap((each) => {
    const at = stateOf(each, "terminated")?.["finishedAt"];
    return typeof at === "string" ? seconds(at) : [];
  });
  const reasonsNow = new Set([
    textOf(status["reason"]),
    ...conditions.map((each) => textOf(each["reason"])),
    ...containers.map((each) => textOf(stateOf(each, "terminated")?.["reason"])),
  ]);
  const only2 = (samples: readonly Sample[]): readonly Sample[] => (version === 1 ? [] : samples);
  return [
    [
      "kube_pod_info",
      {
        ...key,
        host_ip: textOf(status["hostIP"]),
        pod_ip: textOf(status["podIP"]),
        uid,
        node,
        created_by_kind: textOf(controller?.["kind"]) || none,
        created_by_name: textOf(controller?.["name"]) || none,
        priority_class: textOf(spec["priorityClassName"]),
        host_network: "false",
      },
      1,
    ],
    ...time("kube_pod_created", meta["creationTimestamp"]),
    ...time("kube_pod_start_time", status["startTime"]),
    ...time("kube_pod_deletion_timestamp", meta["deletionTimestamp"]),
    ...(ends.length === 0 ? [] : [["kube_pod_completion_time", own, Math.max(...ends)] as const]),
    ...(owners.length === 0
      ? [["kube_pod_owner", { ...own, owner_kind: none, owner_name: none, owner_is_controller: none }, 1] as const]
      : owners.map((owner): Sample => {
          const named = { owner_kind: textOf(owner["kind"]), owner_name: textOf(owner["name"]) };
          return ["kube_pod_owner", { ...own, ...named, owner_is_controller: String(owner["controller"] === true) }, 1];
        })),
    ...marksOf("pod", own, object, options),
    ...(options.hasNodeSelectors === true
      ? [["kube_pod_nodeselectors", { ...own, ...asLabels("nodeselector", spec["nodeSelector"]) }, 1] as const]
      : []),
    ...PHASES.map((phase): Sample => ["kube_pod_status_phase", { ...own, phase }, Number(status["phase"] === phase)]),
    ...sinceTrue("kube_pod_status_scheduled_time", "PodScheduled"),
    ...only2([
      ...sinceTrue("kube_pod_status_ready_time", "Ready"),
      ...sinceTrue("kube_pod_status_container_ready_time", "ContainersReady"),
      ["kube_pod_scheduler", { ...own, name: textOf(spec["schedulerName"]) }, 1],
      ...listOf(spec["tolerations"]).map((each): Sample => {
        const labels = { key: textOf(each["key"]), operator: textOf(each["operator"]), effect: textOf(each["effect"]) };
        return ["kube_pod_tolerations", { ...own, ...labels, value: textOf(each["value"]) }, 1];
      }),
    ]),
    ...(conditionOf("Ready") === undefined
      ? []
      : ["true", "false", "unknown"].map((condition): Sample => [
          "kube_pod_status_ready",
          { ...own, condition },
          Number(textOf(conditionOf("Ready")!["status"]).toLowerCase() === condition),
        ])),
    ...(conditionOf("PodScheduled")?.["status"] === "False"
      ? [["kube_pod_status_unschedulable", own, 1] as const]
      : []),
    ...REASONS.map((reason): Sample => ["kube_pod_status_reason", { ...own, reason }, Number(reasonsNow.has(reason))]),
    ...ofContainers("container", spec["containers"], containers, { own, node, version }),
    ...ofContainers("init_container", spec["initContainers"], listOf(status["initContainerStatuses"]), {
      own,
      node,
      version,
    }),
  ];
}

function ofContainers(
  kind: "container" | "init_container",
  specs: unknown,
  statuses: readonly Fields[],
  { own, node, version }: { readonly own: Texts; readonly node: string; readonly version: 1 | 2 },
): readonly Sample[] {
  const resources = listOf(specs).flatMap((container) =>
    (["requests", "limits"] as const).flatMap((what) =>
      Object.entries(fieldsOf(fieldsOf(container["resources"])[what])).flatMap(
        ([name, quantity]): readonly Sample[] => {
          if (name !== "cpu" && name !== "memory" && !name.includes("/")) return [];
          const unit = name === "cpu" ? "core" : name === "memory" ? "byte" : "integer";
          const labels = { ...own, container: textOf(container["name"]), node, resource: sanitized(name), unit };
          return [[`kube_pod_${kind}_resource_${what}`, labels, quantityOf(quantity)]];
        },
      ),
    ),
  );
  const states = statuses.flatMap((each): readonly Sample[] => {
    const container = textOf(each["name"]);
    const labels = { ...own, container };
    const spec = listOf(specs).find((one) => one["name"] === container) ?? {};
    const [running, waiting, terminated] = ["running", "waiting", "terminated"].map((name) => stateOf(each, name));
    const started = running?.["startedAt"] ?? terminated?.["startedAt"];
    const image = { image: textOf(each["image"]), ...(version === 1 ? {} : { image_spec: textOf(spec["image"]) }) };
    const policy = kind === "init_container" && version === 2 ? { restart_policy: textOf(spec["restartPolicy"]) } : {};
    const reasons = version === 1 ? WAITING_REASONS_OF_1 : waiting === undefined ? [] : [textOf(waiting["reason"])];
    return [
      [`kube_pod_${kind}_info`, { ...labels, ...image, ...policy }, 1],
      [`kube_pod_${kind}_status_restarts_total`, labels, Number(each["restartCount"] ?? 0)],
      [`kube_pod_${kind}_status_running`, labels, Number(running !== undefined)],
      ...(terminated === undefined
        ? []
        : [
            [
              `kube_pod_${kind}_status_terminated_reason`,
              { ...labels, reason: textOf(terminated["reason"]) },
              1,
            ] as const,
          ]),
      ...reasons.map((reason): Sample => [
        `kube_pod_${kind}_status_waiting_reason`,
        { ...labels, reason },
        Number(waiting?.["reason"] === reason),
      ]),
      ...(kind === "container" && version === 2 && typeof started === "string"
        ? [["kube_pod_container_state_started", labels, seconds(started)] as const]
        : []),
    ];
  });
  return [...resources, ...states];
}

function ofNode(object: StateObject, options: StatePageOptions): readonly Sample[] {
  const meta = metaOf(object);
  const [spec, status] = [fieldsOf(object["spec"]), fieldsOf(object["status"])];
  const info = fieldsOf(status["nodeInfo"]);
  const own = { node: textOf(meta["name"]) };
  const address = listOf(status["addresses"]).find((each) => each["type"] === "InternalIP");
  const amounts = (["capacity", "allocatable"] as const).flatMap((kind) =>
    Object.entries(fieldsOf(status[kind])).map(([name, quantity]): Sample => {
      const unit = name === "cpu" ? "core" : name === "pods" || name.includes("/") ? "integer" : "byte";
      return [`kube_node_status_${kind}`, { ...own, resource: sanitized(name), unit }, quantityOf(quantity)];
    }),
  );
  return [
    [
      "kube_node_info",
      {
        ...own,
        system_uuid: textOf(info["systemUUID"]),
        internal_ip: textOf(address?.["address"]),
        provider_id: textOf(spec["providerID"]),
      },
      1,
    ],
    ["kube_node_created", own, seconds(textOf(meta["creationTimestamp"]))],
    ...marksOf("node", own, object, options),
    ["kube_node_spec_unschedulable", own, Number(spec["unschedulable"] === true)],
    ...listOf(spec["taints"]).map((taint): Sample => {
      const labels = { key: textOf(taint["key"]), value: textOf(taint["value"]), effect: textOf(taint["effect"]) };
      return ["kube_node_spec_taint", { ...own, ...labels }, 1];
    }),
    ...amounts,
    ...listOf(status["conditions"]).flatMap((each) =>
      ["true", "false", "unknown"].map((word): Sample => [
        "kube_node_status_condition",
        { ...own, condition: textOf(each["type"]), status: word },
        Number(textOf(each["status"]).toLowerCase() === word),
      ]),
    ),
  ];
}

function ofNamespace(object: StateObject, options: StatePageOptions): readonly Sample[] {
  const own = { namespace: textOf(metaOf(object)["name"]) };
  return [
    ["kube_namespace_created", own, seconds(textOf(metaOf(object)["creationTimestamp"]))],
    ["kube_namespace_status_phase", { ...own, phase: "Active" }, 1],
    ...marksOf("namespace", own, object, options),
  ];
}

function ofQuota(object: StateObject): readonly Sample[] {
  const meta = metaOf(object);
  const own = { namespace: textOf(meta["namespace"]), resourcequota: textOf(meta["name"]) };
  return [
    ["kube_resourcequota_created", own, seconds(textOf(meta["creationTimestamp"]))],
    ...(["hard", "used"] as const).flatMap((type) =>
      Object.entries(fieldsOf(fieldsOf(object["status"])[type])).map(([resource, quantity]): Sample => [
        "kube_resourcequota",
        { ...own, resource, type },
        quantityOf(quantity),
      ]),
    ),
  ];
}

function ofLimitRange(object: StateObject): readonly Sample[] {
  const meta = metaOf(object);
  const own = { namespace: textOf(meta["namespace"]), limitrange: textOf(meta["name"]) };
  return listOf(fieldsOf(object["spec"])["limits"]).flatMap((limit) =>
    ["min", "max", "default", "defaultRequest"].flatMap((constraint) =>
      Object.entries(fieldsOf(limit[constraint])).map(([resource, quantity]): Sample => [
        "kube_limitrange",
        { ...own, resource, type: textOf(limit["type"]), constraint },
        quantityOf(quantity),
      ]),
    ),
  );
}

/** The kinds of owners with series, with the label that has their name. */
const OWNERS: Readonly<Record<string, readonly [resource: string, label: string, group: string]>> = {
  ReplicaSet: ["replicaset", "replicaset", "apps"],
  Deployment: ["deployment", "deployment", "apps"],
  StatefulSet: ["statefulset", "statefulset", "apps"],
  DaemonSet: ["daemonset", "daemonset", "apps"],
  Job: ["job", "job_name", "batch"],
  CronJob: ["cronjob", "cronjob", "batch"],
};

function ofOwner(object: StateObject, options: StatePageOptions): readonly Sample[] {
  const [resource, label, group] = OWNERS[object.kind ?? ""] ?? [];
  if (resource === undefined || object.apiVersion?.startsWith(`${group}/`) !== true) return [];
  const meta = metaOf(object);
  const own = { namespace: textOf(meta["namespace"]), [label!]: textOf(meta["name"]) };
  const [owner] = listOf(meta["ownerReferences"]);
  const hasOwner = ["replicaset", "job", "deployment"].includes(resource);
  const deadline = fieldsOf(object["spec"])["activeDeadlineSeconds"];
  const none = options.version === 1 ? "<none>" : "";
  const named = {
    owner_kind: textOf(owner?.["kind"]) || none,
    owner_name: textOf(owner?.["name"]) || none,
    owner_is_controller: owner === undefined ? none : String(owner["controller"] === true),
  };
  return [
    ...(hasOwner ? [[`kube_${resource}_owner`, { ...own, ...named }, 1] as const] : []),
    ...(resource === "job" && typeof deadline === "number"
      ? [["kube_job_spec_active_deadline_seconds", own, deadline] as const]
      : []),
    ...marksOf(resource, own, object, options),
  ];
}

/** Returns the rows of labels and annotations. Version 2 has one only if the allowlist names the kind. */
function marksOf(
  resource: string,
  own: Texts,
  object: StateObject,
  { version = 2, labelsAllowlist = {}, annotationsAllowlist = {} }: StatePageOptions,
): readonly Sample[] {
  const meta = metaOf(object);
  const row = (what: "label" | "annotation", allowed: readonly string[] | undefined): readonly Sample[] => {
    if (allowed === undefined) return [];
    const all = Object.entries(fieldsOf(meta[`${what}s`]));
    const kept = allowed[0] === "*" ? all : all.filter(([name]) => allowed.includes(name));
    return [[`kube_${resource}_${what}s`, { ...own, ...asLabels(what, Object.fromEntries(kept)) }, 1]];
  };
  const plural = `${resource}s`;
  return [
    ...row("label", version === 1 ? ["*"] : labelsAllowlist[plural]),
    ...row("annotation", annotationsAllowlist[plural]),
  ];
}

function asLabels(prefix: string, map: unknown): Texts {
  const entries = Object.entries(fieldsOf(map));
  return Object.fromEntries(
    entries.map(([name, value]) => [`${prefix}_${snakeCase(sanitized(name))}`, textOf(value)] as const),
  );
}

const SUFFIXES: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
};

function quantityOf(value: unknown): number {
  const [, number, suffix = ""] = /^([\d.]+)([a-zA-Z]*)$/.exec(String(value)) ?? [];
  return Number(number) * (SUFFIXES[suffix] ?? 1);
}

function sanitized(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, "_");
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

function stateOf(status: Fields, name: string): Fields | undefined {
  const state = fieldsOf(status["state"])[name];
  return state === undefined || state === null ? undefined : fieldsOf(state);
}

function metaOf({ metadata }: StateObject): Fields {
  return fieldsOf(metadata);
}

function seconds(time: string): number {
  return Math.floor(Date.parse(time) / 1000);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
