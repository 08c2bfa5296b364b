/** The type of a workload, which decides its use of a GPU. */
export type WorkloadType = "training" | "inference" | "notebook";

/** A team: its namespaces, its workloads, and its location. */
export interface Team {
  readonly name: string;
  readonly costCenter: string;
  /** Hours ahead of UTC, which decide its working day. */
  readonly utcOffsetHours: number;
  readonly namespaces: Readonly<Record<WorkloadType, string>>;
  readonly trainings: readonly string[];
  readonly services: readonly string[];
  readonly people: readonly string[];
}

const team = (
  name: string,
  costCenter: string,
  utcOffsetHours: number,
  trainings: readonly string[],
  services: readonly string[],
  people: readonly string[],
): Team => ({
  name,
  costCenter,
  utcOffsetHours,
  namespaces: { training: `${name}-train`, inference: `${name}-serve`, notebook: `${name}-lab` },
  trainings,
  services,
  people,
});

/** The teams of the demo fleet. */
export const TEAMS: readonly Team[] = [
  team("vision", "CC-1101", 1, ["detr-finetune", "sam-distill", "video-mae"], ["detector", "ocr"], ["ada", "ben"]),
  team(
    "nlp",
    "CC-1102",
    0,
    ["llm-pretrain", "llm-sft", "dpo-sweep", "reranker"],
    ["chat-70b", "embeddings"],
    ["chloe", "dev", "emil"],
  ),
  team("speech", "CC-1103", -5, ["whisper-tune", "tts-flow"], ["transcribe", "voice"], ["farah", "gus"]),
  team("robotics", "CC-2040", 9, ["policy-rl", "world-model"], ["planner"], ["hana", "ivo"]),
  team("platform-ml", "CC-3001", 1, ["nccl-burn-in", "eval-suite"], ["gateway-router"], ["jo"]),
];

/** A namespace of the fleet's cluster. */
export interface FleetNamespace {
  readonly name: string;
  readonly team: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Every namespace of every team. */
export const NAMESPACES: readonly FleetNamespace[] = TEAMS.flatMap(({ name, costCenter, namespaces }) =>
  Object.values(namespaces).map((namespace) => ({
    name: namespace,
    team: name,
    labels: { team: name, "cost-centre": costCenter, "kubernetes.io/metadata.name": namespace },
  })),
);
