import { afterAll, expect, it } from "vitest";
import { createCommandFolder } from "../support/command.ts";

const HOSTILE = "a\u001b]0;owned\u0007\u009b2J\u202egpj\rb";
/** Characters that control a terminal or the direction of text. Line breaks are the program's own. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const folder = createCommandFolder();
afterAll(() => folder.dispose());

const labels = { "nvidia.com/gpu.product": HOSTILE, team: HOSTILE };
const amounts = { "nvidia.com/gpu": "2", cpu: "8" };
const objects = folder.write("objects.json", {
  apiVersion: "v1",
  kind: "List",
  items: [
    {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "gpu-a", uid: "n-1", labels, annotations: { "hami.io/node-nvidia-register": HOSTILE } },
      status: { capacity: amounts, allocatable: amounts },
    },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: HOSTILE,
        namespace: HOSTILE,
        uid: "p-1",
        labels,
        annotations: { "gpu-fraction": HOSTILE, [`example.com/gpu-share${HOSTILE}`]: HOSTILE },
      },
      spec: {
        nodeName: "gpu-a",
        containers: [{ name: "c", image: HOSTILE, resources: { limits: { [`example.com/gpu${HOSTILE}`]: "1" } } }],
      },
      status: { phase: "Running", message: HOSTILE },
    },
  ],
});
const page = folder.write("page.txt", `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",pod="${HOSTILE}",namespace="ml"} 5\n`);
const config = folder.write("config.yaml", { [HOSTILE]: HOSTILE });

it.each([
  ["snapshot", "--objects", objects, "--pages", page],
  ["inspect", objects],
  ["inspect", page],
  ["check", "--config", config],
  ["report", HOSTILE],
  ["prices", "check", HOSTILE],
])("%s shows no control characters of strangers", async (...args) => {
  const { stdout, stderr } = await folder.call(args);
  expect(`${stdout}${stderr}`).toMatch(/owned|gpj/);
  expect(stdout).not.toMatch(CONTROLS);
  expect(stderr).not.toMatch(CONTROLS);
});
