/**
 * `runTool`: one tool call (runtime §5): begin, check, run (`execute-tool.ts`), store the result (`store-tool-result.ts`).
 * Argument errors, unknown tools and throws are results that the model reads; nothing here ends a thread.
 * A body that is cut off stores nothing: what becomes of its call is `recordToolOutcome`'s to say.
 */
import { randomUUID } from 'node:crypto';
import type { ToolCallInput, ToolCallOutcome } from '../../core/step.ts';
import { isHookAborted } from '../../state/hooks/chain.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { BegunTool } from '../../store/port/thread-store.ts';
import { runUnit } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import { fromRun } from '../base/run-ref.ts';
import { executeTool } from './execute-tool.ts';
import { giveUpCall } from './given-up-call.ts';
import { settleLost, toSettledOutcome } from './record-tool-outcome.ts';
import { storeToolResult } from './store-tool-result.ts';
import { openToolFrame } from './tool-frame.ts';

export async function runTool(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<ToolCallOutcome> {
  const { store, probe } = dependencies;
  const key = { ...fromRun(store, input), step: input.step, index: input.index };
  const attempt = randomUUID();
  const idempotent = (name: string) => dependencies.registry().tools.get(name)?.idempotent ?? true;
  await probe?.('tool_not_begun');
  const begun = await retryWhileUnavailable(abortSignal(), () =>
    store.beginTool({ ...key, attempt, idempotent }),
  );
  switch (begun.kind) {
    case 'terminated':
      return begun;
    case 'settled':
      return toSettledOutcome(begun);
    case 'begun_elsewhere': {
      const settled = await settleLost(store, key);
      return settled.kind === 'redispatch'
        ? { kind: 'unknown', name: begun.name }
        : toSettledOutcome(settled);
    }
    case 'run':
      return runUnit(dependencies, {
        ...unitOfCall(dependencies, input, begun.call.name),
        repeated: begun.repeated,
        here: () => runBody(dependencies, input, attempt, begun),
        givenUp: (error) => giveUpCall(store, { ...key, attempt }, begun.call.name, error),
      });
  }
}

function unitOfCall({ registry }: ActivityDependencies, input: ToolCallInput, name: string) {
  const { threadId, step, index } = input;
  const runsCode = registry().tools.get(name)?.runsCode === true;
  return {
    unit: {
      code: runsCode ? 'run_code' : 'tool',
      name,
      threadId,
      work: `${threadId}:${step}:${index}`,
    },
    activity: runsCode ? 'runCode' : 'runTool',
    input,
  } as const;
}

async function runBody(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
  attempt: string,
  { kind: _, ...begun }: Extract<BegunTool, { kind: 'run' }>,
): Promise<ToolCallOutcome> {
  // A tool is not handed over the way a model call is: it has its grace period, then the worker cancels it.
  const signal = abortSignal();
  const { step, index, executionId } = input;
  const frame = openToolFrame(dependencies, { ...begun, step, index, executionId, signal });
  try {
    const executed = await executeTool(dependencies, frame);
    if (executed.kind === 'aborted') throw abortError();
    const key = { ...fromRun(dependencies.store, input), step, index, attempt };
    return await storeToolResult(dependencies, frame, key, executed.result, executed.more);
  } catch (error) {
    if (isHookAborted(error)) throw abortError();
    throw error;
  } finally {
    frame.close();
  }
}
