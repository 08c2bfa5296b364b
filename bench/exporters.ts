import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMovingEnginePage } from "./engine-page.ts";
import { statePage } from "./kube-state.ts";
import { createMovingPage, nameOf, type Families, type MovingPage } from "./page.ts";

const LISTENERS = 16;

/**
 * A process that serves pages of many nodes: `node exporters.js <targets> <gpus> [stock|rules|engines]`. Prints one line of JSON with the
 * address of its service discovery. The numbers of a page change at every request. `/state` has the series of Kubernetes and a
 * processor about the same pods. After `/hide` the discovery has no targets, until `/show`.
 */
const [targets, gpus] = process.argv.slice(2, 4).map(Number) as [number, number];
const families = (process.argv[4] ?? "stock") as Families | "engines";
const names = Array.from({ length: targets }, (_, number) => nameOf(number));
const pages = new Map<string, MovingPage>();
const ports: number[] = [];
let state: string | undefined;
let isShown = true;

const createPage = (node: string): MovingPage =>
  families === "engines" ? createMovingEnginePage(node) : createMovingPage(node, gpus, families);

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "/sd": (response) => {
    const groups = (isShown ? names : []).map((node, index) => ({
      targets: [`127.0.0.1:${ports[index % LISTENERS]}`],
      labels: { __metrics_path__: `/${node}/metrics`, node },
    }));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(groups));
  },
  "/hide": (response) => response.end(String((isShown = false))),
  "/show": (response) => response.end(String((isShown = true))),
  "/state": (response) => response.end((state ??= statePage(names, gpus))),
};

function answerPage(node: string, response: ServerResponse): void {
  let page = pages.get(node);
  if (page === undefined) pages.set(node, (page = createPage(node)));
  page.collect();
  response.writeHead(200, { "content-type": "text/plain; version=0.0.4", "content-length": page.bytes.length });
  response.end(page.bytes);
}

function listen(): Promise<number> {
  const server = createServer(({ url = "/" }, response) => {
    const answer = answers[url];
    if (answer === undefined) answerPage(url.split("/")[1]!, response);
    else answer(response);
  });
  server.keepAliveTimeout = 120_000;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

for (let listener = 0; listener < LISTENERS; listener++) ports.push(await listen());
const address = `127.0.0.1:${ports[0]}`;
process.stdout.write(`${JSON.stringify({ discovery: `http://${address}/sd`, state: address })}\n`);
