/**
 * Who may ask a route. `operator` is Prometheus with `server.metricsToken`, or an administrator. `viewer` is everybody with a token, and
 * sees the own teams. `finance` is everybody who sees all teams.
 */
export type Asker = "anyone" | "operator" | "viewer" | "finance";

/** A port of the program. */
export interface Port {
  readonly name: "server" | "collector" | "processor" | "demo" | "processor of up";
  /** The address and the program that listens on it. */
  readonly listens: string;
  /** Who may ask each route, by method and path. HEAD is as GET. */
  readonly routes: Readonly<Record<string, Asker>>;
  /** Who gets the answer that a path does not exist. */
  readonly others: Asker;
}

/** The routes of every program. */
const COMMON = {
  "GET /healthz": "anyone",
  "GET /readyz": "anyone",
  "GET /metrics": "operator",
  "GET /api/status": "operator",
} as const;

const REPORTS = {
  "GET /sign-in": "anyone",
  "GET /sign-in/callback": "anyone",
  "GET /login": "anyone",
  "POST /login": "anyone",
  "POST /logout": "anyone",
  "GET /assets/*": "anyone",
  "GET /": "viewer",
  "GET /team": "viewer",
  "GET /workload": "viewer",
  "GET /node": "viewer",
  "GET /gpu": "viewer",
  "GET /fleet": "viewer",
  "GET /sick": "viewer",
  "GET /queue": "viewer",
  "GET /advice": "viewer",
  "GET /advice/card": "viewer",
  "GET /advice/outcomes": "viewer",
  "GET /serving": "viewer",
  "GET /serving/explain": "viewer",
  "GET /statement": "viewer",
  "GET /statement/close": "finance",
  "POST /statement/close": "finance",
  "POST /advice/mark": "viewer",
  "GET /explain": "viewer",
  "GET /change": "viewer",
  "GET /policies": "viewer",
  "GET /periods": "viewer",
  "GET /practices": "viewer",
  "GET /runbook": "viewer",
  "GET /search": "viewer",
  "GET /training": "viewer",
  "GET /training/run": "viewer",
  "GET /training/incidents": "viewer",
  "GET /prices": "finance",
  "GET /quality": "finance",
  "GET /invoices": "finance",
  "GET /api/v1/charges": "viewer",
  "GET /api/v1/charges/lines": "viewer",
  "GET /api/v1/focus": "viewer",
  "GET /api/v1/focus/billing-periods": "viewer",
  "GET /api/v1/focus/invoice-details": "viewer",
  "GET /api/v1/focus/contract-commitments": "finance",
  "GET /api/v1/statements": "viewer",
  "GET /api/v1/explain": "viewer",
  "GET /api/v1/change": "viewer",
  "GET /api/v1/allocations": "viewer",
  "GET /api/v1/periods": "viewer",
  "GET /api/v1/fleet": "viewer",
  "GET /api/v1/queue": "viewer",
  "GET /api/v1/advice": "viewer",
  "GET /api/v1/advice/outcomes": "viewer",
  "GET /api/v1/practices": "viewer",
  "GET /api/v1/search": "viewer",
  "GET /api/v1/serving": "viewer",
  "GET /api/v1/serving/explain": "viewer",
  "GET /api/v1/serving/focus": "viewer",
  "GET /api/v1/training/runs": "viewer",
  "GET /api/v1/training/run": "viewer",
  "GET /api/v1/training/incidents": "viewer",
  "GET /api/v1/prices": "finance",
  "GET /api/v1/owners": "finance",
  "GET /api/v1/invoices": "finance",
  "GET /api/v1/deliveries": "finance",
  "GET /api/v1/openapi.json": "viewer",
  "GET /api/v1/docs": "viewer",
  "GET /api/v1/docs/*": "viewer",
  "GET /allocation": "viewer",
  "GET /allocation/compute": "viewer",
  "GET /model/allocation": "viewer",
  "GET /model/allocation/compute": "viewer",
} as const;

/** Every HTTP port of the program with its routes. The ports refuse a route that is not here. */
export const PORTS: readonly Port[] = [
  {
    name: "server",
    listens: "`server.listen` of `up` and `serve`",
    routes: { ...COMMON, "GET /metrics/gpu": "operator", "GET /api/demo/targets": "operator", ...REPORTS },
    others: "viewer",
  },
  {
    name: "processor",
    listens: "`server.listen` of `process`",
    routes: { ...COMMON, "GET /metrics/gpu": "operator" },
    others: "anyone",
  },
  { name: "collector", listens: "`server.listen` of `collect`", routes: COMMON, others: "anyone" },
  {
    name: "demo",
    listens: "`server.listen` of `demo`",
    routes: { ...COMMON, "GET /api/demo/targets": "operator", "GET /api/demo/kube-state-metrics": "operator" },
    others: "anyone",
  },
  {
    name: "processor of up",
    listens: "a free port of 127.0.0.1, for the server of `up`",
    routes: { ...COMMON, "GET /metrics/gpu": "operator" },
    others: "anyone",
  },
];

/** Returns the table of a port. */
export function portOf(name: Port["name"]): Port {
  return PORTS.find((port) => port.name === name)!;
}

/** Returns who may ask a route; undefined for a route that is not in the table. */
export function askerOf({ routes }: Port, method: string, route: string): Asker | undefined {
  const path = FOLDERS.find((folder) => route.startsWith(folder));
  const known = `${method === "HEAD" ? "GET" : method} ${path === undefined ? route : `${path}*`}`;
  return Object.hasOwn(routes, known) ? routes[known] : undefined;
}

/** Folders whose files have one rule. */
const FOLDERS = ["/assets/", "/api/v1/docs/"];
