import { affectedCluster } from "../affected.ts";
import { createCheck } from "../check.ts";
import type { PracticeQueue } from "../facts.ts";
import { unusedOf, unusedText } from "../unused-grant.ts";

/** Queues with a quota of which most was never admitted. */
export const queueUnused = createCheck(
  {
    name: "queue-quota-unused",
    severity: "low",
    title: "Queues whose quota is never used",
    what: "A queue of Kueue, Volcano or KAI has a quota of a GPU resource, and in all of the days at most half of the quota was admitted at once.",
    why: "The quota of a queue is a promise to its teams. Other queues get it only as a loan, and lose their work when the loan ends.",
    fix: ({ kind, name, value }) => `kubectl edit ${kind} ${name} # ${value}`,
  },
  ({ queues }) =>
    queues.flatMap((queue) => {
      const unused = unusedOf(queue.quota, queue.most);
      if (unused.length === 0) return [];
      const value = `lower the quota: ${unused.map(({ resource, used }) => `${resource} to ${used}`).join(", ")}`;
      return affectedCluster(queue.cluster, objectOf(queue), { detail: unusedText(unused), value });
    }),
);

/** Queues that wait for their own quota while others use it. */
export const starvingQueue = createCheck(
  {
    name: "starving-queue",
    severity: "high",
    title: "Queues that wait while others borrow",
    what: "Work waits in a queue that has admitted less than its quota of a GPU resource, and another queue of the same cohort or parent borrows the resource.",
    why: "The quota of the queue is a promise. Without reclaiming, work of other teams holds the GPUs for as long as it runs.",
    fix: ({ value }) => value,
  },
  ({ queues }) =>
    queues.flatMap((queue) => {
      const short = queue.pending === 0 ? [] : shortOf(queue, queues);
      if (short.length === 0) return [];
      const detail = short
        .map(({ resource, borrowers }) => {
          const loans = borrowers.map(({ name, borrowed }) => `${name} borrows ${borrowed[resource]}`).join(", ");
          return `${queue.admitted[resource] ?? 0} of ${queue.quota[resource]} ${resource} admitted, ${loans}`;
        })
        .join("; ");
      const value = reclaimingFix(queue, short[0]!.borrowers[0]!);
      return affectedCluster(queue.cluster, objectOf(queue), { detail, value });
    }),
);

function objectOf({ resource, name }: PracticeQueue): { readonly kind: string; readonly name: string } {
  return { kind: resource, name };
}

/** Returns the resources of which a queue has less than its quota, with the other queues of its cohort that borrow them. */
function shortOf(queue: PracticeQueue, queues: readonly PracticeQueue[]) {
  const others = queues.filter(
    (other) =>
      other !== queue &&
      other.cluster === queue.cluster &&
      other.resource === queue.resource &&
      other.parent === queue.parent,
  );
  return Object.entries(queue.quota).flatMap(([resource, quota]) => {
    const borrowers = others.filter(({ borrowed }) => (borrowed[resource] ?? 0) > 0);
    return (queue.admitted[resource] ?? 0) < quota && borrowers.length > 0 ? [{ resource, borrowers }] : [];
  });
}

/** Kueue reclaims by the queue that waits, Volcano from the queue that borrows. KAI reclaims by itself, if a priority does not forbid it. */
function reclaimingFix({ scheduler, resource, name }: PracticeQueue, borrower: PracticeQueue): string {
  if (scheduler === "kueue")
    return `kubectl patch ${resource} ${name} --type merge --patch '{"spec":{"preemption":{"reclaimWithinCohort":"Any"}}}'`;
  if (scheduler === "volcano")
    return `kubectl patch ${resource} ${borrower.name} --type merge --patch '{"spec":{"reclaimable":true}}'`;
  return `kubectl get ${resource} ${name} --output yaml # KAI reclaims unless the borrower's work is not preemptible`;
}
