import type { VNode } from "preact";
import { groupedBy } from "../../domain/grouped.ts";
import type { LiveGpu, UnobservedGpus } from "../read/live-gpus.ts";
import { GPU_STATES, stateOf, type MapGpu } from "../read/map-gpus.ts";
import { address } from "./address.ts";
import { memoryRatio } from "./live-table.tsx";

/** The values that the cells of the map can show. */
export const MAP_VALUES = ["activity", "memory", "temperature", "state", "owner", "cost"] as const;

/** See {@link MAP_VALUES}. */
export type MapValue = (typeof MAP_VALUES)[number];

/** The number of cells up to which a cell has its value as a text. */
const MOST_WITH_TEXT = 400;
/** The limit of cells. A page of more would take seconds. */
const MOST_CELLS = 12_000;
/** The ends of the scale of temperatures, °C. */
const [COLD, HOT] = [30, 90];
/** The teams with a color of their own. */
const MOST_OWNERS = 6;

/** Nodes with their GPUs as cells. The table below the map has the same GPUs, so the cells are not reached by the tabulator key. */
export function FleetMap({ gpus, unobserved, value }: FleetMapProps): VNode {
  const all = cellsOf(gpus);
  const cells = all.slice(0, MOST_CELLS);
  const look = LOOKS[value](cells);
  const nodes = [...groupedBy(cells, ({ cluster, node }) => JSON.stringify([cluster, node]))];
  const silent = new Map(unobserved.map((each) => [JSON.stringify([each.cluster, each.node]), each]));
  const silentNodes = [...silent].filter(([key]) => !nodes.some(([node]) => node === key));
  const hasText = cells.length <= MOST_WITH_TEXT;
  return (
    <section
      class={hasText ? "map" : "map dense"}
      aria-label={`Map of the GPUs by ${value}. The table below has the same GPUs.`}
    >
      <Legend entries={look.legend} hasSilent={silent.size > 0} />
      {all.length > MOST_CELLS && (
        <p>{`The map has ${MOST_CELLS} of ${all.length} GPUs. Choose a part of the fleet above to see others.`}</p>
      )}
      <div class="nodes">
        {nodes.map(([key, ofNode]) => (
          <Node of={ofNode[0]!} silent={silent.get(key)?.gpus ?? 0} isDense={!hasText}>
            {ofNode.map((gpu) =>
              hasText ? <Cell gpu={gpu} {...look.of(gpu)} /> : <Dot gpu={gpu} {...look.of(gpu)} />,
            )}
          </Node>
        ))}
        {silentNodes.map(([, node]) => (
          <Node of={node} silent={node.gpus} isDense={!hasText}>
            {[]}
          </Node>
        ))}
      </div>
    </section>
  );
}

interface FleetMapProps {
  readonly gpus: readonly MapGpu[];
  readonly unobserved: readonly UnobservedGpus[];
  readonly value: MapValue;
}

/** Returns one row for each device: several pods can share one. */
function cellsOf(gpus: readonly MapGpu[]): readonly MapGpu[] {
  const byDevice = new Map<string, MapGpu>();
  for (const gpu of gpus) {
    const key = JSON.stringify([gpu.cluster, gpu.node, gpu.device, gpu.instance]);
    const known = byDevice.get(key);
    if (known === undefined || (known.activityRatio ?? -1) < (gpu.activityRatio ?? -1)) byDevice.set(key, gpu);
  }
  return [...byDevice.values()];
}

/** A node. In a dense map its cells lead to the node's page, because an address for each cell would be most of the page. */
function Node({ of, silent, isDense, children }: NodeProps): VNode {
  const { cluster, node } = of;
  const to = address("/node", { cluster, node });
  const cells = (
    <>
      {children}
      {Array.from({ length: silent }, () => (
        <i class="silent" title="silent: no sample in the last minutes">
          ?
        </i>
      ))}
    </>
  );
  return (
    <div>
      <a tabIndex={-1} href={to}>
        {node}
      </a>
      <p>
        {isDense ? (
          <a tabIndex={-1} href={to}>
            {cells}
          </a>
        ) : (
          cells
        )}
      </p>
    </div>
  );
}

interface NodeProps {
  readonly of: Pick<LiveGpu, "cluster" | "node">;
  readonly silent: number;
  readonly isDense: boolean;
  readonly children: readonly VNode[];
}

function Cell({ gpu, color, text }: CellProps): VNode {
  const { cluster, device } = gpu;
  return (
    <a
      tabIndex={-1}
      class={classOf(gpu, color)}
      href={address("/gpu", { cluster, uuid: device })}
      title={titleOf(gpu, text)}
    >
      {text.replace(/ .*$/, "")}
    </a>
  );
}

/** The cell of a dense map. */
function Dot({ gpu, color, text }: CellProps): VNode {
  return (
    <i class={classOf(gpu, color)} title={titleOf(gpu, text)}>
      {gpu.faults.length > 0 ? "!" : ""}
    </i>
  );
}

function classOf({ faults }: MapGpu, color: string): string {
  return faults.length > 0 ? `${color} sick` : color;
}

function titleOf({ gpu, instance, holder, faults }: MapGpu, text: string): string {
  const owner = holder === undefined ? "free" : `${holder.namespace}/${holder.name}`;
  return [`GPU ${gpu}${instance === "" ? "" : ` / ${instance}`}`, text, owner, ...faults].join(", ");
}

type CellProps = Look & { readonly gpu: MapGpu };

/** The color of a cell as a class of the page's style, and its value in words. */
interface Look {
  readonly color: string;
  readonly text: string;
}

interface Looks {
  readonly of: (gpu: MapGpu) => Look;
  readonly legend: readonly Look[];
}

const NOT_MEASURED: Look = { color: "none", text: "– not measured" };

/** Returns the looks of a value on a scale from 0 to 1, in ten colors. */
function scale(of: (gpu: MapGpu) => number | null | undefined, textOf: (ratio: number) => string): Looks {
  const colorOf = (ratio: number): string => `v${Math.max(0, Math.min(9, Math.floor(ratio * 10)))}`;
  return {
    of(gpu) {
      const ratio = of(gpu);
      return ratio === null || ratio === undefined ? NOT_MEASURED : { color: colorOf(ratio), text: textOf(ratio) };
    },
    legend: [0, 0.25, 0.5, 0.75, 1].map((ratio) => ({ color: colorOf(ratio), text: textOf(ratio) })),
  };
}

const percent = (ratio: number): string => `${Math.round(ratio * 100)} %`;

const LOOKS: Readonly<Record<MapValue, (gpus: readonly MapGpu[]) => Looks>> = {
  activity: () => scale(({ activityRatio }) => activityRatio, percent),
  memory: () => scale(memoryRatio, percent),
  temperature: () =>
    scale(
      ({ temperatureCelsius }) => temperatureCelsius && (temperatureCelsius - COLD) / (HOT - COLD),
      (ratio) => `${Math.round(COLD + ratio * (HOT - COLD))} °C`,
    ),
  state: () => ({
    of: (gpu) => ({ color: stateOf(gpu), text: stateOf(gpu) }),
    legend: GPU_STATES.filter((state) => state !== "silent").map((state) => ({ color: state, text: state })),
  }),
  owner(gpus) {
    const counts = new Map<string, number>();
    for (const { holder } of gpus) {
      const team = holder?.workload?.team;
      if (team !== undefined) counts.set(team, (counts.get(team) ?? 0) + 1);
    }
    const teams = [...counts].toSorted((a, b) => b[1] - a[1]).map(([team]) => team);
    const colorOf = (team: string): string =>
      teams.indexOf(team) < MOST_OWNERS ? `o${teams.indexOf(team)}` : "o-other";
    return {
      of: ({ holder }) => {
        if (holder === undefined) return { color: "free", text: "free" };
        const team = holder.workload?.team;
        return team === undefined ? NOT_MEASURED : { color: colorOf(team), text: team };
      },
      legend: [
        ...teams.slice(0, MOST_OWNERS).map((team) => ({ color: colorOf(team), text: team })),
        ...(teams.length > MOST_OWNERS ? [{ color: "o-other", text: "other teams" }] : []),
        { color: "free", text: "free" },
      ],
    };
  },
  cost(gpus) {
    const most = Math.max(...gpus.map(({ costPerHour }) => costPerHour ?? 0), Number.MIN_VALUE);
    return scale(
      ({ costPerHour }) => costPerHour && costPerHour / most,
      (ratio) => `${(ratio * most).toFixed(2)} an hour`,
    );
  },
};

function Legend({ entries, hasSilent }: { readonly entries: readonly Look[]; readonly hasSilent: boolean }): VNode {
  return (
    <ul class="key">
      {entries.map(({ color, text }) => (
        <li>
          <i class={color} />
          <bdi>{text}</bdi>
        </li>
      ))}
      <li>
        <i class="sick">!</i>
        has a fault
      </li>
      {hasSilent && (
        <li>
          <i class="silent">?</i>
          silent
        </li>
      )}
    </ul>
  );
}
