import type { OnSeries, Span } from "../read/samples.ts";
import type { Series } from "../target-series.ts";
import { createTargetWindow, type TargetWindow } from "./target-window.ts";

/** The labels by which replicas of one Prometheus differ. */
const REPLICA_LABELS: readonly string[] = ["prometheus_replica", "__replica__", "replica", "cluster_replica"];

/** A target in a window of time: the window of each replica that scraped the target. */
export interface WindowOfTarget {
  readonly key: string;
  readonly replicas: readonly ReplicaWindow[];
  /** The number of samples. */
  readonly values: number;
}

/** The samples that one Prometheus has of a target. */
export interface ReplicaWindow {
  readonly window: TargetWindow;
  /** The series `up` of the target; undefined if the source has none. */
  readonly up: Series | undefined;
}

/** A receiver of an answer that sorts its series by target. */
export interface Windows {
  readonly onSeries: OnSeries;
  targets(): readonly WindowOfTarget[];
}

/** Creates an empty receiver of a span. `expected` is the expected number of moments of a target. */
export function createWindows(span: Span, expected: number): Windows {
  const targets = new Map<string, Map<string, { window: TargetWindow; up: Series | undefined }>>();
  return {
    onSeries(series) {
      const { target, replica } = placeOf(series);
      const replicas = targets.get(target) ?? new Map<string, { window: TargetWindow; up: Series | undefined }>();
      targets.set(target, replicas);
      const found = replicas.get(replica) ?? { window: createTargetWindow(span, expected), up: undefined };
      replicas.set(replica, found);
      if (series.name === "up") found.up = series;
      return found.window.column(series);
    },
    targets: () =>
      [...targets].map(([key, ofTarget]) => {
        const replicas = [...ofTarget.values()];
        return { key, replicas, values: replicas.reduce((sum, { window }) => sum + window.samples, 0) };
      }),
  };
}

/** Places of series that were asked for before. Labels of a series never change. */
const places = new WeakMap<Series, { readonly target: string; readonly replica: string }>();

/** Returns the target of a series, and the replica that scraped the target. A federation can have dropped the target's labels. */
function placeOf(series: Series): { readonly target: string; readonly replica: string } {
  const known = places.get(series);
  if (known !== undefined) return known;
  const { labels } = series;
  const instance =
    labels.get("instance") ?? labels.get("Hostname") ?? labels.get("hostname") ?? labels.get("node") ?? "";
  const place = {
    target: JSON.stringify([labels.get("job") ?? "", instance]),
    replica: JSON.stringify(REPLICA_LABELS.map((label) => labels.get(label) ?? "")),
  };
  places.set(series, place);
  return place;
}
