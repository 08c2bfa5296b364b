import { groupedBy } from "../../domain/grouped.ts";
import { PORTS, type Asker } from "./route-table.ts";

const WORDS: Readonly<Record<Asker, string>> = {
  anyone: "anyone",
  operator: "`server.metricsToken`, administrator",
  viewer: "viewer (own teams), finance, administrator",
  finance: "finance, administrator",
};

/** Returns the table of routes as Markdown: the routes that each group may ask, and the ports that have them. */
export function routesMarkdown(): string {
  const ports = new Map<string, string[]>();
  for (const { listens, routes } of PORTS) {
    for (const asker of new Set(Object.values(routes))) {
      const own = Object.entries(routes).flatMap(([route, other]) => (other === asker ? [route] : []));
      const cells = `${WORDS[asker]} | ${byMethod(own)}`;
      ports.set(cells, [...(ports.get(cells) ?? []), listens]);
    }
  }
  const rows = [...ports].map(([cells, listens]) => `| ${listens.join("; ")} | ${cells} |`);
  return ["| port | who may ask | routes |", "| --- | --- | --- |", ...rows].join("\n");
}

/** Returns routes with each method once: GET `/login`, `/healthz`; POST `/login`. */
function byMethod(routes: readonly string[]): string {
  const paths = groupedBy(routes, (route) => route.split(" ")[0]!);
  return [...paths]
    .map(([method, own]) => `${method} ${own.map((route) => `\`${route.slice(method.length + 1)}\``).join(", ")}`)
    .join("; ");
}
