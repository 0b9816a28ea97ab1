/**
 * Terminates a run, and reports whether it settled in the same turn of the event loop, without waiting for anything.
 */
import type { CodeExecution, CodeExecutionResult } from '../../src/core/author/code-execution.ts';
import { workSince } from '../support/own-work.ts';

/** `again`: the reason given in a second call. */
export async function terminateNow(
  run: CodeExecution,
  reason: string,
  again?: string,
): Promise<{ result: CodeExecutionResult | 'not in this turn'; workMs: number; wallMs: number }> {
  const told = performance.now();
  const start = process.threadCpuUsage();
  const nextTurn = new Promise<'not in this turn'>((resolve) => setImmediate(resolve, 'not in this turn'));
  run.terminate(reason);
  if (again !== undefined) run.terminate(again);
  const result = await Promise.race([run, nextTurn]);
  return { result, workMs: workSince(start), wallMs: performance.now() - told };
}
