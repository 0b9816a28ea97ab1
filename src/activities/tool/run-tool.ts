/**
 * `runTool`: one tool call (runtime §5). It is begun, at most once unless its tool is idempotent, and passes the tool gate (`tool-gate/tool-gate.ts`).
 * Argument errors, unknown tools and throws are results that the model reads; nothing here ends a thread.
 * A body that is cut off stores nothing: what becomes of its call is `recordToolOutcome`'s to say.
 */
import { randomUUID } from 'node:crypto';
import type { AttemptOutcome, ToolCallInput } from '../../core/thread/step.ts';
import { retryWhileUnavailable } from '../../state/retry-while-unavailable.ts';
import type { BegunTool } from '../../store/port/thread-store.ts';
import { runUnit } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal } from '../base/guard.ts';
import { fromRun } from '../base/run-ref.ts';
import type { ToolResultKey } from '../tool-gate/call-info.ts';
import { giveUpCall } from '../tool-gate/given-up-call.ts';
import { withToolFrame } from '../tool-gate/tool-frame.ts';
import { answerCall, storeAnswered } from '../tool-gate/tool-gate.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';
import { settleLost, toDenied, toSettledOutcome } from './record-tool-outcome.ts';

export async function runTool(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<AttemptOutcome> {
  const { store, probe } = dependencies;
  const key = { ...fromRun(store, input), step: input.step, index: input.index };
  const attempt = randomUUID();
  const idempotent = (name: string) => dependencies.registry().tools.get(name)?.idempotent ?? true;
  await probe?.('tool_not_begun');
  const begun = await retryWhileUnavailable(abortSignal(), () =>
    store.toolCalls.begin({ ...key, attempt, idempotent, history: true }),
  );
  switch (begun.kind) {
    case 'terminated':
      return begun;
    case 'exceeded':
      return toDenied(begun);
    case 'settled':
      return toSettledOutcome(begun);
    case 'waits':
      return toWaitingCall(begun.wait);
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
        here: () => runHere(dependencies, input, { ...key, attempt }, begun),
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

async function runHere(
  dependencies: ActivityDependencies,
  { step, index, executionId }: ToolCallInput,
  key: ToolResultKey,
  { kind: _, repeated: __, ...begun }: Extract<BegunTool, { kind: 'run' }>,
): Promise<AttemptOutcome> {
  return withToolFrame(
    dependencies,
    { ...begun, step, index, executionId, attempt: key.attempt },
    async (frame) => {
      const answer = await answerCall(dependencies, frame);
      if (answer === 'aborted') throw abortError();
      if ('kind' in answer) return answer;
      return storeAnswered(dependencies, frame, { key, answer });
    },
  );
}
