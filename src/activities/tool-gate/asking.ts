/**
 * `state.ask` within one attempt at a call. An answered question returns at once. The first unanswered one opens a
 * wait, and the attempt gives its call up with it (store/wait/wait.ts, W2): the body is notified by its signal
 * and not awaited.
 */
import { randomUUID } from 'node:crypto';
import { retryWhileUnavailable } from '../../author/guard/retry-while-unavailable.ts';
import type { AskPort, Recall } from '../../author/policy/ask.ts';
import type { Answered, Question } from '../../core/author/question.ts';
import type { ToolDefinition } from '../../core/author/registry.ts';
import { clientCallId } from '../../core/project/client-call-id.ts';
import { parseClientToolName } from '../../core/project/client-tool.ts';
import type { WaitingCall } from '../../core/thread/step.ts';
import { defer } from '../../core/value/deferred.ts';
import { RuntimeError } from '../../core/value/error.ts';
import type { KeyedWait } from '../../store/tool/tool-record.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import type { ActivityDependencies } from '../base/dependencies.ts';
import type { ToolFrame } from './tool-frame.ts';
import { toWaitingCall } from './waiting-call.ts';

export interface Asking {
  /** Absent for a tool that does not ask. */
  readonly ask?: AskPort;
  readonly recall: Recall;
  /** Resolves once the call waits. */
  readonly asked: Promise<WaitingCall>;
  /** The wait of the call; undefined as long as it does not wait. */
  readonly waiting: WaitingCall | undefined;
}

type AskingCall = ToolFrame & { readonly tool: ToolDefinition; readonly own: AbortController };

export function openAsking({ store }: ActivityDependencies, frame: AskingCall): Asking {
  const { tool, own, execution, env } = frame;
  const { thread, step, index, attempt, call, executionId, waits = [], signal } = execution;
  const asked = defer<WaitingCall>();
  let waiting: WaitingCall | undefined;
  const open = ({ key, question, data, expiresInMs }: Question) =>
    retryWhileUnavailable(signal, () =>
      store.waits.open({
        id: waitIdOf(frame),
        threadId: thread.id,
        key: toKey(step, index, key),
        kind: 'question',
        name: tool.name,
        ...env.redactKnown({ summary: question, data: data ?? null }),
        blocks: true,
        executionId,
        toolCallId: call.callId,
        expiresInMs,
        call: { step, index, attempt: attempt ?? '' },
      }),
    );
  const ask: AskPort = async (question) => {
    const wait = findWait(waits, toKey(step, index, question.key));
    if (wait) return toAnswered(question, wait);
    if (waiting) throw toWaitingError();
    const opened = await open(question);
    if (opened.kind === 'over') return toAnswered(question, opened.wait);
    if (opened.kind === 'open' && !waiting) {
      waiting = toWaitingCall(opened.wait);
      asked.resolve(waiting);
      own.abort(toWaitingError());
    }
    throw toWaitingError();
  };
  return {
    ask: tool.asks ? ask : undefined,
    recall: (key) => findWait(waits, toKey(step, index, key))?.data,
    asked: asked.promise,
    get waiting() {
      return waiting;
    },
  };
}

/** A result of a client's tool is returned under the id of its wait, so the same call has the same one. */
function waitIdOf({ tool, execution: { thread, step, call } }: AskingCall): string {
  if (parseClientToolName(tool.name) === undefined) return randomUUID();
  return clientCallId({ threadId: thread.id, step, callId: call.callId });
}

function toKey(step: number, index: number, key: string): string {
  return `ask:${step}:${index}:${key}`;
}

function findWait(waits: readonly KeyedWait[], key: string): Wait | undefined {
  return waits.find((each) => each.key === key)?.wait;
}

/** Throws if the question was not answered: unless the body catches it, the model reads that error as the result. */
function toAnswered({ question }: Question, { answer, state, reason }: Wait): Answered {
  if (answer && 'value' in answer) return answer;
  const why = answer
    ? `refused${answer.reason === undefined ? '' : `: ${answer.reason}`}`
    : (reason ?? state);
  throw new RuntimeError(
    'ActionDenied',
    `The question ${JSON.stringify(question.slice(0, 200))} was not answered: ${why}.`,
  );
}

function toWaitingError(): Error {
  return new Error('The call waits for an answer; its body runs again from the start.');
}
