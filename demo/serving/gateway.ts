import { DAY_MILLIS } from "../../domain/time.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { hash, hashText, suffixOf, uuidOf } from "../fleet/hash.ts";
import { TEAMS } from "../fleet/teams.ts";
import { livesBetween } from "../kubernetes/cluster/lives.ts";
import { engineNodes, enginesOf, joulesBetween, type Engine } from "./engine.ts";
import { familiesPage, type Family } from "./family.ts";
import { GATEWAY_TEAM, type ServedModel } from "./models.ts";

/** The tenants of the gateway, with their parts of its engines' tokens. Nobody has the rest: those requests pass the gateway by. */
const TENANTS = [
  { labels: labelsOf({ team: "t-17", team_alias: "helpdesk", api_key_alias: "helpdesk-prod" }), part: 0.48 },
  { labels: labelsOf({ team: "t-31", team_alias: "search", api_key_alias: "search-prod" }), part: 0.29 },
  { labels: labelsOf({ team: "None", team_alias: "None", api_key_alias: "nightly-summaries" }), part: 0.17 },
];
/** The prices of its configuration, US dollars. */
const PRICE_OF_PROMPT = 4e-7;
const PRICE_OF_GENERATED = 1.2e-6;

function labelsOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(",");
}

/** The identity of the fleet's gateway: a LiteLLM proxy before the engines of one team. */
export interface GatewayPod {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  /** A node without GPUs. */
  readonly node: string;
}

/** Returns the gateway's pod, which runs for years. */
export function gatewayPodOf(fleet: Fleet): GatewayPod {
  const key = keyOf(fleet);
  return {
    name: `litellm-${suffixOf(key, 9)}-${suffixOf(hash(key, 2), 5)}`,
    uid: uuidOf(key, 3),
    namespace: TEAMS.find(({ name }) => name === GATEWAY_TEAM)!.namespaces.inference,
    node: "cpu-01",
  };
}

/** The pages of the fleet's gateway. */
export interface GatewayPages {
  /** Returns the page at a time, with the names of LiteLLM 1.110. It depends only on the fleet and the time. */
  pageAt(timeMillis: number): Buffer;
}

/** Creates the pages of a fleet's gateway. It starts anew each day; the engines of a day are computed once. */
export function createGatewayPages(fleet: Fleet): GatewayPages {
  const hosts = { ...fleet, nodes: engineNodes(fleet) };
  const phase = hash(keyOf(fleet), 1) % DAY_MILLIS;
  let startMillis = Number.NaN;
  let engines: readonly Engine[] = [];

  function moveTo(timeMillis: number): void {
    const start = Math.floor((timeMillis - phase) / DAY_MILLIS) * DAY_MILLIS + phase;
    if (start === startMillis) return;
    startMillis = start;
    engines = livesBetween(hosts, start, start + DAY_MILLIS)
      .filter(({ pod }) => pod.team === GATEWAY_TEAM)
      .flatMap(enginesOf);
  }

  return {
    pageAt(timeMillis) {
      moveTo(timeMillis);
      const joules = new Map<ServedModel, number>();
      for (const engine of engines) {
        const from = Math.max(startMillis, engine.life.startMillis);
        const until = Math.min(timeMillis, engine.life.endMillis);
        if (from >= until) continue;
        joules.set(engine.model, (joules.get(engine.model) ?? 0) + joulesBetween(engine, from, until));
      }
      return familiesPage(familiesOf(joules), startMillis);
    },
  };
}

function keyOf({ seed }: Fleet): number {
  return hashText(seed, "gateway");
}

function familiesOf(joules: ReadonlyMap<ServedModel, number>): readonly Family[] {
  const series = (valueOf: (model: ServedModel, joules: number) => number): Family[2] =>
    TENANTS.flatMap(({ labels, part }) =>
      [...joules].map(
        ([model, amount]) => [`{model="${model.name}",${labels},user="None"}`, valueOf(model, part * amount)] as const,
      ),
    );
  const prompt = ({ promptOfJoule }: ServedModel, amount: number): number => Math.floor(amount * promptOfJoule);
  const generated = ({ generatedOfJoule }: ServedModel, amount: number): number =>
    Math.floor(amount * generatedOfJoule);
  return [
    ["litellm_input_tokens_metric", "counter", series(prompt)],
    ["litellm_output_tokens_metric", "counter", series(generated)],
    [
      "litellm_requests_metric",
      "counter",
      series((model, amount) => Math.floor(prompt(model, amount) / model.promptOfRequest)),
    ],
    [
      "litellm_spend_metric",
      "counter",
      series(
        (model, amount) => prompt(model, amount) * PRICE_OF_PROMPT + generated(model, amount) * PRICE_OF_GENERATED,
      ),
    ],
  ];
}
