import type { VNode } from "preact";
import { UNUSED_BELOW } from "../../domain/fleet/use.ts";
import { address } from "../parts/address.ts";
import { LiveTable } from "../parts/live-table.tsx";
import { pagingOf } from "../parts/paging.tsx";
import { readLiveFleet, type LiveFleet } from "../read/live-gpus.ts";
import { namespacesScope } from "../read/sample-scope.ts";
import { fleetSeenBy } from "../read/seen.ts";
import type { Report } from "../report/report.ts";
import type { Asking } from "../server/asking.ts";
import type { PageContext } from "./context.ts";

/** Reads the GPUs that a team holds now, in the namespaces that it had charges in. Fails with a `StoreError`. */
export async function readRunning(
  { ledger, now }: PageContext,
  { store, viewer }: Asking,
  team: string,
  byWorkload: Report,
): Promise<LiveFleet> {
  const namespaces = new Set(byWorkload.rows.map(({ dimensions }) => dimensions["namespace"]!));
  const scope = namespacesScope([...namespaces].filter((name) => name !== ""));
  const fleet = fleetSeenBy(viewer, await readLiveFleet(store, ledger.owners, now(), scope));
  return { ...fleet, gpus: fleet.gpus.filter(({ holder }) => holder?.workload?.team === team) };
}

/** The GPUs that a team holds now. */
export function Running({
  fleet,
  team,
  url,
}: {
  readonly fleet: LiveFleet;
  readonly team: string;
  readonly url: string;
}): VNode {
  const idle = fleet.gpus.filter(({ activityRatio }) => activityRatio !== undefined && activityRatio < UNUSED_BELOW);
  return (
    <>
      <h2>Running now</h2>
      {fleet.gpus.length === 0 ? (
        <p>The team holds no GPU.</p>
      ) : (
        <>
          <p>
            The team holds {fleet.gpus.length} GPUs or parts of GPUs;{" "}
            <a href={address("/fleet", { team, state: "idle" })}>{idle.length} of them idle</a>.
          </p>
          <LiveTable fleet={fleet} paging={pagingOf(url, "live")} />
        </>
      )}
    </>
  );
}
