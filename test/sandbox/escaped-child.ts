/** Sandboxes with compromised children: `escaped-main.ts` runs the source as plain JavaScript in the child. */
import { fileURLToPath } from 'node:url';
import type { CodeExecutionResult } from '../../src/core/author/code-execution.ts';
import { createSandbox, type Sandbox, type WallSetting } from '../../src/sandbox/index.ts';

const MAIN = fileURLToPath(new URL('./escaped-main.ts', import.meta.url));

/** `bare`: without Node's permission model, as if that had been bypassed already. */
export const openEscaped = (wall: WallSetting = 'auto', bare = false): Sandbox =>
  createSandbox({ size: 2, wall, main: MAIN, bare });

/** Runs the source in its own scope: in a child that no other run has used, unless a tenant is named. */
export async function runEscaped(
  sandbox: Sandbox,
  source: string,
  tenant?: string,
): Promise<CodeExecutionResult> {
  const scope = sandbox.scope({ tenant });
  try {
    return await scope.runCode(source, {
      globals: { host: (value: unknown) => value, waits: () => new Promise(() => undefined) },
    });
  } finally {
    scope.close();
  }
}
