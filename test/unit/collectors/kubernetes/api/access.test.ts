import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createKubeAccess } from "../../../../../collectors/kubernetes/api/access.ts";
import { temporaryFolder } from "../../../../support/folder.ts";

/** A kubeconfig with one user. */
function kubeconfigIn(folder: string, user: object): string {
  const file = join(folder, "kubeconfig");
  const content = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "c",
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443" } }],
    users: [
      { name: "other", user: { tokenFile: "/nowhere" } },
      { name: "u", user },
    ],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  };
  writeFileSync(file, JSON.stringify(content));
  return file;
}

describe("the access to a cluster", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("uses the token of the user's token file before one in the kubeconfig, and the new token after a rotation", async () => {
    const folder = temporaryFolder("kubeconfig");
    writeFileSync(join(folder, "token"), "first\n");
    const access = createKubeAccess({ file: kubeconfigIn(folder, { token: "inline", tokenFile: "token" }) });
    expect((await access(false)).headers).toEqual({ authorization: "Bearer first" });
    writeFileSync(join(folder, "token"), "second-one\n");
    expect((await access(false)).headers).toEqual({ authorization: "Bearer second-one" });
    expect((await access(true)).headers).toEqual({ authorization: "Bearer second-one" });
  });

  it("finds the token file at the place where kubectl finds kubeconfigs", async () => {
    const folder = temporaryFolder("kubeconfig");
    writeFileSync(join(folder, "token"), "t");
    vi.stubEnv("KUBECONFIG", kubeconfigIn(folder, { tokenFile: join(folder, "token") }));
    expect((await createKubeAccess({})(false)).headers).toEqual({ authorization: "Bearer t" });
  });

  it("fails if the token file cannot be read", async () => {
    const folder = temporaryFolder("kubeconfig");
    const access = createKubeAccess({ file: kubeconfigIn(folder, { tokenFile: "no-such-file" }) });
    await expect(access(false)).rejects.toThrow("no-such-file");
  });

  it("is refused with a sentence if there is neither a kubeconfig nor a service account", async () => {
    vi.stubEnv("KUBECONFIG", undefined);
    vi.stubEnv("HOME", "/nowhere");
    await expect(createKubeAccess({})(false)).rejects.toThrow(
      "no kubeconfig was found (KUBECONFIG, ~/.kube/config), and no service account of a pod",
    );
  });
});
