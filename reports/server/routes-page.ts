import { PORTS, type Asker } from "./route-table.ts";

const WORDS: Readonly<Record<Asker, string>> = {
  anyone: "anyone",
  operator: "`server.metricsToken`, administrator",
  viewer: "viewer (own teams), finance, administrator",
  finance: "finance, administrator",
};

/** Returns the table of routes as Markdown: port by port, with who may ask each route. */
export function routesMarkdown(): string {
  const rows = PORTS.flatMap(({ listens, routes }) =>
    Object.entries(routes).map(([route, asker]) => `| ${listens} | \`${route}\` | ${WORDS[asker]} |`),
  );
  return ["| port | route | who may ask |", "| --- | --- | --- |", ...rows].join("\n");
}
