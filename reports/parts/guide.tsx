import type { ComponentChildren, VNode } from "preact";
import { counted } from "../../domain/counted.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import type { Beginning } from "../read/beginning.ts";

/** The days of the past that the guide suggests to import. */
const PAST_DAYS = 30;

/** The way from an empty ledger to the first charges: what is there, what is missing, and the next command. */
export function Guide({ beginning, isListPriced, now }: GuideProps): VNode {
  const { targets, devices, failing, failure, nodes, pods } = beginning;
  const from = new Date(now - PAST_DAYS * DAY_MILLIS).toISOString().slice(0, 10);
  return (
    <ol class="guide">
      <Step title="GPUs" isThere={devices > 0}>
        {targets + failing === 0 && (
          <>
            Nothing was scraped yet. <code>gpu-ledger inspect http://gpu-node-1:9400/metrics</code> reads an exporter.
            Write its address into <code>gpu-ledger.yaml</code> and start again:{" "}
            <code>{"collector: { jobs: [{ name: gpus, targets: [gpu-node-1] }] }"}</code>
          </>
        )}
        {targets > 0 && `${devices} GPUs and parts of GPUs of ${counted(targets, "target")}. `}
        {failing > 0 && (
          <>
            {counted(failing, "target")} did not answer: {failure}. <code>gpu-ledger check</code> tries every
            connection.
          </>
        )}
      </Step>
      <Step title="Holders" isThere={nodes > 0}>
        {nodes > 0 ? (
          `${counted(nodes, "node")} and ${counted(pods, "pod")} of watched clusters.`
        ) : (
          <>
            No cluster is watched, so a GPU has a holder only where its exporter names the pod. Write{" "}
            <code>{"kubernetes: { clusters: [{}] }"}</code> to watch the cluster of your kubeconfig.{" "}
            <code>gpu-ledger check</code> reviews the permissions.
          </>
        )}
      </Step>
      <Step title="Prices" isThere={isListPriced === false}>
        {isListPriced ? (
          <>
            Public list prices, until <code>pricesFile</code> is set.{" "}
            <code>gpu-ledger prices list &gt; prices.yaml</code> writes them as a beginning.
          </>
        ) : (
          "A price book is set."
        )}
      </Step>
      <Step title="Charges" isThere={false}>
        The running hour is charged within a minute after its first samples. Then this page shows its cost.
      </Step>
      <Step title="The past" isThere={false}>
        A Prometheus that scrapes the same exporters has it:{" "}
        <code>{`gpu-ledger import prometheus --url http://prometheus:9090 --from ${from} --dry-run`}</code>
      </Step>
    </ol>
  );
}

interface GuideProps {
  readonly beginning: Beginning;
  readonly isListPriced: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

function Step({ title, isThere, children }: StepProps): VNode {
  return (
    <li>
      <strong>
        {title}
        {isThere ? " ✓" : ""}
      </strong>
      <p>{children}</p>
    </li>
  );
}

interface StepProps {
  readonly title: string;
  readonly isThere: boolean;
  readonly children: ComponentChildren;
}
