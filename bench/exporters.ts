import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createMovingEnginePage } from "./engine-page.ts";
import { createMovingPage, type Families, type MovingPage } from "./page.ts";
import { statePage } from "./state-page.ts";

const LISTENERS = 16;

/**
 * A process that serves pages of many nodes: `node exporters.js <targets> <gpus> [stock|rules|engines]`. Prints one line of JSON with the
 * address of its service discovery. The numbers of a page change at every request. `/state` has the series of Kubernetes and a
 * processor about the same pods. After `/hide` the discovery has no targets, until `/show`.
 */
const [targets, gpus] = process.argv.slice(2, 4).map(Number) as [number, number];
const families = (process.argv[4] ?? "stock") as Families | "engines";
const pages = new Map<string, MovingPage>();
const ports: number[] = [];
let isShown = true;

const nodeOf = (index: number): string => `node-${String(index).padStart(6, "0")}`;

const createPage = (node: string): MovingPage =>
  families === "engines" ? createMovingEnginePage(node) : createMovingPage(node, gpus, families);

function listen(): Promise<number> {
  const server = createServer((request, response) => {
    const url = request.url ?? "/";
    if (url === "/sd") {
      const groups = Array.from({ length: isShown ? targets : 0 }, (_, index) => ({
        targets: [`127.0.0.1:${ports[index % LISTENERS]}`],
        labels: { __metrics_path__: `/${nodeOf(index)}/metrics`, node: nodeOf(index) },
      }));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(groups));
      return;
    }
    if (url === "/hide" || url === "/show") {
      isShown = url === "/show";
      response.end();
      return;
    }
    if (url === "/state") {
      response.end(
        statePage(
          Array.from({ length: targets }, (_, index) => nodeOf(index)),
          gpus,
        ),
      );
      return;
    }
    const node = url.split("/")[1]!;
    let page = pages.get(node);
    if (page === undefined) pages.set(node, (page = createPage(node)));
    page.collect();
    response.writeHead(200, { "content-type": "text/plain; version=0.0.4", "content-length": page.bytes.length });
    response.end(page.bytes);
  });
  server.keepAliveTimeout = 120_000;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

for (let listener = 0; listener < LISTENERS; listener++) ports.push(await listen());
process.stdout.write(
  `${JSON.stringify({ discovery: `http://127.0.0.1:${ports[0]}/sd`, state: `127.0.0.1:${ports[0]}` })}\n`,
);
