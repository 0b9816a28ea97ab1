/**
 * `runTool`: runs one tool call (runtime §5). It is begun at most once, unless its tool is idempotent, and passes the
 * tool gate (`tool-gate/tool-gate.ts`). Argument errors, unknown tools and throws are results that the model reads;
 * nothing here ends a thread.
 * A body that is cut off stores nothing: `recordToolOutcome` determines the outcome of its call, as it does if another
 * attempt has begun a call that may run only once.
 */
import { randomUUID } from 'node:crypto';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { ToolAttempt, ToolCallInput } from '../../core/thread/step.ts';
import type { BeginTool, BegunTool, ToolCallKey } from '../../store/tool/tool-record.ts';
import { runUnit } from '../author/unit.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import { abortError, abortSignal, BegunElsewhere } from '../base/guard.ts';
import { beginningAttempt, fromRun } from '../base/run-ref.ts';
import { signalAncestors } from '../signals/wake-relatives.ts';
import type { ToolResultKey } from '../tool-gate/call-info.ts';
import { giveUpCall } from '../tool-gate/commit-result.ts';
import { beginsInGate, toPending } from '../tool-gate/judge-call.ts';
import { withToolFrame } from '../tool-gate/tool-frame.ts';
import { answerCall, storeAnswered } from '../tool-gate/tool-gate.ts';
import { toWaitingCall } from '../tool-gate/waiting-call.ts';
import { settleLost, toAttemptOutcome, toSettledOutcome } from './record-tool-outcome.ts';

export async function runTool(
  dependencies: ActivityDependencies,
  input: ToolCallInput,
): Promise<ToolAttempt> {
  const { store, firstCall } = dependencies;
  const { step, index } = input;
  const command = firstCall?.command ?? toBeginTool(dependencies, { ...fromRun(store, input), step, index });
  const { threadId, runId, attempt } = command;
  const key = { threadId, runId, step, index, attempt };
  const begun =
    firstCall?.begun ?? (await retryWhileUnavailable(abortSignal(), () => store.toolCalls.begin(command)));
  // The wait of the call is over: ancestors that show it are updated.
  if ('waits' in begun || 'waited' in begun) await signalAncestors(store, input.threadId);
  if (begun.kind !== 'run') return settleElsewhere(begun);
  return runUnit(dependencies, {
    ...toToolUnit(dependencies, input, begun.call.name),
    repeated: begun.repeated,
    here: () => runHere(dependencies, input, key, begun, command),
    givenUp: (error) => giveUpCall(store, key, begun.call.name, error),
  });
}

/** Begins a call of a tool as another attempt, of this activity. */
export function toBeginTool(dependencies: ActivityDependencies, key: ToolCallKey): BeginTool {
  const { registry } = dependencies;
  return {
    ...key,
    activity: beginningAttempt(),
    attempt: randomUUID(),
    idempotent: (tool) => registry().tools.get(tool)?.idempotent ?? true,
    resumes: (tool) => registry().tools.get(tool)?.a2a !== undefined,
    judges: beginsInGate(dependencies),
    history: true,
  };
}

/** The outcome of a call that this attempt must not run. */
function settleElsewhere(begun: Exclude<BegunTool, { kind: 'run' }>): ToolAttempt {
  if (begun.kind !== 'begun_elsewhere') return toAttemptOutcome(begun);
  throw new BegunElsewhere(`Another attempt has begun this call of ${begun.name}, which may run only once.`);
}

/** The outcome of a call that this attempt has begun, and whose effect is unknown. */
async function settleOwn(
  dependencies: ActivityDependencies,
  key: ToolCallKey,
  name: string,
): Promise<ToolAttempt> {
  const settled = await settleLost(dependencies, key);
  if (settled.kind === 'waits') return toWaitingCall(settled.wait);
  return settled.kind === 'redispatch' ? { kind: 'unknown', name } : toSettledOutcome(settled);
}

function toToolUnit({ registry }: ActivityDependencies, input: ToolCallInput, name: string) {
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
  found: Extract<BegunTool, { kind: 'run' }>,
  command: BeginTool,
): Promise<ToolAttempt> {
  const { kind: _, repeated: __, unbegun: ___, ...begun } = found;
  const pending = toPending(dependencies.store, command, found);
  const attempt = { ...pending, attempt: key.attempt };
  return withToolFrame(dependencies, { ...begun, ...attempt, step, index, executionId }, async (frame) => {
    const answer = await answerCall(dependencies, frame);
    switch (answer.kind) {
      case 'aborted':
        throw abortError();
      case 'waits':
      case 'later':
        return answer;
      case 'lost':
        return settleOwn(dependencies, key, begun.call.name);
      case 'not_begun':
        return settleElsewhere(answer.begun);
      case 'answered':
        return storeAnswered(dependencies, frame, { key, answer });
    }
  });
}
