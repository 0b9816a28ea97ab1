/**
 * One sandbox for all tests of a file: it starts with the first run, and importing this file registers its end. The
 * engine runs in the sandbox's children; the Jest process never loads it.
 */
import { afterAll } from '@jest/globals';
import type {
  CodeExecutionOptions,
  CodeExecutionResult,
  RunCode,
} from '../../src/core/author/code-execution.ts';
import { createSandbox } from '../../src/sandbox/index.ts';

export const sandbox = createSandbox();
const scope = sandbox.scope({ tenant: 'tests' });

afterAll(() => sandbox.close());

/** Runs code in the shared scope: functions in its results can be called until the file ends. */
export const runCode: RunCode = scope.runCode;

/** Runs code in a separate scope, which is closed with the result. */
export async function runOnce(source: string, options?: CodeExecutionOptions): Promise<CodeExecutionResult> {
  const own = sandbox.scope({ tenant: 'tests' });
  try {
    return await own.runCode(source, options);
  } finally {
    own.close();
  }
}

/** Returns the result of a run that must succeed. */
export async function resultOf(source: string, options?: CodeExecutionOptions): Promise<unknown> {
  const { status, result, error } = await runOnce(source, options);
  if (status !== 'success') throw new Error(`${status}: ${error?.stack ?? error?.message}`);
  return result;
}

/** Returns the status and the error of a run that must fail. */
export async function failureOf(source: string, options?: CodeExecutionOptions) {
  const { status, error, result } = await runOnce(source, options);
  if (!error) throw new Error(`The run succeeded with ${String(result)}.`);
  return { status, ...error };
}
