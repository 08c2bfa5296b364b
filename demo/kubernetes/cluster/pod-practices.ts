/** Trainings whose pods name no checkpoints. */
const WITHOUT_CHECKPOINTS = new Set(["world-model", "tts-flow"]);
/** Trainings whose pods tolerate every taint. */
const TOLERATES_ALL = new Set(["nccl-burn-in"]);
/** Programs whose image has the tag `latest`. */
const LATEST = new Set(["eval-suite", "planner"]);

/** Returns the fields of a container of a program that follow, or do not follow, a practice. */
export function containerOf(app: string, image: string, isTraining: boolean): object {
  const dir = { name: "CHECKPOINT_DIR", value: `/checkpoints/${app}` };
  return {
    image: LATEST.has(app) ? image.replace(/:[^:]*$/, ":latest") : image,
    env: [
      { name: "NVIDIA_DRIVER_CAPABILITIES", value: "compute,utility" },
      ...(isTraining && !WITHOUT_CHECKPOINTS.has(app) ? [dir] : []),
    ],
  };
}

/** Returns the tolerations of a program's pods on nodes of a vendor. */
export function tolerationsOf(app: string, vendor: string): readonly object[] {
  if (TOLERATES_ALL.has(app)) return [{ operator: "Exists" }];
  return [{ key: `${vendor}.com/gpu`, operator: "Exists", effect: "NoSchedule" }];
}
