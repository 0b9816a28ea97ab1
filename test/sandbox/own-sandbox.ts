/** A sandbox of its own size for one test, closed after it; importing this file registers that. */
import { afterEach } from '@jest/globals';
import type { CodeExecutionResult } from '../../src/core/code-execution.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';

const opened: Sandbox[] = [];

afterEach(async () => {
  for (const sandbox of opened.splice(0)) await sandbox.close();
});

export function openSandbox(size: number) {
  const sandbox = createSandbox({ size });
  opened.push(sandbox);
  const scope = sandbox.scope();
  return { sandbox, scope, runCode: scope.runCode };
}

/** A function for the sandbox that answers once it is let go. */
export function gate() {
  const reached = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const wait = () => {
    reached.resolve();
    return left.promise;
  };
  return { wait, reached: reached.promise, open: left.resolve };
}

export const statusOf = ({ status, error }: CodeExecutionResult): string =>
  error ? `${status} ${error.name}` : status;
