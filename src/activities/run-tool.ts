/**
 * `runTool`: one tool call (runtime §5): begin, check, run, store the result.
 * Argument errors, unknown tools and throws are results that the model reads; nothing here ends a thread.
 * A body that is cut off stores nothing: what becomes of its call is `recordToolOutcome`'s to say.
 */
import { randomUUID } from 'node:crypto';
import type { ToolCallInput, ToolCallOutcome } from '../core/step.ts';
import type { BegunTool } from '../store/port.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { executeTool } from './execute-tool.ts';
import { abortError, abortSignal } from './guard.ts';
import { outlast } from './outlast.ts';
import { toSettledOutcome } from './record-tool-outcome.ts';
import { fromRun } from './run-ref.ts';

export async function runTool(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<ToolCallOutcome> {
  const { store, probe } = dependencies;
  const key = { ...fromRun(store, input), step: input.step, index: input.index };
  const attempt = randomUUID();
  const idempotent = (name: string) => dependencies.registry().tools.get(name)?.idempotent ?? true;
  await probe?.('tool_not_begun');
  const begun = await outlast(() => store.beginTool({ ...key, attempt, idempotent }));
  switch (begun.kind) {
    case 'terminated':
      return begun;
    case 'settled':
      return toSettledOutcome(begun);
    case 'begun_elsewhere': {
      const settled = await store.settleLostTool(key);
      return settled.kind === 'redispatch'
        ? { kind: 'unknown', name: begun.name }
        : toSettledOutcome(settled);
    }
    case 'run':
      return runBody(dependencies, input, attempt, begun);
  }
}

async function runBody(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  attempt: string,
  { call, thread }: Extract<BegunTool, { kind: 'run' }>,
): Promise<ToolCallOutcome> {
  const { store, probe } = dependencies;
  // A tool is not handed over the way a model call is: it has its grace period, then the worker cancels it.
  const signal = abortSignal();
  const place = { step: input.step, index: input.index, executionId: input.executionId };
  const executed = await executeTool(dependencies, { call, thread, place, signal });
  if (executed.kind === 'aborted') throw abortError();
  const { result, queuedTools } = executed;
  const key = { ...fromRun(store, input), step: input.step, index: input.index };
  const committed = await outlast(() => store.commitTool({ ...key, attempt, result, queuedTools }));
  await probe?.('tool_committed');
  switch (committed.kind) {
    case 'terminated':
      return committed;
    case 'late':
      return { kind: 'unknown', name: call.name };
    case 'stored':
      return {
        kind: 'done',
        name: call.name.slice(0, 64),
        succeeded: executed.result.status === 'success',
        queued: committed.queued + executed.queuedItems,
      };
  }
}
