import { afterEach, describe, expect, it, vi } from "vitest";
import { createKubeAccess } from "../../../../../collectors/kubernetes/api/access.ts";

describe("the access to a cluster", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("is refused in a sentence where there is neither a kubeconfig nor a service account", async () => {
    vi.stubEnv("KUBECONFIG", undefined);
    vi.stubEnv("HOME", "/nowhere");
    await expect(createKubeAccess({})(false)).rejects.toThrow(
      "no kubeconfig was found (KUBECONFIG, ~/.kube/config), and no service account of a pod",
    );
  });
});
