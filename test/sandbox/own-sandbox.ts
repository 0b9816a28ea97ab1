/**
 * Sandboxes of a chosen size: for one test, closed after it (importing this file registers that), or for all tests of a
 * file, whose runs share children.
 */
import { afterAll, afterEach } from '@jest/globals';
import type { CodeExecutionResult } from '../../src/core/author/code-execution.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';

const opened: Sandbox[] = [];

afterEach(async () => {
  for (const sandbox of opened.splice(0)) await sandbox.close();
});

/** For a test about the children themselves, or one that leaves runs behind. */
export function openSandbox(size: number, options: { readonly spare?: boolean } = {}) {
  const own = open(size, options);
  opened.push(own.sandbox);
  return own;
}

/** For tests about runs only: closed after the last test of the file, or of the enclosing `describe`. */
export function shareSandbox(size: number) {
  const shared = open(size);
  afterAll(() => shared.sandbox.close());
  return shared;
}

function open(size: number, options: { readonly spare?: boolean } = {}) {
  const sandbox = createSandbox({ size, ...options });
  const scope = sandbox.scope();
  return { sandbox, scope, runCode: scope.runCode };
}

/** A function for the sandbox that returns once `open` is called. */
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
