/**
 * A message to a waiting task answers its wait: by a data part, which may name the wait, or by text if there is only
 * one wait. A message that is no answer changes nothing: the task keeps waiting.
 */
import type { WaitAnswer } from '../../../core/wait/answer.ts';
import { type TaskStatus, waitsOf } from '../../../projections/a2a/a2a-shape.ts';
import { answeredBy } from '../../../projections/a2a/task-status.ts';
import { type Caller, requireScope } from '../caller.ts';
import { toItemId } from '../conversation/conversation.ts';
import type { ApiHost } from '../host.ts';
import { refuseRequest } from '../problem.ts';
import type { SentMessage } from './a2a-request.ts';

const YES = /^(yes|y|ok|okay|approve|approved|allow|confirm|confirmed|true)[.!]?$/i;
const NO = /^(no|n|deny|denied|reject|rejected|refuse|refused|false)[.!]?$/i;

/** Returns the id of the wait that was answered; undefined if the message is no answer. */
export async function answerTask(
  { client }: ApiHost,
  caller: Caller,
  { status, message }: { readonly status: TaskStatus; readonly message: SentMessage },
): Promise<string | undefined> {
  requireScope(caller, 'answer');
  const open = waitsOf(status);
  const answer = readAnswer(message, open);
  if (!answer) return undefined;
  const by = answeredBy(caller.name, toItemId(message.messageId, 'm'));
  await client.answerWait(answer.waitId, { ...answer.answer, by });
  return answer.waitId;
}

interface TaskAnswer {
  readonly waitId: string;
  readonly answer: WaitAnswer;
}

type OpenWaits = ReturnType<typeof waitsOf>;

/** Throws `InvalidRequest` for a wait that is not open. */
function readAnswer({ parts }: SentMessage, open: OpenWaits): TaskAnswer | undefined {
  const data = parts.map((part) => part.data).find(isAnswer);
  if (data) {
    const { waitId: named, ...answer } = data;
    const wait = named === undefined ? onlyWait(open) : open.find(({ waitId }) => waitId === named);
    if (!wait && named !== undefined)
      refuseRequest(
        `The task is not waiting for "${named}", but for ${open.map(({ waitId }) => waitId).join(', ')}.`,
      );
    return wait && { waitId: wait.waitId, answer: answer as WaitAnswer };
  }
  const wait = onlyWait(open);
  const text = parts
    .map((part) => part.text ?? '')
    .join('\n')
    .trim();
  if (!wait || text === '') return undefined;
  const answer = toAnswer(wait.kind, text);
  return answer && { waitId: wait.waitId, answer };
}

interface AnswerData {
  readonly waitId?: string;
  readonly approved?: boolean;
  readonly value?: unknown;
}

function isAnswer(data: unknown): data is AnswerData {
  if (typeof data !== 'object' || data === null) return false;
  const { waitId, approved, value } = data as Readonly<Record<string, unknown>>;
  const isNamed = waitId === undefined || typeof waitId === 'string';
  return isNamed && (typeof approved === 'boolean' || value !== undefined);
}

function onlyWait(open: OpenWaits) {
  return open.length === 1 ? open[0] : undefined;
}

function toAnswer(kind: string, text: string): WaitAnswer | undefined {
  if (kind !== 'approval' && kind !== 'paused') return { value: text };
  if (YES.test(text)) return { approved: true };
  return NO.test(text) ? { approved: false } : undefined;
}
