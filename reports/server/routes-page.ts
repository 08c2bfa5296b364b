import { PORTS, type Asker } from "./route-table.ts";

const WORDS: Readonly<Record<Asker, string>> = {
  anyone: "anyone",
  operator: "`server.metricsToken`, administrator",
  viewer: "viewer (own teams), finance, administrator",
  finance: "finance, administrator",
};

/** Returns the table of routes as Markdown: port by port, the routes that each group may ask. */
export function routesMarkdown(): string {
  const rows = PORTS.flatMap(({ listens, routes }) => {
    const asked = Object.entries(routes);
    return [...new Set(asked.map(([, asker]) => asker))].map((asker) => {
      const own = asked.flatMap(([route, other]) => (other === asker ? [`\`${route}\``] : []));
      return `| ${listens} | ${WORDS[asker]} | ${own.join(", ")} |`;
    });
  });
  return ["| port | who may ask | routes |", "| --- | --- | --- |", ...rows].join("\n");
}
